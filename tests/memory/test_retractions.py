"""What a customer takes back, the memory does not keep."""

from __future__ import annotations

from sqlalchemy import insert

from hermes_bot.memory.memory import Memory
from hermes_bot.memory.owner import Said
from hermes_bot.memory.retractions import Retractions
from hermes_bot.store.database import Database
from hermes_bot.store.tables import ticket_journal, ticket_messages
from tests.memory.kit import EMMA, Clock
from tests.memory.test_endings import ticket


async def said(database: Database, memory: Memory, clock: Clock, text: str, *, state: str, now: str) -> None:
    """Let Emma say something in her ticket, have it kept by an agent further down the chain, and change it."""
    await ticket(database, clock, 1, "working")
    await memory.hear(text, Said(by=EMMA, ticket_id="T-1", message_id="M1-1"))
    await memory.hear("I love tea.", Said(by=EMMA, ticket_id="T-1", message_id="M11"))
    row = {
        "message_id": "M1",
        "ticket_number": 1,
        "opened": True,
        "ts": "1",
        "text": now,
        "state": state,
        "at": clock(),
    }
    entry = {"ticket_number": 1, "at": clock(), "message_id": "M2", "by": "U0EMMA", "what": state, "was": "", "now": ""}
    await database.run(lambda connection: connection.execute(insert(ticket_messages).values(row)))
    await database.run(lambda connection: connection.execute(insert(ticket_journal).values(entry)))


async def test_a_deleted_message_takes_its_facts_with_it(database: Database, memory: Memory, clock: Clock) -> None:
    await said(database, memory, clock, "I love wool.", state="deleted", now="")
    retractions = Retractions(database, clock=clock)

    assert [await retractions.take_back(), await retractions.take_back()] == [1, 0]
    assert [fact.text for fact in await memory.history(EMMA)] == ["I love tea."]


async def test_an_edited_message_keeps_what_it_still_says(database: Database, memory: Memory, clock: Clock) -> None:
    await said(database, memory, clock, "I love wool.", state="edited", now="Hello! I LOVE wool, and linen too.")

    assert await Retractions(database, clock=clock).take_back() == 0
    assert len(await memory.facts(EMMA)) == 2


async def test_an_edited_message_loses_what_it_no_longer_says(database: Database, memory: Memory, clock: Clock) -> None:
    await said(database, memory, clock, "I love wool.", state="edited", now="I love linen.")

    assert await Retractions(database, clock=clock).take_back() == 1
    assert [fact.text for fact in await memory.history(EMMA)] == ["I love tea."]
