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
