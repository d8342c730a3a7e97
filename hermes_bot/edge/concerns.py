"""What each button and each form of ours means, by its id: one `Concern` for each kind of card, joined in `Concerns`.

To add buttons: write a file that returns a `Concern`, and name it in `SlackEdge`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from hermes_bot.edge.clicks import Click, Submission
from hermes_bot.edge.views.look import Json
from hermes_bot.messages.message import Message

Reader = Callable[[Click], Message | None]
Opener = Callable[[Click], Awaitable[Json | None]]
FormErrors = dict[str, str]
Meaning = TypeVar("Meaning")

ANY = ":*"


@dataclass(frozen=True, slots=True, kw_only=True)
class FormReader:
    """Makes a message of a submitted form, or says what is wrong with it, by input; None for nonsense.

    `error_block` is the input under which a person reads that the form could not be saved.
    """

    read: Callable[[Submission], Message | FormErrors | None]
    error_block: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Concern:
    """The buttons and forms of one kind of card.

    `buttons`: action id → what a press means. `openers`: action id → the form that a press opens; where it does not
    open, the press means what `buttons` says, and without that the person is asked to click again. `forms`: callback
    id → reader. An id that ends in `:*` stands for all that begin so.
    """

    buttons: Mapping[str, Reader] = field(default_factory=dict)
    openers: Mapping[str, Opener] = field(default_factory=dict)
    forms: Mapping[str, FormReader] = field(default_factory=dict)


class Concerns:
    """All buttons and forms, by id. Raise ValueError where two concerns name the same."""

    def __init__(self, concerns: Sequence[Concern]) -> None:
        self._buttons: dict[str, Reader] = {}
        self._openers: dict[str, Opener] = {}
        self._forms: dict[str, FormReader] = {}
        for each in concerns:
            _join(self._buttons, each.buttons)
            _join(self._openers, each.openers)
            _join(self._forms, each.forms)

    def knows(self, action_id: str) -> bool:
        """Return whether the button is one of ours."""
        return self.reader(action_id) is not None or self.opener(action_id) is not None

    def reader(self, action_id: str) -> Reader | None:
        """Return what a press of the button means."""
        return _found(self._buttons, action_id)

    def opener(self, action_id: str) -> Opener | None:
        """Return which form the button opens."""
        return _found(self._openers, action_id)

    def form(self, callback_id: str) -> FormReader | None:
        """Return what a submission of the form means."""
        return _found(self._forms, callback_id)


def _join(known: dict[str, Meaning], more: Mapping[str, Meaning]) -> None:
    if twice := known.keys() & more.keys():
        raise ValueError(f"two concerns name {', '.join(sorted(twice))}")
    known.update(more)


def _found(known: Mapping[str, Meaning], wanted: str) -> Meaning | None:
    exact = known.get(wanted)
    if exact is not None:
        return exact
    return next((known[key] for key in known if key.endswith(ANY) and wanted.startswith(key[:-1])), None)
