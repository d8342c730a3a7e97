"""A Slack that knows few methods, an older one or another server, and what else may fail there: the work is done."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from hermes_bot.workspace.faults import ApiError, RateLimited, ServerError
from hermes_bot.workspace.server import WorkspaceServer
from tests.scenario.acts import command
from tests.scenario.bare import (
    EMMA,
    FEW,
    LEAST,
    commands_are_answered,
    counted,
    orders_are_told_of,
    people_take_over,
    refunds_are_decided,
)
from tests.scenario.cases import MORE, playing, small
from tests.scenario.field import tickets_of
from tests.scenario.stage import APPROVE, OMAR, SUPPORT, Stage, ask_for_refund, paid_once

pytestmark = pytest.mark.asyncio(loop_scope="module")

ALWAYS = 100_000
NOT_ALONE = r"reply\.ready .*user_not_in_channel"
PEOPLE = {"HERMES_APPROVALS__APPROVERS": '["U0OMAR","U0OLIVIA"]', "HERMES_PEOPLE__OPERATORS": '["U0OMAR","U0OLIVIA"]'}
Played = tuple[bool, Stage, Counter[str]]


def few(server: WorkspaceServer) -> None:
    """Let the server know a few methods."""
    server.faults.only(*FEW)


def least(server: WorkspaceServer) -> None:
    """Let the server know less than that: no groups, no forms, no Home, no direct messages, nothing about channels."""
    server.faults.only(*LEAST)


@pytest_asyncio.fixture(
    scope="module", loop_scope="module", params=["few-socket", "few-http", "least-socket", "least-http"]
)
async def played(
    request: pytest.FixtureRequest, vectors: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Played]:
    """Whether the server knows a few methods, and not the least, a bot there, and the calls that it did not know."""
    kind, _, mode = request.param.partition("-")
    prepared, more = (few, MORE) if kind == "few" else (least, MORE | PEOPLE)
    folder = tmp_path_factory.mktemp("bare")
    async with playing(mode, folder, vectors, more=more, prepared=prepared, meant=NOT_ALONE) as stage:
        with counted(stage.server) as unknown:
            yield kind == "few", stage, unknown


async def test_orders_are_told_of_in_a_channel_and_in_a_direct_message(played: Played) -> None:
    knows_few, stage, _ = played
    await orders_are_told_of(stage)

    assert bool(stage.workspace.messages(f"D{EMMA[1:]}")) is knows_few


async def test_refunds_are_decided_by_click(played: Played) -> None:
    knows_few, stage, _ = played
    await refunds_are_decided(stage, forms=knows_few)


async def test_people_take_tickets_over_and_give_them_back(played: Played) -> None:
    _, stage, _ = played
    await people_take_over(stage)


async def test_commands_are_answered_and_home_is_drawn_where_there_is_one(played: Played) -> None:
    knows_few, stage, _ = played
    await commands_are_answered(stage, with_home=knows_few)


async def test_what_the_server_does_not_know_is_not_asked_for_again_and_again(played: Played) -> None:
    _, stage, unknown = played
    await stage.ask(EMMA, SUPPORT, "Where is my order 10002?")
    await stage.quiet()
    before = unknown.total()
    await stage.ask(EMMA, SUPPORT, "Where is my order 10002?")
    await stage.quiet()

    assert unknown["agents.sessions.setStatus"] <= 1
    assert unknown.total() - before <= 5, unknown


@pytest.mark.parametrize("fault", [ServerError(), RateLimited(1)])
async def test_a_post_that_failed_for_a_while_is_made_though_nobody_can_look_for_it(
    played: Played, fault: ServerError | RateLimited
) -> None:
    _, stage, _ = played
    stage.server.faults.add(method="chat.postMessage", fault=fault, channel=SUPPORT)
    talk = await stage.say(EMMA, SUPPORT, "Where is my order 10002?")
    assert "on its way" in await stage.answer(talk)
    await stage.quiet()

    assert len(stage.replies(talk)) == 1
    assert stage.server.faults.waiting() == 0


OPTIONAL = [
    ("users.info", "user_not_found"),
    ("conversations.info", "missing_scope"),
    ("usergroups.users.list", "missing_scope"),
    ("usergroups.users.list", "plan_upgrade_required"),
    ("conversations.open", "user_disabled"),
    ("views.publish", "not_enabled"),
    ("views.open", "not_enabled"),
    ("chat.postEphemeral", "user_not_in_channel"),
]


@pytest.mark.parametrize("method, error", OPTIONAL)
async def test_where_one_more_fails_customers_are_answered_once(played: Played, method: str, error: str) -> None:
    knows_few, stage, _ = played
    buyer, other = stage.next_buyer(), stage.next_buyer()
    stage.server.faults.add(method=method, fault=ApiError(error), times=ALWAYS)
    talk = await stage.say(buyer.user, SUPPORT, f"Where is my order {buyer.order.id}?")
    await stage.answer(talk)
    asked = await stage.say(other.user, other.dm, "Can I talk to a person?")
    await stage.answer(asked)
    await stage.workspace.open_home(other.user)
    await stage.quiet()
    stage.server.faults.clear()

    (ticket,) = tickets_of(stage, talk)
    if not knows_few and method == "chat.postEphemeral":  # nothing reaches a person alone: a colleague is called
        assert ticket["owner"] == "pending_human"
    else:
        assert len(stage.replies(talk)) == len(stage.replies(asked)) == 1
    assert "request" in await command(stage, buyer.user, "tickets")


@pytest.mark.parametrize("method, error", OPTIONAL[1:])
async def test_where_one_more_fails_a_refund_is_paid_once(played: Played, method: str, error: str) -> None:
    knows_few, stage, _ = played
    buyer = small(stage)
    stage.server.faults.add(method=method, fault=ApiError(error), times=ALWAYS)
    talk, card = await ask_for_refund(stage, buyer)
    before = len(stage.whispers(OMAR, "can be decided only by"))
    assert (await stage.click(OMAR, card, APPROVE)).ok
    if method == "usergroups.users.list" and knows_few:  # nobody can be known to be an approver
        await stage.until(lambda: len(stage.whispers(OMAR, "can be decided only by")) > before)
        await stage.quiet()
        assert stage.refunds(buyer) == 0
        stage.server.faults.clear()
        assert (await stage.click(OMAR, card, APPROVE)).ok
    await paid_once(stage, buyer, talk, card)
    stage.server.faults.clear()
