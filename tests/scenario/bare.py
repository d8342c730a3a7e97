"""The work of a day, for a bot on a Slack that knows few methods or says little; and what such a Slack is like."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from hermes_bot.messages.message import utc_now
from hermes_bot.tools.demo_shop import demo_shop
from hermes_bot.workspace.server import WorkspaceServer
from tests.scenario.acts import command, home
from tests.scenario.cases import small
from tests.scenario.field import tickets_of
from tests.scenario.stage import (
    APPROVE,
    CLAIM,
    GIVE_BACK,
    HANDOFF,
    OLIVIA,
    OMAR,
    REJECT,
    SUPPORT,
    TAKE,
    Stage,
    ask_for_refund,
    handover,
    paid_once,
)

EMMA = "U0EMMA"
LEAST = ("auth.test", "apps.connections.open", "chat.postMessage", "chat.update", "chat.postEphemeral", "users.info")
FEW = (
    *LEAST,
    *("conversations.info", "conversations.open", "conversations.replies", "usergroups.users.list"),
    *("views.open", "views.publish"),
)
"""The methods that an old workspace, or another server that speaks Slack's protocol, may be expected to know."""


@contextmanager
def counted(server: WorkspaceServer) -> Iterator[Counter[str]]:
    """Count the calls of methods that the server does not know."""
    unknown: Counter[str] = Counter()
    knows = server.faults.knows

    def heard(method: str) -> bool:
        known: bool = knows(method)
        unknown[method] += not known
        return known

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server.faults, "knows", heard)
        yield unknown


async def orders_are_told_of(stage: Stage) -> None:
    """Ask for orders in a channel and in a direct message; private details reach their owner alone."""
    buyer = stage.next_buyer()
    order = next(each for each in demo_shop(utc_now().date()).orders if each.id == "10002")
    assert "was delivered" in await stage.ask(buyer.user, SUPPORT, f"Where is my order {buyer.order.id}?")
    await stage.quiet()  # details of the first answer may come there as well
    assert "was delivered" in await stage.ask(buyer.user, buyer.dm, f"Where is my order {buyer.order.id}?")
    talk = await stage.say(EMMA, SUPPORT, "Where is my order 10002?")
    assert "on its way to you" in await stage.answer(talk)
    await stage.until(lambda: order.tracking in alone(stage, EMMA))
    await stage.quiet()
    assert order.tracking not in repr(stage.workspace.posts.replies(SUPPORT, talk.root))


def alone(stage: Stage, user: str) -> str:
    """Return what the person was told where nobody else reads it."""
    direct: list[dict[str, Any]] = stage.workspace.messages(f"D{user[1:]}")
    return repr([*direct, *stage.workspace.ephemerals(user)])


async def refunds_are_decided(stage: Stage, *, forms: bool) -> None:
    """Approve one refund and reject another by click; a rejection has no reason where there are no forms."""
    first, second = small(stage), small(stage)
    talk, card = await ask_for_refund(stage, first)
    assert card.channel == HANDOFF  # who is in a channel cannot be asked there
    assert (await stage.click(OMAR, card, APPROVE)).ok
    await paid_once(stage, first, talk, card)
    talk, card = await ask_for_refund(stage, second)
    if forms:
        await stage.reject(OLIVIA, card, "Worn for weeks")
        assert "Worn for weeks" in await stage.answer(talk, 2)
    else:
        assert (await stage.click(OLIVIA, card, REJECT)).ok
        await stage.answer(talk, 2)
    await stage.quiet()
    assert stage.refunds(second) == 0


async def people_take_over(stage: Stage) -> None:
    """Call a person, claim the ticket by click, give it back by command and take it over by click."""
    buyer = stage.next_buyer()
    talk = await stage.say(buyer.user, SUPPORT, f"Can I talk to a person about {buyer.order.id}?")
    await stage.answer(talk)
    (ticket,) = tickets_of(stage, talk)
    card = await stage.card("handoff", buyer.order.id)
    assert (await stage.click(OMAR, card, CLAIM)).ok
    assert "has taken over" in await stage.answer(talk, 2)
    await stage.until(lambda: handover(stage.now(card)) == [GIVE_BACK])
    await stage.quiet()
    (ticket,) = tickets_of(stage, talk)
    assert (ticket["owner"], ticket["assignee"]) == ("human", OMAR)

    assert "passed it on" in await command(stage, OMAR, f"return T-{ticket['number']} all is well")
    assert "I'm back" in await stage.answer(talk, 3)
    await stage.until(lambda: handover(stage.now(card)) == [TAKE])
    assert (await stage.click(OLIVIA, stage.now(card), TAKE)).ok
    assert "has taken over" in await stage.answer(talk, 4)
    await stage.quiet()


async def commands_are_answered(stage: Stage, *, with_home: bool) -> None:
    """Give commands, open Home and the messages."""
    buyer = stage.next_buyer()
    await stage.ask(buyer.user, SUPPORT, f"Where is my order {buyer.order.id}?")
    assert buyer.order.id in await command(stage, buyer.user, "tickets")
    assert "Open tickets" in await command(stage, OMAR, "status")
    assert "/invite" not in await command(stage, buyer.user, "help")
    if with_home:
        await home(stage, buyer.user, buyer.order.id)
    else:
        await stage.workspace.open_home(buyer.user)
    await stage.workspace.open_home(buyer.user, "messages")
    await stage.quiet()
