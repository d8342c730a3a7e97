"""People of another company and guests: customers without a role, whatever they write, press or open; in both modes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from hermes_bot.edge.command_words import VERBS
from hermes_bot.edge.manifest import SHORTCUT_EXPLAIN, SHORTCUT_TICKET
from hermes_bot.workspace.people import Channel, Member, World
from tests.scenario.acts import command, home, shortcut
from tests.scenario.cases import GUEST, SHARED, STRANGER, approval_of, playing, small, told
from tests.scenario.field import bot_posts, rows, ticket_count, tickets_of
from tests.scenario.in_both_modes import MODES
from tests.scenario.stage import APPROVE, CLAIM, HANDOFF, OMAR, SUPPORT, Stage, ask_for_refund, handover, paid_once

pytestmark = pytest.mark.asyncio(loop_scope="module")

SINGLE, TWIN = "U0SINGLE", "U0TWIN"
STAFF_VERBS = sorted(
    {*VERBS.values()} - {"help", "status", "tickets", "memory", "forget", "language", "rate", "stop", "approvals"}
)
FOR_THE_TEAM = ("support team", "Only approvers", "Only admins")


def outsiders(world: World) -> World:
    """Return the world with a guest of one channel, and with somebody of another company who has a customer's address.

    Both stand in the groups of those who approve and of those who work here.
    """
    emma = next(each for each in world.members if each.id == "U0EMMA")
    more = (
        Member(id=SINGLE, name="Einzel", email="einzel@example.com", single_channel_guest=True),
        Member(id=TWIN, name="Emma Fischer", email=emma.email, stranger=True, team="T9OTHER"),
    )
    groups = tuple(replace(each, members=(*each.members, SINGLE, TWIN, GUEST, STRANGER)) for each in world.groups)
    shown = (SUPPORT, SHARED, HANDOFF)
    channels = tuple(
        _with(each, SINGLE, TWIN, STRANGER, GUEST) if each.id in shown else each for each in world.channels
    )
    return replace(world, members=(*world.members, *more), groups=groups, channels=channels)


def _with(channel: Channel, *people: str) -> Channel:
    return replace(channel, members=tuple(dict.fromkeys((*channel.members, *people))))


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=MODES)
async def stage(
    request: pytest.FixtureRequest, vectors: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stage]:
    async with playing(request.param, tmp_path_factory.mktemp("outsiders"), vectors, shaped=outsiders) as stage:
        yield stage


async def test_a_strangers_address_opens_nobodys_orders(stage: Stage) -> None:
    talk = await stage.say(TWIN, SHARED, "Where is my order 10002?")
    answer = await stage.answer(talk)
    await stage.quiet()

    assert "on its way" not in answer
    (ticket,) = tickets_of(stage, talk)
    assert (ticket["team"], ticket["requester"]) == ("T0HERMES", TWIN)
    assert [post for post in bot_posts(stage) if post.channel.startswith("D")] == []
    assert "10002" not in await command(stage, "U0EMMA", "tickets")


@pytest.mark.parametrize("user", [STRANGER, TWIN])
async def test_every_command_of_a_strangers_is_answered_with_the_same_refusal(stage: Stage, user: str) -> None:
    before, tickets = len(stage.workspace.ephemerals(user)), ticket_count(stage)
    told = [await command(stage, user, f"{verb} T-1 APR-1 x", SHARED) for verb in sorted({*VERBS.values()})]
    await stage.quiet()

    assert set(told) == {told[0]}
    assert "people of this company" in told[0]
    assert len(stage.workspace.ephemerals(user)) == before + len(told)
    assert ticket_count(stage) == tickets
    assert rows(stage, "SELECT * FROM preferences WHERE user = ?", user) == []


@pytest.mark.parametrize("user", [GUEST, SINGLE])
async def test_a_guest_has_the_commands_of_a_customer_and_no_others(stage: Stage, user: str) -> None:
    talk = await stage.say(user, SUPPORT, "Can I talk to a person?")
    await stage.answer(talk)
    (ticket,) = tickets_of(stage, talk)
    mine = f"T-{ticket['number']}"
    told = {verb: await command(stage, user, f"{verb} {mine} abcdefgh x") for verb in (*STAFF_VERBS, "approvals")}
    await stage.quiet()

    assert [verb for verb, text in told.items() if not any(words in text for words in FOR_THE_TEAM)] == []
    assert mine in await command(stage, user, "tickets")
    assert "Waiting for a person" not in await command(stage, user, "tickets")
    assert "Your open requests" in await command(stage, user, "status")
    assert "approve APR" not in await command(stage, user, "help")
    assert tickets_of(stage, talk)[0]["owner"] == "pending_human"


@pytest.mark.parametrize("user", [STRANGER, TWIN, GUEST, SINGLE])
async def test_the_buttons_of_the_team_do_nothing_for_an_outsider(stage: Stage, user: str) -> None:
    buyer = small(stage)
    talk, card = await ask_for_refund(stage, buyer, SHARED)
    await stage.say(buyer.user, buyer.dm, "Can I talk to a person?")
    handoff = await stage.card("handoff", buyer.name)
    before = len(stage.whispers(user, "Only the support team"))
    await stage.click(user, card, APPROVE)
    await stage.click(user, handoff, CLAIM)
    await stage.until(lambda: ("refused", user) in told(stage.data, approval_of(card)))
    await stage.until(lambda: len(stage.whispers(user, "Only the support team")) > before)
    await stage.quiet()

    assert card.channel == HANDOFF
    assert stage.refunds(buyer) == 0
    assert handover(stage.now(handoff)) == [CLAIM]
    assert (await stage.click(OMAR, card, APPROVE)).ok
    await paid_once(stage, buyer, talk, card)


async def test_shortcuts_are_refused_to_strangers_and_explain_to_guests(stage: Stage) -> None:
    ts = await stage.workspace.post(OMAR, HANDOFF, "Where is my parcel?")
    in_shared = await stage.workspace.post(STRANGER, SHARED, "Hello")
    await stage.quiet()
    tickets = ticket_count(stage)

    assert "people of this company" in await shortcut(stage, STRANGER, SHORTCUT_TICKET, SHARED, in_shared)
    assert "people of this company" in await shortcut(stage, TWIN, SHORTCUT_EXPLAIN, SHARED, in_shared)
    assert "support team" in await shortcut(stage, GUEST, SHORTCUT_EXPLAIN, HANDOFF, ts)
    assert "wrote the message" in await shortcut(stage, SINGLE, SHORTCUT_TICKET, HANDOFF, ts)
    await stage.quiet()
    assert ticket_count(stage) == tickets


async def test_home_shows_a_guest_their_own_and_a_stranger_nothing(stage: Stage) -> None:
    buyer = small(stage)
    talk, card = await ask_for_refund(stage, buyer)
    guest, stranger = await home(stage, GUEST, "Your requests"), await home(stage, STRANGER, "of this company")
    await stage.quiet()

    for view in (guest, stranger):
        shown = repr(view)
        assert buyer.order.id not in shown
        assert APPROVE not in shown
        assert CLAIM not in shown
        assert "Hermes is well" not in shown
    assert (await stage.click(OMAR, card, APPROVE)).ok
    await paid_once(stage, buyer, talk, card)


async def test_an_outsiders_answer_to_a_person_stays_in_their_own_thread(stage: Stage) -> None:
    buyer = stage.next_buyer()
    talk = await stage.say(buyer.user, SHARED, "Can I talk to a person?")
    await stage.answer(talk)
    other = await stage.say(STRANGER, SHARED, "Where is my order 10002?", talk.root)
    await stage.answer(other)
    await stage.quiet()

    of_both = {ticket["requester"]: ticket["owner"] for ticket in tickets_of(stage, talk)}
    assert set(of_both) == {buyer.user, STRANGER}
    assert of_both[buyer.user] == "pending_human"  # a stranger in the group of those who work here takes nothing
