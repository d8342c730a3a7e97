"""Asking instead of guessing: when, about what, and what it is worth on real messages."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.llm.light_encoder import LightEncoder
from routing.not_sure import NotSure
from routing.router import Router
from routing.routes_file import load_table, parse_table

ROOT = Path(__file__).resolve().parents[2]
RULE = NotSure(margin=0.4, floor=0.2)


@pytest.mark.parametrize(
    "scores, asked",
    [
        ({"tea": 0.9, "car": 0.1}, ()),
        ({"tea": 0.5, "car": 0.5}, ("tea", "car")),
        ({"car": 0.3, "tea": 0.45, "rest": 0.25}, ("tea", "car")),
        ({"rest": 0.6, "tea": 0.3, "car": 0.1}, ("tea",)),
        ({"rest": 0.5, "tea": 0.19, "car": 0.19}, ()),
        ({"tea": 1.0}, ()),
        ({}, ()),
    ],
)
def test_it_asks_about_routes_above_the_floor_when_the_best_is_hardly_ahead(
    scores: dict[str, float], asked: tuple[str, ...]
) -> None:
    assert RULE.candidates(scores, {"rest"}) == asked


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0, 1)), st.floats(0, 1), st.floats(0, 1))
def test_it_never_asks_about_nobody_nor_about_many(scores: dict[str, float], margin: float, floor: float) -> None:
    asked = NotSure(margin=margin, floor=floor).candidates(scores, {"a", "b"})

    assert len(asked) <= 3
    assert all(scores[name] >= floor and name not in {"a", "b"} for name in asked)


def test_without_the_setting_nothing_is_asked() -> None:
    table = parse_table("routes: [{name: tea, type: t, agent: tea, keywords: {any: [tea]}}]", file="x")

    assert table.not_sure.candidates({"tea": 0.5, "car": 0.5}, ()) == ()


@pytest.mark.shared
async def test_with_one_question_in_ten_messages_the_rest_is_nearly_always_right(
    shared_dir: Path, light_encoder: LightEncoder, vectors_folder: Path
) -> None:
    table = load_table(ROOT / "configs" / "routing.yaml")
    lines = (shared_dir / "data" / "routing_dev.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["tier"] == "core"]
    router = Router(
        table.routes, light_encoder, cache_folder=vectors_folder, not_sure=table.not_sure, limit_s=300
    )  # all at once on a busy machine

    choices = await asyncio.gather(*(router.choose(row["text"]) for row in rows))
    router.close()

    kept = [(row, choice) for row, choice in zip(rows, choices, strict=True) if not choice.candidates]
    right = sum(row["label"] == (choice.route or "other") for row, choice in kept)
    assert len(rows) - len(kept) <= 0.10 * len(rows)
    assert right >= 0.97 * len(kept)
