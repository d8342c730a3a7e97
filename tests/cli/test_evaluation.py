from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.cli.evaluation import LABELS, Labelled, evaluated, read_labelled
from hermes_bot.errors import SettingsError
from routing.choice import RouteChoice

_ROWS = st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from([*LABELS, None])), min_size=1, max_size=40)


async def choose(text: str) -> RouteChoice:
    """Chooses the route that the text names."""
    route = None if text == "nobody" else text
    return RouteChoice(route=route, type=f"ticket.{text}", score=1.0, reason="keyword")


async def test_the_figures_are_those_of_the_pairs() -> None:
    pairs = [("order", "order"), ("order", "refund"), ("refund", "refund"), ("other", "nobody")]
    ticks = itertools.count(step=0.002)

    result = await evaluated(
        choose, [Labelled(text=chosen, label=label) for label, chosen in pairs], clock=lambda: next(ticks)
    )

    assert result["n"] == 4
    assert result["accuracy"] == 0.75
    assert result["per_class"]["refund"] == {"n": 1, "precision": 0.5, "recall": 1.0, "f1": pytest.approx(2 / 3)}
    assert result["confusion"]["order"] == {"order": 1, "refund": 1, "handoff": 0, "other": 0}
    assert result["latency_ms"] == {"p50": pytest.approx(2.0), "p99": pytest.approx(2.0)}


@given(_ROWS)
async def test_every_text_is_counted_once_and_figures_stay_in_bounds(rows: list[tuple[str, str | None]]) -> None:
    labelled = [Labelled(text=chosen or "nobody", label=label) for label, chosen in rows]

    result = await evaluated(choose, labelled)

    assert sum(count for row in result["confusion"].values() for count in row.values()) == len(rows) == result["n"]
    assert sum(each["n"] for each in result["per_class"].values()) == len(rows)
    assert all(0 <= each[key] <= 1 for each in result["per_class"].values() for key in ("precision", "recall", "f1"))


@pytest.mark.parametrize(
    "line", ["nonsense", "[]", '{"text": "x"}', '{"text": 1, "label": "order"}', '{"text": "x", "label": "dog"}']
)
def test_a_line_that_is_no_row_is_refused_with_its_number(tmp_path: Path, line: str) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(f'{{"text": "x", "label": "order"}}\n\n{line}\n', encoding="utf-8")

    with pytest.raises(SettingsError) as caught:
        read_labelled(file)

    assert caught.value.line == 3


def test_an_empty_or_missing_file_is_refused(tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text("\n", encoding="utf-8")

    for file in (empty, tmp_path / "none.jsonl"):
        with pytest.raises(SettingsError, match=r"rows|cannot be read"):
            read_labelled(file)
