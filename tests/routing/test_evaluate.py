"""The arithmetic of an evaluation."""

import itertools
import json

from routing.choice import RouteChoice
from routing.evaluate import LabelledText, evaluate


class Parrot:
    """Chooses the route that the text names."""

    async def choose(self, text: str) -> RouteChoice:
        route = None if text == "nobody" else text
        return RouteChoice(route=route, type="t", score=0.5 if route else 0.9, reason="similarity")


ROWS = [
    LabelledText(text="tea", label="tea", lang="en"),
    LabelledText(text="tea", label="tea", lang="en"),
    LabelledText(text="car", label="tea", lang="zh"),
    LabelledText(text="nobody", label="car", lang="zh"),
    LabelledText(text="nobody", label="other"),
    LabelledText(text="car", label="other"),
]


async def test_the_figures_are_those_of_the_confusion() -> None:
    figures = await evaluate(Parrot(), ROWS, clock=itertools.count().__next__)

    assert figures.n == 6
    assert figures.accuracy == 3 / 6
    assert figures.wrong_agent_share == 2 / 6
    assert figures.other_recall == 1 / 2
    assert figures.confusion["tea"] == {"car": 1, "other": 0, "tea": 2}
    tea = figures.per_class["tea"]
    assert (tea.precision, tea.recall, tea.f1, tea.support) == (1.0, 2 / 3, 0.8, 3)
    assert figures.per_class["car"].f1 == 0.0
    assert figures.by_language == {"en": (1.0, 2), "zh": (0.0, 2)}
    assert figures.latency_p50_ms == figures.latency_p99_ms == 1000.0


async def test_the_surest_mistake_stands_first() -> None:
    figures = await evaluate(Parrot(), ROWS)

    assert [one.choice.score for one in figures.mistakes] == [0.9, 0.5, 0.5]


async def test_the_figures_can_be_written_as_json() -> None:
    figures = await evaluate(Parrot(), ROWS)

    data = json.loads(json.dumps(figures.as_dict()))
    assert {"accuracy", "n", "per_class", "confusion", "latency_ms"} <= data.keys()
    assert set(data["latency_ms"]) == {"p50", "p99"}


async def test_progress_hears_every_row_and_no_rows_make_no_crash() -> None:
    heard: list[int] = []
    await evaluate(Parrot(), ROWS, progress=heard.append)

    assert heard == [1, 2, 3, 4, 5, 6]
    assert (await evaluate(Parrot(), [])).accuracy == 0.0


class Judge:
    """Answers with the score that the text names; a text that begins with ? is asked about."""

    async def choose(self, text: str) -> RouteChoice:
        score = float(text.strip("?"))
        route = "tea" if score >= 0.5 else None
        reason = "similarity" if route else "below threshold"
        scores = {"tea": score, "car": 1 - score}
        asked = ("tea",) if text.startswith("?") else ()
        return RouteChoice(route=route, type="t", score=score, reason=reason, scores=scores, candidates=asked)


def rows_of(*pairs: tuple[str, str]) -> list[LabelledText]:
    return [LabelledText(text=text, label=label, lang="en", columns={"who": label[:1]}) for text, label in pairs]


async def test_the_surest_part_of_the_rows_is_measured_on_its_own() -> None:
    figures = await evaluate(Judge(), rows_of(*[("0.9", "tea")] * 8, ("0.55", "car"), ("0.45", "tea")))

    assert figures.coverage == ((1.0, 0.8), (0.95, 0.8), (0.9, 8 / 9), (0.8, 1.0))


async def test_what_is_asked_about_is_left_out_of_the_accuracy_of_the_rest() -> None:
    figures = await evaluate(Judge(), rows_of(("0.9", "tea"), ("?0.6", "car"), ("0.8", "tea"), ("?0.7", "tea")))

    assert (figures.asked_share, figures.accuracy_unasked, figures.accuracy) == (0.5, 1.0, 0.75)


async def test_scores_that_are_as_often_right_as_they_say_have_no_calibration_error() -> None:
    right = rows_of(*[("0.75", "tea")] * 3, ("0.75", "car"))
    wrong = rows_of(*[("0.95", "car")] * 4)

    assert (await evaluate(Judge(), right)).calibration_error < 1e-9
    assert abs((await evaluate(Judge(), wrong)).calibration_error - 0.95) < 1e-9


async def test_each_value_of_a_column_gets_its_own_figures() -> None:
    figures = await evaluate(Judge(), rows_of(("0.9", "tea"), ("0.9", "tea"), ("0.9", "car")), by="who")

    assert [(value, one.n, one.accuracy, one.wrong_agent_share) for value, one in figures.by.items()] == [
        ("t", 2, 1.0, 0.0),
        ("c", 1, 0.0, 1.0),
    ]
