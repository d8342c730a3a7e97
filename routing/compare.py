"""Which texts would go elsewhere under another route table. Pure: two choosers and texts in, differences out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from routing.choice import RouteChoice
from routing.evaluate import NOBODY, Chooser


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A text to route: where it is from, and the label that it should get, where that is known."""

    text: str
    source: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A text that the new table sends elsewhere."""

    text: Text
    old: RouteChoice
    new: RouteChoice

    @property
    def better(self) -> bool | None:
        """Whether the text is routed as labelled now and was not before, or the other way round; None: neither."""
        before, after = target(self.old) == self.text.label, target(self.new) == self.text.label
        return None if before == after else after


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """All that moved of `n` texts; `right_before` and `right_after` count labelled ones."""

    n: int
    labelled: int
    right_before: int
    right_after: int
    moves: tuple[Move, ...]


async def compare(
    old: Chooser, new: Chooser, texts: Sequence[Text], *, progress: Callable[[int], None] = lambda _done: None
) -> Comparison:
    """Return what the new table would change; `progress` hears the number of texts done after each."""
    moves, before, after = [], 0, 0
    for done, text in enumerate(texts, start=1):
        was, would = await old.choose(text.text), await new.choose(text.text)
        before += target(was) == text.label
        after += target(would) == text.label
        if target(was) != target(would):
            moves.append(Move(text=text, old=was, new=would))
        progress(done)
    labelled = sum(bool(text.label) for text in texts)
    return Comparison(n=len(texts), labelled=labelled, right_before=before, right_after=after, moves=tuple(moves))


def target(choice: RouteChoice) -> str:
    """Return the route that takes the text, `other` where none does."""
    return choice.route or NOBODY
