"""People whom a library's caller vouches for: who says which customer writes is the caller, as Slack is elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from msgspec.structs import replace
from sqlalchemy import Connection, insert, select, update
from sqlalchemy.exc import IntegrityError

from hermes_bot.errors import PermanentError
from hermes_bot.messages.message import Chain, Message
from hermes_bot.messages.payloads import TICKET_CREATED, TICKET_REPLIED, Inbound, read
from hermes_bot.people import Person
from hermes_bot.store.database import Database
from hermes_bot.store.tables import vouched_people

TEAM = "library"
VOUCHED = ("customer_email", "customer_name", "customer_locale")
LONGEST_CHANNEL = 40


class VouchedPeople:
    """A `Directory` of those who were vouched for, kept in the store, so that a restart and other workers know them."""

    def __init__(self, database: Database, *, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    async def vouch(self, user: str, *, email: str, name: str = "", locale: str = "") -> None:
        """Keep who that is; the newest word counts, and an empty address takes an earlier one back."""
        table = vouched_people
        values = {"email": email, "name": name or user, "locale": locale, "updated_at": self._clock()}
        change = update(table).where(table.c.team == TEAM, table.c.id == user).values(**values)

        def work(connection: Connection) -> None:
            if not connection.execute(change).rowcount:
                connection.execute(insert(table).values(team=TEAM, id=user, **values))

        try:
            await self._database.run(work)
        except IntegrityError:  # somebody else vouched for them first, in the same instant; the newest word counts
            await self._database.run(work)

    async def person(self, team: str, user: str, *, fresh: bool = False) -> Person:
        """Return the person, without an address where nobody has vouched."""
        table = vouched_people
        wanted = select(table).where(table.c.team == team, table.c.id == user)
        row = await self._database.run(lambda connection: connection.execute(wanted).first())
        if row is None:
            return Person(team=team, id=user, name=user)
        return Person(team=team, id=user, name=row.name, email=row.email, locale=row.locale)

    async def group_members(self, group: str) -> frozenset[str]:
        """Raise PermanentError: there are no groups."""
        raise PermanentError(f"there is no group {group} without Slack")


def split_vouched(message: Message) -> tuple[Message, dict[str, str]]:
    """Return the message without what vouches for its user, and that."""
    vouched = {name.removeprefix("customer_"): str(message.data[name]) for name in VOUCHED if name in message.data}
    data = {name: value for name, value in message.data.items() if name not in VOUCHED}
    return replace(message, data=data), vouched


def completed(message: Message) -> Message:
    """Return a customer's message with what Slack would have said; raise PermanentError without `user` and `text`.

    A conversation is a `context_id`; it counts as a direct message, so that an answer may say everything.
    """
    if message.type not in (TICKET_CREATED, TICKET_REPLIED):
        return message
    guessed: dict[str, Any] = {
        "team": TEAM,
        "channel": message.context_id[-LONGEST_CHANNEL:],
        "channel_type": "im",
        "ts": f"{message.created_at.timestamp():.6f}",
    }
    whole = replace(message, data=guessed | message.data)
    text = read(whole, Inbound).text
    return whole if message.context_chain.text else replace(whole, context_chain=Chain(text=text))
