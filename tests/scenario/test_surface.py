"""Commands, shortcuts and Home of a running bot, as people use them."""

from __future__ import annotations

from typing import Any

import pytest

from hermes_bot.edge.manifest import COMMAND, SHORTCUT_EXPLAIN, SHORTCUT_TICKET
from tests.scenario.stage import ADA, APPROVE, CLAIM, CORNER, OMAR, SUPPORT, Buyer, Stage, ask_for_refund, paid_once

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def command(stage: Stage, user: str, text: str, channel: str = SUPPORT) -> str:
    """Return what the person alone reads after the command."""
    before = len(stage.workspace.ephemerals(user))
    assert (await stage.workspace.command(user, channel, COMMAND, text)).ok
    await stage.until(lambda: len(stage.workspace.ephemerals(user)) > before)
    return str(stage.workspace.ephemerals(user)[-1]["text"])


async def home(stage: Stage, user: str, *words: str) -> dict[str, Any]:
    """Return the person's Home once these words stand on it."""
    await stage.workspace.open_home(user)
    return await shown(stage, user, *words)


async def shown(stage: Stage, user: str, *words: str) -> dict[str, Any]:
    await stage.until(lambda: all(word in repr(stage.workspace.homes.of(user)) for word in words))
    view = stage.workspace.homes.of(user)
    assert view is not None
    return view


async def test_help_is_for_everybody_and_the_teams_part_for_the_team(stage: Stage) -> None:
    buyer = stage.next_buyer()

    assert "memory mine" in await command(stage, buyer.user, "help")
    assert "approve APR" not in await command(stage, buyer.user, "")
    assert "approve APR" in await command(stage, OMAR, "help")
    assert "I don't know that command" in await command(stage, buyer.user, "dance")
    assert "你的请求" in await command(stage, "U0LINA", "帮助")


async def test_a_customer_sees_their_own_tickets_alone(stage: Stage) -> None:
    first, second = stage.next_buyer(), stage.next_buyer()
    await stage.ask(first.user, SUPPORT, f"Where is my order {first.order.id}?")
    own = await command(stage, first.user, "tickets")

    assert first.order.id in own
    assert await command(stage, second.user, "tickets") == "You have no requests yet."
    assert "Open tickets" not in await command(stage, second.user, "status")
    assert "Open tickets" in await command(stage, OMAR, "status")


async def test_what_staff_may_ask_is_refused_to_others(stage: Stage) -> None:
    buyer = stage.next_buyer()

    assert "Only approvers" in await command(stage, buyer.user, "approvals")
    assert "support team" in await command(stage, buyer.user, 'route "where is my parcel"')
    assert "support team" in await command(stage, buyer.user, "claim T-1")
    assert "route 'order'" in await command(stage, OMAR, 'route "where is my parcel"')


async def test_a_refund_is_approved_by_text_alone(stage: Stage) -> None:
    buyer = stage.next_buyer()
    talk, card = await ask_for_refund(stage, buyer)
    listed = await command(stage, OMAR, "approvals")
    line = next(line for line in listed.splitlines() if buyer.order.id in line or "/hermes approve" in line)
    typed = [each for each in listed.splitlines() if "/hermes approve" in each][-1].strip().removeprefix("/hermes ")

    assert line
    assert "code" in await command(stage, OMAR, " ".join(typed.split()[:2]))
    assert "passed it on" in await command(stage, OMAR, typed)
    await paid_once(stage, buyer, talk, card)


async def test_from_a_channel_without_the_bot_it_answers_and_says_how_to_invite_it(stage: Stage) -> None:
    buyer = stage.next_buyer()
    bot = stage.server.world.app.user
    await stage.workspace.leave(bot, CORNER)
    said = await command(stage, buyer.user, "status", CORNER)
    await stage.workspace.join(bot, CORNER)

    assert "/invite @Hermes" in said
    assert "/invite" not in await command(stage, buyer.user, "status", CORNER)


async def test_a_message_becomes_a_ticket_of_its_author(stage: Stage) -> None:
    buyer = stage.next_buyer()
    ts = await stage.workspace.post(buyer.user, SUPPORT, f"Where is my order {buyer.order.id}?")
    await stage.quiet()
    before = len(stage.workspace.ephemerals(OMAR))
    assert (await stage.workspace.shortcut(OMAR, SHORTCUT_TICKET, SUPPORT, ts)).ok
    await stage.until(lambda: len(stage.workspace.ephemerals(OMAR)) > before)

    assert "already" in stage.workspace.ephemerals(OMAR)[-1]["text"]


async def test_explain_says_who_would_get_it(stage: Stage) -> None:
    buyer = stage.next_buyer()
    ts = await stage.workspace.post(buyer.user, SUPPORT, "Where is my parcel?")
    before = len(stage.workspace.ephemerals(OMAR))
    assert (await stage.workspace.shortcut(OMAR, SHORTCUT_EXPLAIN, SUPPORT, ts)).ok
    await stage.until(lambda: len(stage.workspace.ephemerals(OMAR)) > before)

    assert "route 'order'" in stage.workspace.ephemerals(OMAR)[-1]["text"]


async def test_home_shows_what_is_mine_and_what_waits_and_is_drawn_again_after_a_click(stage: Stage) -> None:
    buyer = stage.next_buyer()
    talk, card = await ask_for_refund(stage, buyer)
    view = await home(stage, buyer.user, "Your requests", buyer.order.id)
    assert APPROVE not in repr(view)

    view = await home(stage, OMAR, buyer.order.id)
    button = next(
        (block["block_id"], element["value"])
        for block in view["blocks"]
        if block["type"] == "actions"
        for element in block["elements"]
        if element["action_id"] == APPROVE and approval(card) in element["value"]
    )
    assert (await stage.workspace.click_in_view(OMAR, view["id"], APPROVE, button[0])).ok
    await paid_once(stage, buyer, talk, card)
    await stage.until(lambda: approval(card) not in repr(stage.workspace.homes.of(OMAR)))


def approval(card: Any) -> str:
    return str(card.metadata["event_payload"]["key"]).split(":")[1]


async def test_a_language_chosen_on_home_is_the_answers_language(stage: Stage) -> None:
    buyer = stage.next_buyer()
    view = await home(stage, buyer.user, "Your requests")
    block = next(each for each in view["blocks"] if "home:language" in each.get("block_id", ""))
    click = stage.workspace.click_in_view(buyer.user, view["id"], "home:language", block["block_id"], value="zh")
    assert (await click).ok
    await shown(stage, buyer.user, "你的请求")

    assert "订单" in await stage.ask(buyer.user, SUPPORT, f"Where is my order {buyer.order.id}?")
    assert "I'll answer" in await command(stage, buyer.user, "language en")
    assert "in the language that it is written in" in await command(stage, buyer.user, "language auto")
    assert "was delivered" in await stage.ask(buyer.user, SUPPORT, f"Where is my order {buyer.order.id}?")


async def test_an_admin_sees_health(stage: Stage) -> None:
    await home(stage, ADA, "Hermes is well")


async def test_what_is_kept_of_me_is_shown_and_forgotten(stage: Stage) -> None:
    buyer: Buyer = stage.next_buyer()
    await stage.ask(buyer.user, SUPPORT, f"Where is my order {buyer.order.id}? I prefer e-mail.")
    await stage.quiet()
    assert "no way back" in await command(stage, buyer.user, "forget me")
    asked = stage.workspace.ephemerals(buyer.user)[-1]
    row = next(block for block in asked["blocks"] if block["type"] == "actions")
    assert (await stage.workspace.click(buyer.user, SUPPORT, asked["ts"], "person:forget", row["block_id"])).ok
    await stage.until(lambda: "forgotten everything" in repr(stage.workspace.messages(buyer.dm)))

    assert buyer.order.id not in await command(stage, buyer.user, "tickets")


async def test_a_person_who_opens_the_messages_is_offered_prompts(stage: Stage) -> None:
    buyer = stage.next_buyer()
    await stage.workspace.open_home(buyer.user, "messages")

    await stage.until(lambda: any(each.prompts for each in stage.workspace.sessions.in_channel(buyer.dm)))
    await stage.workspace.open_home("U0LINA", "messages")
    await stage.until(lambda: any("我要退款" in repr(each) for each in stage.workspace.sessions.in_channel("D0LINA")))


async def test_the_sessions_status_follows_the_work(stage: Stage) -> None:
    buyer = stage.next_buyer()
    talk, card = await ask_for_refund(stage, buyer)

    await stage.until(lambda: status(stage, talk.root) == "suspended")
    assert (await stage.click(OMAR, card, APPROVE)).ok
    await paid_once(stage, buyer, talk, card)
    await stage.until(lambda: status(stage, talk.root) == "active")


async def test_a_ticket_that_was_given_back_is_not_in_work_until_the_customer_writes(stage: Stage) -> None:
    buyer = stage.next_buyer()
    talk = await stage.say(buyer.user, SUPPORT, "I want to talk to a human")
    await stage.answer(talk)
    await stage.until(lambda: status(stage, talk.root) == "suspended")
    card = await stage.card("handoff", buyer.name)
    assert "with a person" not in repr(card.blocks)
    await stage.click(OMAR, card, CLAIM)
    await stage.until(lambda: "Claimed by Omar" in repr(stage.now(card).blocks))

    await stage.give_back(OMAR, card)
    await stage.until(lambda: any("I'm back" in reply.text for reply in stage.replies(talk)))
    await stage.quiet()

    assert status(stage, talk.root) == "active"


def status(stage: Stage, thread_ts: str) -> str:
    session = stage.workspace.sessions.of(SUPPORT, thread_ts)
    return session.status if session is not None else ""
