"""Routing against yardsticks in the same run: rules alone, embeddings alone, and naive Bayes on the measured rows.

    python tests/benchmarks/bench_routing.py ../shared/data/routing_dev.jsonl --profile light

Rows are JSON Lines with text, label, lang and, where known, tier and family. Naive Bayes is trained on the rows
themselves, the others on the shipped routes alone; so that near-duplicates do not help it, a family never lies on
both sides of one of its five splits. Nothing here asserts a time: read the columns against each other.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from hermes_bot.llm.joined_encoder import JoinedEncoder
from hermes_bot.llm.light_encoder import LightEncoder
from hermes_bot.llm.minilm_encoder import MiniLMEncoder
from routing.choice import Encoder, RouteChoice
from routing.evaluate import Chooser, Evaluation, LabelledText, evaluate
from routing.keywords import KeywordRules
from routing.route import Route
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


def _split(row: dict[str, Any]) -> int:
    return zlib.crc32(str(row.get("family") or row["text"]).encode()) % SPLITS


def _answer(route: str | None) -> RouteChoice:
    return RouteChoice(route=route, type=f"ticket.{route or 'unknown'}", score=1.0, reason="yardstick")


def _encoder(profile: str) -> Encoder:
    light = LightEncoder()
    return light if profile == "light" else JoinedEncoder(light, MiniLMEncoder())


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
    whole = await asyncio.to_thread(Router, routes, encoder)
    similar = await asyncio.to_thread(Router, bare, encoder)
    labelled = [LabelledText(text=row["text"], label=row["label"], lang=row["lang"]) for row in rows]
    candidates: list[tuple[str, Chooser]] = [
        (f"Hermes, {profile}", whole),
        ("embeddings alone", similar),
        ("rules alone", KeywordsOnly(routes)),
        ("naive Bayes on these rows", await asyncio.to_thread(NaiveBayes, rows)),
    ]
    lines = []
    for name, candidate in candidates:
        figures = await evaluate(candidate, labelled)
        rate = await _rate(candidate, [row["text"] for row in rows]) if isinstance(candidate, Router) else None
        lines.append(_line(name, figures, rate))
    whole.close()
    similar.close()
    return lines


def main() -> None:
    """Print the table."""
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


if __name__ == "__main__":
    main()
