"""Floors under the accuracy, so that no edit of routes or code makes it worse unseen. Figures: docs/routing.md."""

import json
from pathlib import Path

import pytest

from routing.evaluate import Evaluation, LabelledText, evaluate
from routing.route import Route
from routing.router import Router


async def test_our_own_labelled_texts_stay_above_the_floor(router: Router, labelled: list[LabelledText]) -> None:
    figures = await evaluate(router, labelled)

    assert figures.accuracy >= 0.90, _worst(figures)
    assert figures.wrong_agent_share <= 0.04, _worst(figures)
    assert figures.by_language["en"][0] >= 0.90
    assert figures.by_language["zh"][0] >= 0.90


def test_no_labelled_text_is_an_utterance(shipped_routes: tuple[Route, ...], labelled: list[LabelledText]) -> None:
    utterances = {sentence.casefold() for route in shipped_routes for _, sentence in route.examples()}

    assert not [row.text for row in labelled if row.text.casefold() in utterances]


def test_no_utterance_stands_in_two_routes(shipped_routes: tuple[Route, ...]) -> None:
    seen = [sentence.casefold() for route in shipped_routes for _, sentence in route.examples()]

    assert len(seen) == len(set(seen))


@pytest.mark.shared
async def test_foreign_texts_of_the_core_tier_stay_above_the_floors(router: Router, shared_dir: Path) -> None:
    lines = (shared_dir / "data" / "routing_dev.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    core = [
        LabelledText(text=row["text"], label=row["label"], lang=row["lang"]) for row in rows if row["tier"] == "core"
    ]

    figures = await evaluate(router, core)
    others = [figures.by_language[lang] for lang in figures.by_language if lang not in {"en", "zh"}]
    right, number = sum(share * rows for share, rows in others), sum(rows for _, rows in others)

    assert figures.by_language["en"][0] >= 0.93
    assert figures.by_language["zh"][0] >= 0.93
    assert right / number >= 0.95
    assert figures.other_recall >= 0.93
    assert figures.wrong_agent_share <= 0.04


@pytest.mark.shared
def test_no_utterance_is_a_row_of_the_foreign_texts(shipped_routes: tuple[Route, ...], shared_dir: Path) -> None:
    lines = (shared_dir / "data" / "routing_dev.jsonl").read_text(encoding="utf-8").splitlines()
    foreign = {_letters(json.loads(line)["text"]) for line in lines}

    assert not [
        sentence for route in shipped_routes for _, sentence in route.examples() if _letters(sentence) in foreign
    ]


def _letters(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalpha())


def _worst(figures: Evaluation) -> str:
    return "\n".join(f"{one.row.label} -> {one.chosen}: {one.row.text}" for one in figures.mistakes)
