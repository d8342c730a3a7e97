"""Who gets a text: keyword rules first, then similarity against a threshold, and "nobody" as a real answer."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Collection, Sequence
from pathlib import Path

import msgspec

from routing.batches import Batches
from routing.choice import Encoder, RouteChoice, RuleHit
from routing.keywords import KeywordHit, KeywordRules
from routing.not_sure import NotSure
from routing.route import Route
from routing.similarity import TEMPERATURE, Judgement, Method, Similarity
from routing.text import clean
from routing.vectors import Progress, unheard

DEFAULT_THRESHOLD = 0.7
NEVER_ASK = NotSure()
UNKNOWN_TYPE = "ticket.unknown"


class Router:
    """Chooses a route per text. Building it encodes what the cache does not know and fits the head: call it in a
    thread where an event loop runs. `close()` ends its thread.

    `known_words` are English words that are right as they are (see `Mender`); `progress` hears of the encoding.
    """

    def __init__(
        self,
        routes: Sequence[Route],
        encoder: Encoder,
        *,
        cache_folder: Path | None = None,
        method: Method = "head",
        score_threshold: float = DEFAULT_THRESHOLD,
        temperature: float = TEMPERATURE,
        not_sure: NotSure = NEVER_ASK,
        known_words: Collection[str] = (),
        top_k: int = 3,
        recent: int = 2048,
        limit_s: float = 20.0,
        progress: Progress = unheard,
    ) -> None:
        self._routes = {route.name: route for route in routes if route.enabled}
        enabled = tuple(self._routes.values())
        self._rules = KeywordRules(enabled)
        self._similarity = Similarity(
            enabled,
            encoder,
            cache_folder,
            top_k=top_k,
            method=method,
            temperature=temperature,
            known_words=known_words,
            progress=progress,
        )
        self._batches: Batches[str, Judgement] = Batches(self._similarity.judge, name="routing")
        self._score_threshold = score_threshold
        self._not_sure = not_sure
        self._nobody = frozenset(route.name for route in enabled if route.nobody)
        self._recent: OrderedDict[str, RouteChoice] = OrderedDict()
        self._recent_size = recent
        self._limit_s = limit_s
        self._nobody_type = next((route.type for route in enabled if route.nobody), UNKNOWN_TYPE)

    @property
    def routes(self) -> tuple[Route, ...]:
        """The routes that take part, in the file's order."""
        return tuple(self._routes.values())

    async def choose(self, text: str) -> RouteChoice:
        """Return who gets the text. Raises TimeoutError when the encoder takes longer than the limit."""
        key = clean(text)
        known = self._recent.get(key)
        if known is not None:
            self._recent.move_to_end(key)
            return known
        hit = self._rules.match(key)
        choice = self._by_rule(hit, None) if hit else self._by_similarity(await self._judge(key))
        self._recent[key] = choice
        while len(self._recent) > self._recent_size:
            self._recent.popitem(last=False)
        return choice

    async def explain(self, text: str) -> RouteChoice:
        """Return the same choice with scores, neighbours and all rules filled in even where a rule decided."""
        key = clean(text)
        hits = self._rules.hits(key)
        first = next((hit for hit in hits if not hit.silenced_by), None)
        judgement = await self._judge(key)
        choice = self._by_rule(first, judgement) if first else self._by_similarity(judgement)
        rules = (RuleHit(route=each.route, matched=each.matched, silenced_by=each.silenced_by) for each in hits)
        return msgspec.structs.replace(choice, rules=tuple(rules))

    def close(self) -> None:
        """End the encoding thread; texts that still wait are cancelled."""
        self._batches.close()

    async def _judge(self, text: str) -> Judgement:
        async with asyncio.timeout(self._limit_s):
            return await self._batches.submit(text)

    def _by_rule(self, hit: KeywordHit, judgement: Judgement | None) -> RouteChoice:
        route = self._routes[hit.route]
        return RouteChoice(
            route=None if route.nobody else route.name,
            type=route.type,
            score=1.0,
            reason="keyword",
            matched=hit.matched,
            neighbours=judgement.neighbours if judgement else (),
            scores=judgement.scores if judgement else {},
        )

    def _by_similarity(self, judgement: Judgement) -> RouteChoice:
        if not judgement.scores:
            return RouteChoice(route=None, type=self._nobody_type, score=0.0, reason="other")
        name, score = judgement.best()
        route = self._routes[name]
        threshold = self._score_threshold if route.score_threshold is None else route.score_threshold
        taken = not route.nobody and score >= threshold
        return RouteChoice(
            route=route.name if taken else None,
            type=route.type if taken else self._nobody_type,
            score=score,
            reason="similarity" if taken else "other" if route.nobody else "below threshold",
            threshold=0.0 if route.nobody else threshold,
            neighbours=judgement.neighbours,
            scores=judgement.scores,
            candidates=self._not_sure.candidates(judgement.scores, self._nobody),
        )
