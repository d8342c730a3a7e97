"""What a button does, typed: each command of the team and of customers has its button's effect; in both modes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.scenario.acts import command
from tests.scenario.cases import approval_of, playing, small, told
from tests.scenario.field import Json, rows, tickets_of
from tests.scenario.in_both_modes import MODES
from tests.scenario.stage import OLIVIA, OMAR, SUPPORT, Buyer, Stage, Talk, ask_for_refund, buttons, paid_once

pytestmark = pytest.mark.asyncio(loop_scope="module")

PASSED = "passed it on"


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=MODES)
async def stage(
    request: pytest.FixtureRequest, vectors: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stage]:
    async with playing(request.param, tmp_path_factory.mktemp("typed"), vectors) as stage:
        yield stage


async def named(stage: Stage, user: str, approval: str) -> str:
    """Return the approval and its code, as the list of what waits shows them to this person."""
    listed = await command(stage, user, "approvals")
    line = next(each for each in listed.splitlines() if f"/hermes approve {approval} " in each)
    return line.strip().removeprefix("/hermes approve ")


async def with_the_bot(stage: Stage) -> tuple[Buyer, Talk, str]:
    """Return a customer, what they asked, and their ticket, which the bot has answered."""
    buyer = stage.next_buyer()
    talk = await stage.say(buyer.user, SUPPORT, f"Where is my order {buyer.order.id}?")
    await stage.answer(talk)
    await stage.quiet()
    return buyer, talk, f"T-{tickets_of(stage, talk)[0]['number']}"


def ticket(stage: Stage, talk: Talk) -> Json:
    """Return the ticket as it is now."""
    (found,) = tickets_of(stage, talk)
    return found


async def test_a_refund_is_rejected_with_the_reason(stage: Stage) -> None:
    buyer = small(stage)
    talk, card = await ask_for_refund(stage, buyer)

    assert PASSED in await command(stage, OLIVIA, f"reject {await named(stage, OLIVIA, approval_of(card))} Worn & torn")
    assert "Worn & torn" in (await stage.answer(talk, 2)).replace("&amp;", "&")
    await stage.until(lambda: not buttons(stage.now(card)))
    await stage.quiet()
    assert stage.refunds(buyer) == 0
    assert ("rejected", OLIVIA) in told(stage.data, approval_of(card))


async def test_a_customer_is_asked_before_it_is_approved(stage: Stage) -> None:
    buyer = small(stage)
    talk, card = await ask_for_refund(stage, buyer)

    assert PASSED in await command(stage, OMAR, f"ask {await named(stage, OMAR, approval_of(card))} Is the box whole?")
    assert "Is the box whole?" in await stage.answer(talk, 2)
    await stage.quiet()
    assert PASSED in await command(stage, OMAR, f"approve {await named(stage, OMAR, approval_of(card))}")
    assert "has been refunded" in await stage.answer(talk, 3)
    await stage.quiet()
    assert stage.refunds(buyer) == 1


async def test_an_amount_is_changed_and_somebody_else_approves_it(stage: Stage) -> None:
    buyer = small(stage)
    talk, card = await ask_for_refund(stage, buyer)
    before = await named(stage, OMAR, approval_of(card))

    assert PASSED in await command(stage, OMAR, f"edit {before} amount_cents=“1.00”")
    await stage.until(lambda: ("edited", OMAR) in told(stage.data, approval_of(card)))
    await stage.quiet()
    await command(stage, OLIVIA, f"approve {before}")  # of what is not shown any more
    await stage.quiet()
    assert stage.refunds(buyer) == 0
    assert PASSED in await command(stage, OLIVIA, f"approve {await named(stage, OLIVIA, approval_of(card))}")
    await paid_once(stage, buyer, talk, card)


async def test_the_one_who_asked_cannot_approve_by_text_what_they_cannot_by_button(stage: Stage) -> None:
    buyer = small(stage)
    talk, card = await ask_for_refund(stage, buyer)
    code = await named(stage, OMAR, approval_of(card))

    assert "support team" in await command(stage, buyer.user, f"approve {code}")
    await stage.quiet()
    assert stage.refunds(buyer) == 0
    assert PASSED in await command(stage, OMAR, f"approve {code}")
    assert PASSED in await command(stage, OMAR, f"approve {code}")
    await paid_once(stage, buyer, talk, card)


async def test_a_ticket_is_taken_assigned_answered_given_back_solved_and_opened_again(stage: Stage) -> None:
    _, talk, name = await with_the_bot(stage)

    await command(stage, OMAR, f"take {name}")
    assert "Omar Haddad has taken over" in await stage.answer(talk, 2)
    await command(stage, OMAR, f"assign {name} <@{OLIVIA}>")
    assert "Olivia Brandt has taken over" in await stage.answer(talk, 3)
    assert (ticket(stage, talk)["owner"], ticket(stage, talk)["assignee"]) == ("human", OLIVIA)
    await command(stage, OLIVIA, f"reply {name} It lies\nat the depot")
    assert "Olivia Brandt: It lies\nat the depot" in await stage.answer(talk, 4)
    await command(stage, OLIVIA, f"return {name} They know it now")
    assert "I'm back" in await stage.answer(talk, 5)
    await command(stage, OLIVIA, f"solve {name}")
    assert "marked as solved" in await stage.answer(talk, 6)
    assert ticket(stage, talk)["status"] == "solved"
    await command(stage, OMAR, f"reopen {name}")
    assert "Omar Haddad has taken over" in await stage.answer(talk, 7)
    await stage.quiet()
    assert (ticket(stage, talk)["status"], ticket(stage, talk)["assignee"]) == ("reopened", OMAR)


async def test_a_priority_is_set(stage: Stage) -> None:
    _, talk, name = await with_the_bot(stage)

    await command(stage, OMAR, f"priority {name} Urgent")
    await stage.quiet()
    assert ticket(stage, talk)["priority"] == "urgent"


async def test_a_customer_rates_and_stops_their_own(stage: Stage) -> None:
    buyer, talk, name = await with_the_bot(stage)

    assert PASSED in await command(stage, buyer.user, f"rate {name} UP")
    await stage.until(lambda: ticket(stage, talk)["rating"] == "up")
    assert "ends now" in await command(stage, buyer.user, f"stop {name.lower()}")  # and nothing is in work
    await stage.quiet()
    assert len(stage.replies(talk)) == 1

    other = small(stage)
    waiting, _ = await ask_for_refund(stage, other)
    number = ticket(stage, waiting)["number"]
    assert "ends now" in await command(stage, waiting.user, f"停止 T-{number}")
    assert "I've stopped" in await stage.answer(waiting, 2)
    await stage.quiet()
    assert stage.refunds(other) == 0


async def test_a_customer_is_forgotten_at_their_word(stage: Stage) -> None:
    buyer, _, _ = await with_the_bot(stage)

    assert "forgetting it now" in await command(stage, buyer.user, "forget me yes")
    await stage.until(lambda: "forgotten everything" in repr(stage.workspace.messages(buyer.dm)))
    await stage.quiet()
    assert rows(stage, "SELECT * FROM ticket_messages WHERE text LIKE ?", f"%{buyer.order.id}%") == []
    assert buyer.order.id not in await command(stage, buyer.user, "tickets")
