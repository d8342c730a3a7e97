"""Field cases of kind I, payloads of interactivity: I1, I3 and their relatives, over sockets and over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from hermes_bot.workspace.clock import SettableClock
from hermes_bot.workspace.refusal import Refusal
from tests.scenario.cases import approval_of, playing, small, told
from tests.scenario.field import APP_ID, TEAM, Json, courier_of, ticket_count
from tests.scenario.in_both_modes import MODES
from tests.scenario.stage import APPROVE, OMAR, REJECT, SUPPORT, Stage, ask_for_refund, buttons, paid_once

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def clock() -> SettableClock:
    """The workspace's clock, by which response URLs grow old."""
    return SettableClock()


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=MODES)
async def stage(
    request: pytest.FixtureRequest, clock: SettableClock, vectors: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stage]:
    async with playing(request.param, tmp_path_factory.mktemp("cases"), vectors, clock=clock) as stage:
        yield stage


def pressed(user: str, action_id: str, value: str = "", **more: Any) -> Json:
    """Return a press that Slack tells of with as little as it may: no channel, no message, no response_url."""
    action = {"type": "button", "action_id": action_id, "block_id": "b", "value": value, "action_ts": "1764500000.1"}
    return {
        "type": "block_actions",
        "user": {"id": user, "username": "x", "name": "x", "team_id": TEAM},
        "team": {"id": TEAM, "domain": "x"},
        "api_app_id": APP_ID,
        "token": "x",
        "trigger_id": "1.2.x",
        "container": {"type": "view", "view_id": "V0X"},
        "actions": [action],
        **more,
    }


async def send(stage: Stage, payload: Json) -> None:
    """Let an interaction reach the bot, which acknowledges it, or Refusal fails the test."""
    await courier_of(stage).send_interaction(payload, answerable=True)


VIEW = {"id": "V0X", "type": "home", "callback_id": "", "private_metadata": "", "blocks": [], "state": {"values": {}}}
SHAPES: list[Json] = [
    {},
    {"view": VIEW},
    {"view": VIEW | {"type": "modal"}, "team": None},
    {"team": None, "enterprise": {"id": "E1", "name": "E"}, "is_enterprise_install": True},
    {"container": None, "message": None, "channel": None, "response_url": None, "trigger_id": None},
    {"container": {}, "channel": {}, "message": {}, "response_url": ""},
    {"container": {"type": "message", "is_ephemeral": True, "channel_id": SUPPORT, "message_ts": "1.1"}},
    {"state": None, "message": {"ts": 1.5}, "channel": "C0SUPPORT"},
    {"response_url": "not a url"},
    {"response_url": "http://127.0.0.1:1/nobody"},
]
ACTIONS = (
    APPROVE, "approval:reject", "approval:edit", "approval:ask", "handoff:claim", "handoff:return", "ticket:take",
    "ticket:assign", "ticket:priority", "ticket:solve", "ticket:reply", "route:wrong", "choice:1", "feedback:up",
    "nobody:knows", "",
)  # fmt: skip
VALUES = ("", "{", "null", "[]", "x" * 2_000, '{"approval_id":"AP-1","version":"x"}', '{"ticket_id":"T-999999"}')


async def test_i1_presses_without_channel_message_and_response_url_crash_nothing_and_do_nothing(stage: Stage) -> None:
    buyer = small(stage)
    talk, card = await ask_for_refund(stage, buyer)
    tickets = ticket_count(stage)
    for number, shape in enumerate(SHAPES):
        for action_id in ACTIONS:
            await send(stage, pressed(OMAR, action_id, VALUES[number % len(VALUES)], **shape))
    for value in VALUES:
        await send(stage, pressed(OMAR, APPROVE, value))
    await stage.quiet()

    assert ticket_count(stage) == tickets
    assert [what for what, _ in told(stage.data, approval_of(card)) if what in ("approved", "rejected")] == []
    assert stage.refunds(buyer) == 0
    assert (await stage.click(OMAR, card, APPROVE)).ok  # a later good click still works
    await paid_once(stage, buyer, talk, card)


async def test_i1_submissions_and_closed_views_that_nobody_opened_do_nothing(stage: Stage) -> None:
    tickets = ticket_count(stage)
    head = {key: value for key, value in pressed(OMAR, "").items() if key not in ("type", "actions", "container")}
    for callback_id in ("approval:reject", "approval:edit", "approval:ask", "reject", "reply", "correction", "x", ""):
        for metadata in VALUES:
            view = VIEW | {"type": "modal", "callback_id": callback_id, "private_metadata": metadata}
            states: tuple[Json | None, ...] = ({"values": {}}, None, {"values": {"text": {"text": {"value": "hello"}}}})
            for state in states:
                await send(stage, head | {"type": "view_submission", "view": view | {"state": state}})
        await send(stage, head | {"type": "view_closed", "view": VIEW | {"callback_id": callback_id}})
    await stage.quiet()

    assert ticket_count(stage) == tickets


OTHER_KINDS: dict[str, Json] = {
    "a button of an attachment": {"type": "interactive_message", "callback_id": "x", "actions": [{"name": "a"}]},
    "a dialog": {"type": "dialog_submission", "callback_id": "x", "submission": {}},
    "a dialog that is closed": {"type": "dialog_cancellation", "callback_id": "x"},
    "a shortcut of nobody's": {"type": "shortcut", "callback_id": "x", "action_ts": "1.1"},
    "a shortcut of ours without its message": {"type": "message_action", "callback_id": "make_ticket"},
    "a step of a workflow": {"type": "workflow_step_edit", "callback_id": "x", "workflow_step": {}},
    "a closed view": {"type": "view_closed", "view": VIEW, "is_cleared": True},
    "something new": {"type": "new_of_2027"},
}


@pytest.mark.parametrize("kind", OTHER_KINDS)
async def test_i_what_is_none_of_our_buttons_is_acknowledged_and_does_nothing(stage: Stage, kind: str) -> None:
    tickets = ticket_count(stage)
    head = {key: each for key, each in pressed(OMAR, "").items() if key not in ("type", "actions", "container")}
    await send(stage, head | OTHER_KINDS[kind])
    await stage.quiet()

    assert ticket_count(stage) == tickets


@pytest.mark.parametrize("type_", ["block_suggestion", "dialog_suggestion"])
async def test_i_a_menu_that_asks_for_options_gets_none_instead_of_an_error(stage: Stage, type_: str) -> None:
    asked = {"type": type_, "action_id": "x", "block_id": "b", "callback_id": "x", "name": "x", "value": "typed"}
    head = {key: each for key, each in pressed(OMAR, "").items() if key not in ("type", "actions", "trigger_id")}

    assert await courier_of(stage).send_interaction(head | asked, answerable=True) == {"options": []}


async def test_i_a_form_that_comes_several_times_at_once_decides_once(stage: Stage) -> None:
    buyer = small(stage)
    talk, card = await ask_for_refund(stage, buyer)
    before = len(stage.workspace.modals(OMAR))
    await stage.click(OMAR, card, REJECT)
    await stage.until(lambda: len(stage.workspace.modals(OMAR)) > before)
    view = stage.workspace.modals(OMAR)[-1]
    state = {"values": {"reason": {"reason": {"type": "plain_text_input", "value": "Worn for weeks"}}}}
    head = {key: each for key, each in pressed(OMAR, "").items() if key not in ("type", "actions", "container")}
    form = head | {"type": "view_submission", "view": dict(view) | {"state": state}}
    await asyncio.gather(*(send(stage, form) for _ in range(5)))
    assert "Worn for weeks" in await stage.answer(talk, 2)
    await stage.quiet()
    await stage.workspace.close_view(OMAR, view["id"])

    assert [what for what, _ in told(stage.data, approval_of(card)) if what == "rejected"] == ["rejected"]
    assert len(stage.replies(talk)) == 2


async def test_i3_a_button_of_an_ephemeral_works_when_its_response_url_is_used_up_or_old(
    stage: Stage, clock: SettableClock
) -> None:
    for spoil in ("used", "expired", "gone"):
        buyer = stage.next_buyer()
        talk = await stage.say(buyer.user, SUPPORT, f"Where is my order {buyer.order.id}?")
        await stage.answer(talk)
        await stage.quiet()
        before = len(stage.whispers(OMAR, "You wrote in the thread"))
        await stage.say(OMAR, SUPPORT, "I am looking into this", talk.root)
        await stage.until(partial(_more_asked, stage, before))
        asked = [each for each in stage.workspace.ephemerals(OMAR) if "You wrote in the thread" in each["text"]][-1]
        await press_with_a_bad_url(stage, clock, asked, spoil)
        assert "has taken over" in await stage.answer(talk, 2)
        await stage.quiet()

        assert len(stage.replies(talk)) == 2


def _more_asked(stage: Stage, before: int) -> bool:
    return len(stage.whispers(OMAR, "You wrote in the thread")) > before


async def press_with_a_bad_url(stage: Stage, clock: SettableClock, asked: Json, spoil: str) -> None:
    """Press Take over under an ephemeral whose response URL Slack will not take any more."""
    urls = stage.workspace.response_urls
    elements = [each for block in asked["blocks"] if block["type"] == "actions" for each in block["elements"]]
    take = next(each for each in elements if each["text"]["text"] == "Take over")
    post = stage.workspace.posts.seen(OMAR, asked["channel"], asked["ts"])
    url = urls.url(OMAR, post, stage.server.world.app)
    secret = url.rpartition("/")[2]
    if spoil == "used":
        for _ in range(5):
            with pytest.raises(Refusal, match="no_text"):
                urls.respond(secret, {}, None)
    elif spoil == "expired":
        clock.advance(1_801.0)
    else:
        url = f"{url}0"
    place = {"type": "message", "is_ephemeral": True, "channel_id": asked["channel"], "message_ts": asked["ts"]}
    more = {"container": place, "channel": {"id": asked["channel"]}, "response_url": url}
    payload = pressed(OMAR, take["action_id"], take["value"], **more)
    payload["actions"][0]["text"] = take["text"]
    payload["actions"][0]["action_ts"] = asked["ts"]
    await send(stage, payload)


async def test_i3_a_card_stays_as_it_is_for_one_who_presses_with_an_old_url(stage: Stage) -> None:
    buyer = small(stage)
    talk, card = await ask_for_refund(stage, buyer)
    await stage.workspace.click("U0GUEST", card.channel, card.ts, APPROVE)
    await stage.quiet()

    assert APPROVE in buttons(stage.now(card))
    assert stage.refunds(buyer) == 0
    assert (await stage.click(OMAR, card, APPROVE)).ok
    await paid_once(stage, buyer, talk, card)
