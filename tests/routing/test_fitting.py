"""Numbers fitted to labelled texts, and how they come into the file."""

import math
from pathlib import Path

import pytest
import yaml

from routing.choice import RouteChoice
from routing.edit import with_numbers
from routing.evaluate import LabelledText
from routing.fitting import FEWEST_ROWS, fit_table
from routing.routes_file import RouteTable, load_table, parse_table

FILE = """\
# our routes
not_sure:
  margin: 0.2 # ask rarely
routes:
  - name: tea
    type: drink.tea
    agent: tea # brews
    utterances:
      en: [a cup of tea]  # one is enough
  - name: rest
    type: none
    agent: rest
    nobody: true
    utterances: {en: [what a day]}
"""


@pytest.fixture
def table() -> RouteTable:
    return parse_table(FILE, file="routing.yaml")


def judged(score: float, label: str, number: int = 0) -> tuple[LabelledText, RouteChoice]:
    """A text for which `tea` got the score and nobody the rest."""
    scores = {"tea": score, "rest": 1 - score}
    reason = "other" if score < 0.5 else "similarity" if score >= 0.7 else "below threshold"
    choice = RouteChoice(
        route="tea" if reason == "similarity" else None,
        type="t",
        score=max(score, 1 - score),
        reason=reason,
        scores=scores,
    )
    return LabelledText(text=f"{label} {score} {number}", label=label), choice


def test_a_threshold_above_right_choices_comes_down() -> None:
    table = parse_table(f"decision: similarity\n{FILE}", file="routing.yaml")
    rows = [judged(0.6, "tea", number) for number in range(30)] + [judged(0.1, "other", number) for number in range(30)]

    fitted = fit_table(table, rows)

    assert fitted.before.thresholds == {"tea": 0.7}
    assert fitted.numbers.thresholds["tea"] < 0.7
    assert fitted.score_before.accuracy == 0.5
    assert fitted.score_after.accuracy == fitted.held_out.accuracy == 1.0


def test_a_threshold_below_wrong_choices_goes_up(table: RouteTable) -> None:
    rows = [judged(0.75, "other", number) for number in range(30)] + [
        judged(0.95, "tea", number) for number in range(30)
    ]

    fitted = fit_table(table, rows)

    assert fitted.score_before.wrong_agent_share == 0.5
    assert fitted.score_after.wrong_agent_share == 0.0


def test_scores_that_are_too_sure_get_a_higher_temperature(table: RouteTable) -> None:
    rows = [judged(0.99, "tea" if number % 4 else "other", number) for number in range(100)]

    fitted = fit_table(table, rows)
    odds = math.exp(math.log(0.99 / 0.01) * table.temperature / fitted.numbers.temperature)

    assert fitted.numbers.temperature > table.temperature
    assert odds / (1 + odds) == pytest.approx(0.75, abs=0.03)


def test_a_few_rows_or_rows_that_rules_decided_change_nothing(table: RouteTable) -> None:
    few = [judged(0.6, "tea", number) for number in range(FEWEST_ROWS - 1)]
    ruled = [
        (LabelledText(text=str(number), label="other"), RouteChoice(route="tea", type="t", score=1.0, reason="keyword"))
        for number in range(50)
    ]

    assert not fit_table(table, few).changes
    assert not fit_table(table, ruled).changes
    assert fit_table(table, ruled).score_after.accuracy == 0.0


def test_numbers_come_into_the_file_and_comments_stay() -> None:
    once = with_numbers(FILE.encode(), temperature=0.8, thresholds={"tea": 0.66}, file="routing.yaml")
    twice = with_numbers(once, temperature=0.9, thresholds={"tea": 0.61}, file="routing.yaml")
    table = parse_table(twice.decode(), file="routing.yaml")

    assert (table.temperature, table.routes[0].score_threshold) == (0.9, 0.61)
    for comment in ("# our routes", "# ask rarely", "# brews", "# one is enough"):
        assert comment in twice.decode()
    assert list(yaml.safe_load(once)) == ["not_sure", "temperature", "routes"]
    assert with_numbers(FILE.encode(), temperature=None, thresholds={}, file="x").decode().count("temperature") == 0


def test_the_shipped_file_takes_numbers_without_another_change(tmp_path: Path) -> None:
    file = Path(__file__).parents[2] / "configs" / "routing.yaml"

    edited = with_numbers(file.read_bytes(), temperature=None, thresholds={"refund": 0.65}, file=str(file))
    (tmp_path / "routing.yaml").write_bytes(edited)

    old, new = file.read_text(encoding="utf-8").splitlines(), edited.decode().splitlines()
    assert [line for line in new if line not in set(old)] == ["    score_threshold: 0.65"]
    assert load_table(tmp_path / "routing.yaml").routes[1].score_threshold == 0.65
