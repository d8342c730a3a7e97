"""Finds what is probably a mistake in a route table that can be read: nothing here stops the bot."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from routing.keywords import KeywordRules
from routing.route import Keywords, Route
from routing.text import fold, for_encoder

FEWEST_EXAMPLES = 10
SAME_COSINE = 0.95
ROWS_AT_ONCE = 1024

Matrix = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing to look at. `kind` is a word for programs, `place` says where in the route, `other` names a rival."""

    kind: str  # unknown-agent | unreachable-rule | colliding-keyword | near-duplicate | too-few-examples
    route: str
    place: str
    message: str
    other: str = ""


def check_rules(routes: Sequence[Route], agents: Collection[str], capabilities: Collection[str] = ()) -> list[Finding]:
    """Return what is wrong with agents, rules and numbers of examples; needs no encoder."""
    enabled = [route for route in routes if route.enabled]
    rules = KeywordRules(enabled)
    found = [finding for route in enabled for finding in _about(route, agents, capabilities)]
    for route in enabled:
        for position, rule in enumerate(route.keywords):
            found += _shadowed(route, position, rule, rules)
    return found


def check_examples(examples: Sequence[tuple[str, str]], vectors: Matrix) -> list[Finding]:
    """Return examples of different routes that nearly say the same; `vectors` has a unit row for each example.

    `examples` are (route, sentence) as `examples_of` gives them.
    """
    names = np.array([route for route, _ in examples])
    found = []
    for start in range(0, len(examples), ROWS_AT_ONCE):
        block = slice(start, start + ROWS_AT_ONCE)
        close = (vectors[block] @ vectors.T >= SAME_COSINE) & (names[block, None] != names[None, :])
        for row, column in np.argwhere(close):
            first, second = start + int(row), int(column)
            if first < second:
                cosine = float(vectors[first] @ vectors[second])
                found.append(_twins(examples[first], examples[second], cosine))
    return found


def examples_of(routes: Sequence[Route]) -> list[tuple[str, str]]:
    """Return (route, sentence as the encoder reads it) of every example of the enabled routes."""
    return [
        (route.name, for_encoder(sentence)) for route in routes if route.enabled for _, sentence in route.examples()
    ]


def _about(route: Route, agents: Collection[str], capabilities: Collection[str]) -> Iterator[Finding]:
    kind, name, known = ("agent", route.agent, agents)
    if route.capability:
        kind, name, known = ("capability", route.capability, capabilities)
    if name not in known:
        message = f"there is no {kind} {name!r}; known are {', '.join(sorted(known))}"
        yield Finding(kind="unknown-agent", route=route.name, place=kind, message=message)
    count = sum(1 for _ in route.examples())
    if 0 < count < FEWEST_EXAMPLES:
        message = f"{count} examples; with fewer than {FEWEST_EXAMPLES} similarity has little to go by"
        yield Finding(kind="too-few-examples", route=route.name, place="utterances", message=message)


def _shadowed(route: Route, position: int, rule: Keywords, rules: KeywordRules) -> list[Finding]:
    """Return the words of a rule that another route takes first, as one finding where that leaves nothing."""
    words = [*rule.any, *rule.phrases] or [" ".join(rule.all)]
    taken: list[tuple[str, str]] = []
    for word in words:
        text = word if word in rule.phrases else " ".join((word, *rule.all))
        hit = rules.match(text)
        if hit is None or hit.route != route.name:
            taken.append((word, hit.route if hit else ""))
    place = f"keywords.{position}"
    if taken and len(taken) == len(words) and not rule.patterns:
        winners = sorted({winner for _, winner in taken if winner})
        why = f"{', '.join(winners)} takes whatever it hits on" if winners else "its own `none` silences every word"
        message = f"the rule {_named(words)} never decides: {why}"
        return [Finding(kind="unreachable-rule", route=route.name, place=place, message=message, other=_one(winners))]
    return [_collision(route, place, word, winner) for word, winner in taken if word.strip()]


def _collision(route: Route, place: str, word: str, winner: str) -> Finding:
    why = f"{winner} takes it first" if winner else "the rule's own `none` silences it"
    message = f"{word!r} never decides on its own: {why}"
    return Finding(kind="colliding-keyword", route=route.name, place=place, message=message, other=winner)


def _twins(first: tuple[str, str], second: tuple[str, str], cosine: float) -> Finding:
    same = "the same words" if fold(first[1]) == fold(second[1]) else f"cosine {cosine:.2f}"
    message = f"{first[1]!r} and {second[1]!r} of {second[0]} nearly say the same ({same})"
    return Finding(kind="near-duplicate", route=first[0], place="utterances", message=message, other=second[0])


def _named(words: Sequence[str]) -> str:
    shown = ", ".join(words[:4])
    return f"{shown} …" if len(words) > 4 else shown


def _one(winners: Sequence[str]) -> str:
    return winners[0] if len(winners) == 1 else ""
