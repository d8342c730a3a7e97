"""How long a ticket waits for whom, and the words of the staff's side that several handlers share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from hermes_bot.tickets.ticket import Priority

AGENT = "tickets"


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """Seconds, 0 is for ever: see `tickets` and `handoff` in docs/configuration.md. `on_call` is told when in need."""

    nudge_after_s: float = 0.0
    close_after_s: float = 0.0
    first_response_s: Mapping[Priority, float] = field(default_factory=dict)
    escalate_after_s: float = 0.0
    hold_s: float = 60.0
    on_call: Sequence[str] = ()


class Render(Protocol):
    """Returns the text of a key in a language."""

    def __call__(self, language: str, key: str, **values: object) -> str:
        """Raise PermanentError for an unknown key."""
        ...
