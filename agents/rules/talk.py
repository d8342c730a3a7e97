"""What a rules planner says: texts in the customer's language, with money and days as the shop writes to them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from agents.planner import Run
from agents.texts import Texts


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """The texts, for one run."""

    texts: Texts
    run: Run

    def say(self, key: str, **values: object) -> str:
        """Return the text of that key."""
        return self.texts.render(self.run.language, key, locale=self.run.locale, **values)

    def money(self, cents: int, currency: str) -> str:
        """Return the amount as the customer reads it."""
        return self.texts.money(self.run.language, cents, currency, locale=self.run.locale)

    def day(self, written: object) -> str:
        """Return the day of a time that a tool wrote, empty where it wrote none."""
        return self.texts.day(self.run.language, moment(written), locale=self.run.locale)

    def state(self, status: str) -> str:
        """Return a state of an order as a word."""
        return self.say(f"order.status.{status}")

    def states(self, statuses: Iterable[str]) -> str:
        """Return states as an enumeration."""
        return self.say("order.enumeration", words=[self.state(status) for status in statuses])

    def goods(self, items: Iterable[dict[str, Any]]) -> str:
        """Return goods with their quantities, one a line."""
        return "\n".join(self.say("order.item", quantity=item["quantity"], name=item["name"]) for item in items)


def moment(written: object) -> datetime | None:
    """Return the time that a tool wrote, None where it wrote none."""
    return datetime.fromisoformat(written) if isinstance(written, str) else None
