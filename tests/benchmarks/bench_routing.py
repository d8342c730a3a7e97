"""Routing against yardsticks in the same run: rules alone, embeddings alone, naive Bayes and semantic-router.

    python tests/benchmarks/bench_routing.py ../shared/data/routing_dev.jsonl --profile light

Rows are JSON Lines with text, label, lang and, where known, tier and family. Naive Bayes is trained on the rows
themselves, the others on the shipped routes alone; so that near-duplicates do not help it, a family never lies on
both sides of one of its five splits. semantic-router gets the same encoder and utterances; it is left out, with a
line that says so, where it is not installed. A second table tells how latency grows from 4 routes with 400 utterances
to 100 with 10,000. Nothing here asserts a time: read the columns against each other.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import time
import zlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

from hermes_bot.llm.english_words import english_words
from hermes_bot.llm.joined_encoder import JoinedEncoder
from hermes_bot.llm.latin_encoder import LatinEncoder
from hermes_bot.llm.light_encoder import LightEncoder
from hermes_bot.llm.minilm_encoder import MiniLMEncoder
from routing.choice import Encoder, RouteChoice
from routing.evaluate import Chooser, Evaluation, LabelledText, evaluate
from routing.keywords import KeywordRules
from routing.route import Keywords, Route
from routing.router import Router
from routing.routes_file import load_routes

ROOT = Path(__file__).resolve().parents[2]
SPLITS = 5


class KeywordsOnly:
    """What no rule hits goes to nobody."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self._rules = KeywordRules(routes)
        self._nobodies = {route.name for route in routes if route.nobody}

    async def choose(self, text: str) -> RouteChoice:
        hit = self._rules.match(text)
        return _answer(hit.route if hit and hit.route not in self._nobodies else None)


class NaiveBayes:
    """Multinomial naive Bayes on character pieces; each row is judged by the split that has not seen its family."""

    def __init__(self, rows: Sequence[dict[str, Any]]) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.naive_bayes import MultinomialNB
        from sklearn.pipeline import make_pipeline

        self._answers: dict[str, str] = {}
        for split in range(SPLITS):
            seen = [row for row in rows if _split(row) != split]
            unseen = [row["text"] for row in rows if _split(row) == split]
            pieces = TfidfVectorizer(analyzer="char_wb", ngram_range=(1, 4), sublinear_tf=True)
            model = make_pipeline(pieces, MultinomialNB(alpha=0.05))
            model.fit([row["text"] for row in seen], [row["label"] for row in seen])
            self._answers.update(zip(unseen, model.predict(unseen), strict=True) if unseen else ())

    async def choose(self, text: str) -> RouteChoice:
        label = self._answers[text]
        return _answer(None if label == "other" else label)


class SemanticRouter:
    """semantic-router 1.1 with our encoder and utterances, calibrated on every fifth utterance while it lacks them."""

    def __init__(self, routes: Sequence[Route], encoder: Encoder) -> None:
        from semantic_router import IndexedRouter
        from semantic_router import Route as TheirRoute
        from semantic_router.encoders import DenseEncoder

        class Ours(DenseEncoder):  # type: ignore[misc]  # their package is not installed where types are checked
            name: str = "ours"

            def __call__(self, docs: list[Any]) -> list[list[float]]:
                return [row.tolist() for row in encoder.encode(docs)]

        examples = {route.name: [sentence for _, sentence in route.examples()] for route in routes}
        held = [(sentence, name) for name, sentences in examples.items() for sentence in sentences[::5]]
        rest = {name: [each for at, each in enumerate(sentences) if at % 5] for name, sentences in examples.items()}
        partial_router, self._router = (
            IndexedRouter(
                encoder=Ours(),
                routes=[TheirRoute(name=name, utterances=sentences) for name, sentences in each.items()],
                confidence_threshold=0.5,
            )
            for each in (rest, examples)
        )
        partial_router.fit([sentence for sentence, _ in held], [name for _, name in held])
        self._router.calibrator = partial_router.calibrator
        self._nobodies = {route.name for route in routes if route.nobody}

    async def choose(self, text: str) -> RouteChoice:
        choice = await self._router.acall(text[:2000])
        name = getattr(choice, "name", None)
        return _answer(None if name in self._nobodies else name)


def _split(row: dict[str, Any]) -> int:
    return zlib.crc32(str(row.get("family") or row["text"]).encode()) % SPLITS


def _answer(route: str | None) -> RouteChoice:
    return RouteChoice(route=route, type=f"ticket.{route or 'unknown'}", score=1.0, reason="yardstick")


def _encoder(profile: str) -> Encoder:
    light = LightEncoder()
    return light if profile == "light" else JoinedEncoder(light, LatinEncoder(MiniLMEncoder()))


def _line(name: str, figures: Evaluation, rate: float | None) -> list[str]:
    groups = {"en": figures.by_language.get("en", (0.0, 0)), "zh": figures.by_language.get("zh", (0.0, 0))}
    rest = [value for lang, value in figures.by_language.items() if lang not in groups]
    number = sum(rows for _, rows in rest)
    others = sum(share * rows for share, rows in rest) / number if number else 0.0
    shares = [figures.accuracy, groups["en"][0], groups["zh"][0], others, figures.other_recall]
    timed = [f"{figures.latency_p50_ms:.2f}", f"{figures.latency_p99_ms:.2f}", f"{rate:.0f}" if rate else "-"]
    return [name, *(f"{share:.3f}" for share in shares), f"{figures.wrong_agent_share:.3f}", *timed]


async def _rate(router: Router, texts: Sequence[str]) -> float:
    """Return texts a second when 64 wait at a time; the added mark keeps the recent ones from answering."""
    started = time.perf_counter()
    for first in range(0, len(texts), 64):
        await asyncio.gather(*(router.choose(f"{text} .") for text in texts[first : first + 64]))
    return len(texts) / (time.perf_counter() - started)


async def _measure(rows: Sequence[dict[str, Any]], profile: str) -> list[list[str]]:
    routes = load_routes(ROOT / "configs" / "routing.yaml")
    bare = [route.model_copy(update={"keywords": ()}) for route in routes]
    encoder = _encoder(profile)
    await asyncio.to_thread(encoder.encode, ["the weights are read now"])
    whole = await asyncio.to_thread(partial(Router, routes, encoder, known_words=english_words()))
    similar = await asyncio.to_thread(Router, bare, encoder)
    labelled = [LabelledText(text=row["text"], label=row["label"], lang=row["lang"]) for row in rows]
    candidates: list[tuple[str, Chooser]] = [
        (f"Hermes, {profile}", whole),
        ("embeddings alone", similar),
        ("rules alone", KeywordsOnly(routes)),
        ("naive Bayes on these rows", await asyncio.to_thread(NaiveBayes, rows)),
    ]
    if importlib.util.find_spec("semantic_router"):
        theirs = await asyncio.to_thread(SemanticRouter, routes, encoder)
        candidates.append(("semantic-router, same encoder", theirs))
    else:
        print("semantic-router is left out: it is not installed here (pip install semantic-router)")
    lines = []
    for name, candidate in candidates:
        figures = await evaluate(candidate, labelled)
        rate = await _rate(candidate, [row["text"] for row in rows]) if isinstance(candidate, Router) else None
        lines.append(_line(name, figures, rate))
    whole.close()
    similar.close()
    return lines


def generated(routes: int, utterances: int) -> list[Route]:
    """Return that many routes with that many utterances each, of words that no two routes share."""
    words = [f"{first}{second}" for first in ("mo", "ka", "ri", "su", "te", "pa", "lo", "vi", "ne", "gu") for second in
             ("ran", "tel", "mis", "dor", "bek", "sol", "vin", "gar", "pul", "hem")]  # fmt: skip
    return [
        Route(
            name=f"route{number}",
            type=f"bench.route{number}",
            agent="bench",
            keywords=(Keywords(any=(f"{words[number % 100]}{number}x",)),),
            utterances={
                "en": tuple(
                    f"please {words[number % 100]} the {words[(number + each) % 100]} number {each} for me"
                    for each in range(utterances)
                )
            },
        )
        for number in range(routes)
    ]


async def _growth(encoder: Encoder, texts: Sequence[str]) -> list[list[str]]:
    """Return lines with the latency of a rule and of similarity in a small table and a large one, taken in turns."""
    tables = [generated(4, 100), generated(100, 100)]
    routers = [await asyncio.to_thread(Router, table, encoder, recent=1) for table in tables]
    seconds: dict[tuple[int, bool], list[float]] = {(which, ruled): [] for which in (0, 1) for ruled in (True, False)}
    for text in texts:
        for which, router in enumerate(routers):
            for ruled, asked in ((True, f"{text} moran0x"), (False, text)):
                started = time.perf_counter()
                await router.choose(asked)
                seconds[which, ruled].append(time.perf_counter() - started)
    for router in routers:
        router.close()
    lines = []
    for ruled, name in ((True, "a rule hits"), (False, "similarity decides")):
        small, large = (median(seconds[which, ruled]) * 1000 for which in (0, 1))
        lines.append([name, f"{small:.3f}", f"{large:.3f}", f"{large / small:.2f}"])
    return lines


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("file", nargs="?", type=Path, default=ROOT / "tests" / "data" / "labelled.jsonl")
    parser.add_argument("--profile", choices=["light", "default"], default="light")
    parser.add_argument("--all", action="store_true", help="rows of every tier, not only of the tier core")
    given = parser.parse_args()
    lines = given.file.read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if given.all or row.get("tier", "core") == "core"]
    table = Table(title=f"{len(rows)} rows of {given.file.name}")
    heads = ["", "accuracy", "en", "zh", "rest", "other recall", "wrong agent", "p50 ms", "p99 ms", "texts/s by 64"]
    for head in heads:
        table.add_column(head, justify="left" if not head else "right")
    for line in asyncio.run(_measure(rows, given.profile)):
        table.add_row(*line)
    Console(width=140).print(table)
    growth = Table(title="p50 ms by size of the table", caption="ratio: the large one against the small one")
    for head in ["", "4 routes, 400 utterances", "100 routes, 10,000 utterances", "ratio"]:
        growth.add_column(head, justify="left" if not head else "right")
    for line in asyncio.run(_growth(_encoder(given.profile), [row["text"][:200] for row in rows[:200]])):
        growth.add_row(*line)
    Console(width=140).print(growth)


if __name__ == "__main__":
    main()
