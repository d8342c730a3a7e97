"""A server that leaves out of its answers, events and interactions what Slack would say: the work is done."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import pytest_asyncio

from hermes_bot.workspace.faults import Lacks
from hermes_bot.workspace.server import WorkspaceServer
from hermes_bot.workspace.sockets import Sockets
from tests.scenario.bare import (
    FEW,
    commands_are_answered,
    orders_are_told_of,
    people_take_over,
    refunds_are_decided,
)
from tests.scenario.cases import SHARED, STRANGER, playing
from tests.scenario.field import Json, bot_posts, courier_of, tickets_of
from tests.scenario.in_both_modes import MODES
from tests.scenario.stage import SUPPORT, Stage

pytestmark = pytest.mark.asyncio(loop_scope="module")

ALWAYS = 100_000
LEFT_OUT = {
    "auth.test": ("bot_id", "url", "team", "user", "is_enterprise_install"),
    "chat.postMessage": ("message", "channel"),
    "chat.update": ("message", "text", "channel", "ts"),
    "chat.postEphemeral": ("message_ts",),
    "users.info": (
        *("user.locale", "user.is_stranger", "user.is_restricted", "user.is_ultra_restricted", "user.deleted"),
        *("user.is_bot", "user.is_email_confirmed", "user.profile.real_name", "user.profile.display_name", "user.tz"),
    ),
    "conversations.info": (
        *("channel.is_ext_shared", "channel.is_pending_ext_shared", "channel.is_member", "channel.is_archived"),
        *("channel.is_im", "channel.is_private", "channel.name"),
    ),
    "conversations.open": ("already_open", "no_op"),
    "conversations.replies": ("has_more", "response_metadata"),
    "views.open": ("view",),
    "views.publish": ("view",),
}
OF_EVENTS = ("authorizations", "event_time", "event_context", "is_ext_shared_channel", "context_team_id", "token")
OF_INTERACTIONS = ("team", "enterprise", "is_enterprise_install", "token")
OF_PRESSES = (*OF_INTERACTIONS, "message", "channel", "state")


def lacking(server: WorkspaceServer) -> None:
    """Let the server know few methods, and leave out of each answer what can be done without."""
    server.faults.only(*FEW)
    for method, fields in LEFT_OUT.items():
        server.faults.add(method=method, fault=Lacks(fields), times=ALWAYS)


@contextmanager
def says_less(stage: Stage) -> Iterator[None]:
    """Let events and interactions come with few fields: of a press who, what, and where by its container alone."""
    courier = courier_of(stage)
    event, interaction = courier.send_event, courier.send_interaction

    def told(body: Json) -> None:
        event({key: value for key, value in body.items() if key not in OF_EVENTS})

    async def pressed(payload: Json, *, answerable: bool) -> Json:
        omitted = OF_PRESSES if payload["type"] == "block_actions" else OF_INTERACTIONS
        less = {key: value for key, value in payload.items() if key not in omitted}
        return await interaction(less | {"user": {"id": payload["user"]["id"]}}, answerable=answerable)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(courier, "send_event", told)
        patch.setattr(courier, "send_interaction", pressed)
        yield


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=MODES)
async def stage(
    request: pytest.FixtureRequest, vectors: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stage]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Sockets, "_hello", lambda _sockets: {"type": "hello"})
        folder = tmp_path_factory.mktemp("lacking")
        async with playing(request.param, folder, vectors, prepared=lacking) as stage:
            with says_less(stage):
                yield stage


async def test_orders_are_told_of_in_a_channel_and_in_a_direct_message(stage: Stage) -> None:
    await orders_are_told_of(stage)


async def test_refunds_are_decided_by_click(stage: Stage) -> None:
    await refunds_are_decided(stage, forms=True)


async def test_people_take_tickets_over_and_give_them_back(stage: Stage) -> None:
    await people_take_over(stage)


async def test_commands_are_answered_and_home_is_drawn(stage: Stage) -> None:
    await commands_are_answered(stage, with_home=True)


async def test_every_answer_stands_in_its_thread_once(stage: Stage) -> None:
    buyer = stage.next_buyer()
    talk = await stage.say(buyer.user, SUPPORT, f"Where is my order {buyer.order.id}?")
    await stage.answer(talk)
    await stage.quiet()

    said = [post for post in bot_posts(stage) if buyer.order.id in post.text and post.channel == SUPPORT]
    assert [post.thread_ts for post in said] == [talk.root]


async def test_somebody_of_another_company_is_a_stranger_all_the_same(stage: Stage) -> None:
    talk = await stage.say(STRANGER, SHARED, "Where is my order 10002?")
    answer = await stage.answer(talk)
    await stage.quiet()

    assert "on its way" not in answer
    assert [(each["team"], each["requester"]) for each in tickets_of(stage, talk)] == [("T0HERMES", STRANGER)]


async def test_who_has_no_profile_is_helped_by_a_person(stage: Stage) -> None:
    buyer = stage.next_buyer()
    stage.server.faults.clear()
    stage.server.faults.add(method="users.info", fault=Lacks(("user.profile", "user.locale")), times=ALWAYS)
    talk = await stage.say(buyer.user, SUPPORT, f"Where is my order {buyer.order.id}?")
    answer = await stage.answer(talk)
    await stage.quiet()

    assert "was delivered" not in answer
    assert tickets_of(stage, talk)[0]["owner"] == "pending_human"
