"""How a ticket ended, in a form that later tickets of the same person can be told."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

REQUEST_CHARACTERS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketSummary:
    """What was asked, what was done and decided, how it ended. `orders` are the numbers it was about."""

    ticket_id: str
    opened_at: datetime
    status: str
    request: str
    agent: str = ""
    steps: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    orders: tuple[str, ...] = ()
    left_open: str = ""

    @property
    def text(self) -> str:
        """The summary as one sentence after another."""
        asked = " ".join(self.request.split())[:REQUEST_CHARACTERS]
        asked += "" if asked.endswith((".", "!", "?", "。", "！", "？")) else "."
        parts = [
            f"Ticket {self.ticket_id} of {self.opened_at:%Y-%m-%d}, {self.status}. Asked: {asked}",
            f"About order {', '.join(self.orders)}." if self.orders else "",
            f"Done: {'; '.join(self.steps)}." if self.steps else "",
            f"Decided: {'; '.join(self.decisions)}." if self.decisions else "",
            f"Left open: {self.left_open}." if self.left_open else "",
        ]
        return " ".join(part for part in parts if part)
