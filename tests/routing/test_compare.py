"""What another table would send elsewhere."""

from __future__ import annotations

from routing.choice import RouteChoice
from routing.compare import Text, compare


class ByWord:
    """A chooser that sends a text to the route whose word it holds."""

    def __init__(self, **words: str) -> None:
        self._words = words

    async def choose(self, text: str) -> RouteChoice:
        name = next((route for route, word in self._words.items() if word in text), None)
        return RouteChoice(route=name, type=f"t.{name}", score=1.0, reason="keyword")


async def test_it_tells_what_moves_and_whether_that_is_better() -> None:
    texts = [
        Text(text="my parcel", label="order"),
        Text(text="my money", label="refund"),
        Text(text="hello", label="other"),
        Text(text="a box of money"),
    ]
    done: list[int] = []

    result = await compare(
        ByWord(order="parcel", refund="box"), ByWord(order="box", refund="money"), texts, progress=done.append
    )

    assert [(move.text.text, move.old.route, move.new.route, move.better) for move in result.moves] == [
        ("my parcel", "order", None, False),
        ("my money", None, "refund", True),
        ("a box of money", "refund", "order", None),
    ]
    assert (result.n, result.labelled, result.right_before, result.right_after) == (4, 3, 2, 2)
    assert done == [1, 2, 3, 4]
