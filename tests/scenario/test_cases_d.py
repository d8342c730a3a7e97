"""Field cases of kind D, edits and deletions: D1, D4 and their relatives, over sockets and over HTTP."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from hermes_bot.workspace.posts import Post
from tests.scenario.field import deliver, held
from tests.scenario.in_both_modes import MODES, staged
from tests.scenario.stage import CLAIM, GIVE_BACK, OMAR, SUPPORT, Stage, buttons, handover


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=MODES)
async def stage(
    request: pytest.FixtureRequest, vectors: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stage]:
    async with staged(request.param, vectors, tmp_path_factory.mktemp("cases")) as stage:
        yield stage


pytestmark = pytest.mark.asyncio(loop_scope="module")


def tickets_of(stage: Stage, user: str) -> list[dict[str, Any]]:
    """Return the person's tickets as they stand in the store, oldest first."""
    with closing(sqlite3.connect(stage.data / "hermes.db")) as store:
        store.row_factory = sqlite3.Row
        rows = store.execute("SELECT * FROM tickets WHERE requester = ? ORDER BY number", [user]).fetchall()
        return [dict(row) for row in rows]


def whatever_is_kept(stage: Stage, user: str) -> str:
    """Return all that the tables of tickets hold of the person's words."""
    with closing(sqlite3.connect(stage.data / "hermes.db")) as store:
        numbers = [row[0] for row in store.execute("SELECT number FROM tickets WHERE requester = ?", [user])]
        marks = ", ".join("?" * len(numbers))
        said = store.execute(f"SELECT * FROM ticket_messages WHERE ticket_number IN ({marks})", numbers).fetchall()  # noqa: S608 - only question marks
        noted = store.execute(f"SELECT * FROM ticket_journal WHERE ticket_number IN ({marks})", numbers).fetchall()  # noqa: S608 - only question marks
    return json.dumps([tickets_of(stage, user), said, noted], default=str)


def changed_under(stage: Stage, card: Post) -> list[str]:
    """Return what staff read of changed messages under the card."""
    under = stage.workspace.posts.replies(card.channel, card.ts)
    return [post.text for post in under if "The customer changed a message" in post.text]


async def test_d1_a_typo_that_is_put_right_stays_in_the_same_ticket_and_is_not_answered_again(stage: Stage) -> None:
    buyer = stage.next_buyer()
    talk = await stage.say(buyer.user, SUPPORT, f"Where is my order {buyer.order.id}, pleas?")
    await stage.answer(talk)

    mended = f"Where is my order {buyer.order.id}, please?"
    await stage.workspace.edit(buyer.user, SUPPORT, talk.ts, mended)
    await stage.until(lambda: [each["subject"] for each in tickets_of(stage, buyer.user)] == [mended])
    await stage.quiet()

    assert len(stage.replies(talk)) == 1


async def test_d1_another_wish_put_in_by_an_edit_is_answered_once_in_the_same_ticket(stage: Stage) -> None:
    buyer = stage.next_buyer()
    talk = await stage.say(buyer.user, SUPPORT, "Where is my order?")
    await stage.answer(talk)

    await stage.workspace.edit(buyer.user, SUPPORT, talk.ts, f"Where is my order {buyer.order.id}?")
    assert "was delivered" in await stage.answer(talk, 2)
    await stage.quiet()

    assert len(stage.replies(talk)) == 2
    assert len(tickets_of(stage, buyer.user)) == 1


async def test_d1_an_edit_in_a_direct_message_and_one_for_people_open_no_ticket(stage: Stage) -> None:
    buyer = stage.next_buyer()
    talk = await stage.say(buyer.user, buyer.dm, "I want to talk to a person")
    await stage.answer(talk)
    card = await stage.card("handoff", buyer.name)

    await stage.workspace.edit(buyer.user, buyer.dm, talk.ts, "I want to talk to a person about my bill")
    await stage.until(lambda: changed_under(stage, card))
    await stage.quiet()

    (note,) = changed_under(stage, card)
    assert "about my bill" in note
    assert len(tickets_of(stage, buyer.user)) == 1
    assert len(stage.replies(talk)) == 1


async def test_d1_unfurls_and_the_bots_own_edits_are_no_edits(stage: Stage) -> None:
    buyer = stage.next_buyer()
    talk = await stage.say(buyer.user, SUPPORT, f"Where is my order {buyer.order.id}?")
    await stage.answer(talk)
    post = stage.workspace.posts.get(SUPPORT, talk.ts)
    assert post is not None
    shape = {"type": "message", "user": buyer.user, "ts": talk.ts, "text": post.text, "team": "T0HERMES"}
    own = shape | {"bot_id": "B0HERMES", "user": "U0HERMES", "text": "Where is my order 1?"}
    for message in (shape | {"attachments": [{"title": "unfurled"}]}, own):
        changed = {"type": "message", "subtype": "message_changed", "hidden": True, "channel": SUPPORT}
        stage.workspace.events.emit(changed | {"message": message, "previous_message": shape, "ts": talk.ts})
    await stage.quiet()

    assert len(stage.replies(talk)) == 1
    assert len(tickets_of(stage, buyer.user)) == 1


async def test_d4_a_deleted_first_message_with_replies_marks_the_ticket_and_its_words_are_gone(stage: Stage) -> None:
    buyer = stage.next_buyer()
    secret = "My neighbour Wilhelmina ate it."
    talk = await stage.say(buyer.user, SUPPORT, f"Can I talk to a person? {secret}")
    await stage.answer(talk)
    card = await stage.card("handoff", buyer.name)
    assert secret in card.text

    await stage.workspace.delete(buyer.user, SUPPORT, talk.ts)
    await stage.until(lambda: secret not in stage.now(card).text)
    await stage.quiet()

    (ticket,) = tickets_of(stage, buyer.user)
    assert ticket["source_deleted"] == 1
    assert ticket["subject"] == ""
    kept = whatever_is_kept(stage, buyer.user)
    assert secret not in kept
    assert "This message was deleted" not in kept
    assert "deleted the message" in repr(stage.now(card).blocks)
    assert CLAIM in buttons(stage.now(card))


async def test_d4_a_deleted_reply_leaves_the_ticket_as_it_is(stage: Stage) -> None:
    buyer = stage.next_buyer()
    talk = await stage.say(buyer.user, SUPPORT, f"Where is my order {buyer.order.id}?")
    await stage.answer(talk)
    more = await stage.say(buyer.user, SUPPORT, "It was a present for Wilhelmina", talk.ts)
    await stage.answer(more)

    await stage.workspace.delete(buyer.user, SUPPORT, more.ts)
    await stage.until(lambda: "Wilhelmina" not in whatever_is_kept(stage, buyer.user))
    await stage.quiet()

    (ticket,) = tickets_of(stage, buyer.user)
    assert ticket["source_deleted"] == 0
    assert ticket["subject"].startswith("Where is my order")


async def test_d4_the_answer_to_a_message_that_is_gone_stands_nowhere_in_the_channel(stage: Stage) -> None:
    buyer = stage.next_buyer()
    with held(stage) as bodies:
        talk = await stage.say(buyer.user, SUPPORT, f"Where is my order {buyer.order.id}?")
    await stage.workspace.delete(buyer.user, SUPPORT, talk.ts)
    deliver(stage, *bodies)
    await stage.until(lambda: any("was delivered" in post.text for post in stage.workspace.posts.roots(buyer.dm)))
    await stage.quiet()

    assert not any(buyer.order.id in post.text for post in stage.workspace.posts.roots(SUPPORT))


async def test_d4_what_a_person_answers_after_the_deletion_reaches_the_customer_alone(stage: Stage) -> None:
    buyer = stage.next_buyer()
    talk = await stage.say(buyer.user, SUPPORT, "Can I talk to a person?")
    await stage.answer(talk)
    card = await stage.card("handoff", buyer.name)
    await stage.click(OMAR, card, CLAIM)
    await stage.until(lambda: handover(stage.now(card)) == [GIVE_BACK])
    await stage.workspace.delete(buyer.user, SUPPORT, talk.ts)
    await stage.until(lambda: tickets_of(stage, buyer.user)[0]["source_deleted"])

    await stage.reply_to_customer(OMAR, stage.now(card), "This is for you alone")
    await stage.until(lambda: any("for you alone" in post.text for post in stage.workspace.posts.roots(buyer.dm)))

    assert not any("for you alone" in post.text for post in stage.workspace.posts.roots(SUPPORT))


async def test_d1_an_edit_that_slack_tells_of_first_is_looked_for_again_and_answered(stage: Stage) -> None:
    buyer = stage.next_buyer()
    with held(stage) as bodies:
        talk = await stage.say(buyer.user, SUPPORT, "Where is my order 1?")
        await stage.workspace.edit(buyer.user, SUPPORT, talk.ts, f"Where is my order {buyer.order.id}?")
    deliver(stage, *reversed(bodies))

    await stage.until(lambda: any("was delivered" in reply.text for reply in stage.replies(talk)))
    await stage.quiet()
    assert len(tickets_of(stage, buyer.user)) == 1
