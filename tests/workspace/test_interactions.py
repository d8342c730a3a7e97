"""Clicks and modals, with a real bolt app on the other side."""

import asyncio
from typing import Any

import pytest
from slack_sdk.errors import SlackApiError

from hermes_bot.workspace.clock import SettableClock
from hermes_bot.workspace.refusal import Refusal
from hermes_bot.workspace.server import WorkspaceServer
from tests.workspace.bot import bare_socket, bot_client
from tests.workspace.clicks import Clicks, card, modal, text

Json = dict[str, Any]


async def test_a_click_brings_the_button_the_message_and_the_person(workspace: WorkspaceServer, clicks: Clicks) -> None:
    parent = await workspace.workspace.post("U0EMMA", "C0SUPPORT", "refund please")
    posted = await clicks.client.chat_postMessage(channel="C0SUPPORT", text="card", blocks=card(), thread_ts=parent)
    outcome = await workspace.workspace.click("U0OMAR", "C0SUPPORT", posted["ts"], "reject", "card")
    (payload,) = clicks.payloads

    assert outcome.ok
    (action,) = payload["actions"]
    assert (action["action_id"], action["value"], action["block_id"]) == ("reject", "r1", "card")
    assert (payload["user"]["id"], payload["user"]["team_id"]) == ("U0OMAR", "T0HERMES")
    assert payload["channel"]["id"] == "C0SUPPORT"
    assert (payload["message"]["ts"], payload["message"]["thread_ts"]) == (posted["ts"], parent)
    assert payload["container"] == {
        "type": "message",
        "message_ts": posted["ts"],
        "channel_id": "C0SUPPORT",
        "is_ephemeral": False,
        "thread_ts": parent,
    }


async def test_a_choice_is_sent_with_its_option(workspace: WorkspaceServer, clicks: Clicks) -> None:
    posted = await clicks.client.chat_postMessage(channel="C0SUPPORT", text="card", blocks=card())
    await workspace.workspace.click("U0OMAR", "C0SUPPORT", posted["ts"], "colour", value="blue")

    assert clicks.payloads[0]["actions"][0]["selected_option"]["value"] == "blue"
    with pytest.raises(Refusal, match="invalid_value"):
        await workspace.workspace.click("U0OMAR", "C0SUPPORT", posted["ts"], "colour", value="green")


async def test_a_click_on_an_ephemeral_carries_no_message(workspace: WorkspaceServer, clicks: Clicks) -> None:
    sent = await clicks.client.chat_postEphemeral(channel="C0SUPPORT", user="U0EMMA", text="choose", blocks=card())
    await workspace.workspace.click("U0EMMA", "C0SUPPORT", sent["message_ts"], "approve")
    (payload,) = clicks.payloads

    assert payload["container"]["is_ephemeral"] is True
    assert "message" not in payload
    assert payload["response_url"].startswith(f"{workspace.url}/response/")


async def test_nobody_clicks_what_they_cannot_see(workspace: WorkspaceServer, clicks: Clicks) -> None:
    sent = await clicks.client.chat_postEphemeral(channel="C0SUPPORT", user="U0EMMA", text="choose", blocks=card())
    posted = await clicks.client.chat_postMessage(channel="C0HANDOFF", text="card", blocks=card())

    with pytest.raises(Refusal, match="message_not_found"):
        await workspace.workspace.click("U0LINA", "C0SUPPORT", sent["message_ts"], "approve")
    with pytest.raises(Refusal, match="not_in_channel"):
        await workspace.workspace.click("U0LINA", "C0HANDOFF", posted["ts"], "approve")
    with pytest.raises(Refusal, match="action_not_found"):
        await workspace.workspace.click("U0OMAR", "C0HANDOFF", posted["ts"], "dance")
    assert clicks.payloads == []


async def test_a_click_that_is_not_acknowledged_in_3_s_is_an_error_and_never_comes_again(
    timed: WorkspaceServer, clock: SettableClock
) -> None:
    posted = await bot_client(timed).chat_postMessage(channel="C0SUPPORT", text="card", blocks=card())
    async with bare_socket(timed) as socket:
        frames = [await socket.frame(), await socket.frame()]
        await socket.ack(frames[1])
        await timed.workspace.wait_for(lambda: timed.unsettled == 0)
        outcome = await _click_and_let_time_pass(timed, clock, str(posted["ts"]), 3)
        click = await socket.frame()
        clock.advance(1000)
        await timed.workspace.post("U0EMMA", "C0SUPPORT", "next")
        after = await socket.frame()

    assert (outcome.ok, outcome.error) == (False, "not_acknowledged")
    assert (click["type"], click["accepts_response_payload"]) == ("interactive", True)
    assert after["type"] == "events_api"


async def _click_and_let_time_pass(server: WorkspaceServer, clock: SettableClock, ts: str, seconds: float) -> Any:
    click = asyncio.ensure_future(server.workspace.click("U0OMAR", "C0SUPPORT", ts, "approve"))
    await server.workspace.wait_for(lambda: clock.waiting() > 0)
    clock.advance(seconds)
    return await click


async def test_a_click_without_a_connected_app_is_an_error_at_once(workspace: WorkspaceServer) -> None:
    posted = await bot_client(workspace).chat_postMessage(channel="C0SUPPORT", text="card", blocks=card())
    outcome = await workspace.workspace.click("U0OMAR", "C0SUPPORT", posted["ts"], "approve")

    assert (outcome.ok, outcome.error) == (False, "no_connection")


async def test_a_trigger_opens_one_modal(workspace: WorkspaceServer, clicks: Clicks) -> None:
    view = await clicks.open_modal(private_metadata="t1")
    trigger = clicks.payloads[0]["trigger_id"]
    with pytest.raises(SlackApiError, match="exchanged_trigger_id"):
        await clicks.client.views_open(trigger_id=trigger, view=modal())
    with pytest.raises(SlackApiError, match="invalid_trigger_id"):
        await clicks.client.views_open(trigger_id="1.2.3", view=modal())

    assert (view["callback_id"], view["private_metadata"], view["type"]) == ("note", "t1", "modal")
    assert workspace.workspace.modals("U0LINA") == []


async def test_a_trigger_expires_after_3_s(timed: WorkspaceServer, clock: SettableClock) -> None:
    client = bot_client(timed)
    in_time, late = timed.workspace.triggers.give("U0OMAR"), timed.workspace.triggers.give("U0OMAR")
    clock.advance(3)
    opened = await client.views_open(trigger_id=in_time, view=modal())
    clock.advance(0.5)
    with pytest.raises(SlackApiError, match="expired_trigger_id"):
        await client.views_open(trigger_id=late, view=modal())

    assert opened["view"]["id"] == timed.workspace.modals("U0OMAR")[0]["id"]


async def test_a_modal_that_slack_would_not_take_is_refused_with_the_place(
    workspace: WorkspaceServer, clicks: Clicks
) -> None:
    trigger = workspace.workspace.triggers.give("U0OMAR")
    too_long = modal(title=text("x" * 25), private_metadata="x" * 3001)
    too_long.pop("submit")
    with pytest.raises(SlackApiError) as failed:
        await clicks.client.views_open(trigger_id=trigger, view=too_long)
    with pytest.raises(SlackApiError, match="view_too_large"):
        await clicks.client.views_open(trigger_id=trigger, view=modal(private_metadata="x" * 250_000))

    assert failed.value.response["error"] == "invalid_arguments"
    assert failed.value.response["response_metadata"]["messages"] == [
        "[ERROR] must be less than 25 characters [json-pointer:/view/title/text]",
        "[ERROR] must be less than 3001 characters [json-pointer:/view/private_metadata]",
        "[ERROR] missing required field: submit [json-pointer:/view]",
    ]
    assert (await clicks.client.views_open(trigger_id=trigger, view=modal()))["ok"] is True


async def test_views_update_minds_the_hash(workspace: WorkspaceServer, clicks: Clicks) -> None:
    view = await clicks.open_modal()
    new = await clicks.client.views_update(view_id=view["id"], hash=view["hash"], view=modal(title=text("New")))
    with pytest.raises(SlackApiError, match="hash_conflict"):
        await clicks.client.views_update(view_id=view["id"], hash=view["hash"], view=modal())
    with pytest.raises(SlackApiError, match="not_found"):
        await clicks.client.views_update(view_id="V0NONE", view=modal())

    (shown,) = workspace.workspace.modals("U0OMAR")
    assert (shown["id"], shown["title"]["text"], new["view"]["id"]) == (view["id"], "New", view["id"])


async def test_a_submission_brings_what_was_filled_in_and_closes_the_modal(
    workspace: WorkspaceServer, clicks: Clicks
) -> None:
    view = await clicks.open_modal()
    outcome = await workspace.workspace.submit("U0OMAR", view["id"], {"why": {"reason": "too late"}})
    payload = clicks.payloads[-1]

    assert outcome.ok
    assert payload["type"] == "view_submission"
    assert payload["view"]["state"]["values"] == {"why": {"reason": {"type": "plain_text_input", "value": "too late"}}}
    assert workspace.workspace.modals("U0OMAR") == []


async def test_an_empty_required_input_is_caught_before_the_app_is_asked(
    workspace: WorkspaceServer, clicks: Clicks
) -> None:
    view = await clicks.open_modal()
    empty = await workspace.workspace.submit("U0OMAR", view["id"], {})
    long = await workspace.workspace.submit("U0OMAR", view["id"], {"why": {"reason": "x" * 21}})

    assert (set(empty.errors), set(long.errors)) == ({"why"}, {"why"})
    assert [payload["type"] for payload in clicks.payloads] == ["block_actions"]
    assert len(workspace.workspace.modals("U0OMAR")) == 1


async def test_errors_from_the_app_keep_the_modal_open(workspace: WorkspaceServer, clicks: Clicks) -> None:
    view = await clicks.open_modal()
    clicks.answer = {"response_action": "errors", "errors": {"why": "Say more."}}
    outcome = await workspace.workspace.submit("U0OMAR", view["id"], {"why": {"reason": "no"}})

    assert (outcome.ok, outcome.errors) == (False, {"why": "Say more."})
    assert len(workspace.workspace.modals("U0OMAR")) == 1


async def test_an_update_from_the_app_redraws_the_modal(workspace: WorkspaceServer, clicks: Clicks) -> None:
    view = await clicks.open_modal()
    clicks.answer = {"response_action": "update", "view": modal(title=text("Second"))}
    outcome = await workspace.workspace.submit("U0OMAR", view["id"], {"why": {"reason": "yes"}})

    (shown,) = workspace.workspace.modals("U0OMAR")
    assert (outcome.ok, shown["id"], shown["title"]["text"]) == (True, view["id"], "Second")


async def test_clear_from_the_app_closes_every_modal(workspace: WorkspaceServer, clicks: Clicks) -> None:
    await clicks.open_modal()
    view = await clicks.open_modal()
    clicks.answer = {"response_action": "clear"}
    await workspace.workspace.submit("U0OMAR", view["id"], {"why": {"reason": "yes"}})

    assert workspace.workspace.modals("U0OMAR") == []


async def test_a_modal_that_clears_on_close_takes_the_others_with_it(
    workspace: WorkspaceServer, clicks: Clicks
) -> None:
    await clicks.open_modal()
    top = await clicks.open_modal(clear_on_close=True, notify_on_close=True)
    await workspace.workspace.close_view("U0OMAR", top["id"])

    assert workspace.workspace.modals("U0OMAR") == []
    assert clicks.payloads[-1]["is_cleared"] is True


async def test_a_fourth_modal_is_refused(workspace: WorkspaceServer, clicks: Clicks) -> None:
    for _ in range(3):
        await clicks.open_modal()
    trigger = workspace.workspace.triggers.give("U0OMAR")
    with pytest.raises(SlackApiError, match="no more than 3 views in a stack"):
        await clicks.client.views_open(trigger_id=trigger, view=modal())

    assert len(workspace.workspace.modals("U0OMAR")) == 3


async def test_a_click_in_a_modal_brings_the_view_and_no_channel(workspace: WorkspaceServer, clicks: Clicks) -> None:
    view = await clicks.open_modal(blocks=card())
    clicks.then = None
    outcome = await workspace.workspace.click_in_view("U0OMAR", view["id"], "reject")
    payload = clicks.payloads[-1]

    assert outcome.ok
    assert payload["container"] == {"type": "view", "view_id": view["id"]}
    assert payload["view"]["id"] == view["id"]
    assert not {"channel", "message"} & set(payload)


async def test_the_app_hears_of_a_closed_modal_only_when_it_asked(workspace: WorkspaceServer, clicks: Clicks) -> None:
    silent = await clicks.open_modal()
    await workspace.workspace.close_view("U0OMAR", silent["id"])
    heard = await clicks.open_modal(notify_on_close=True)
    await workspace.workspace.close_view("U0OMAR", heard["id"])

    closed = [payload["view"]["id"] for payload in clicks.payloads if payload["type"] == "view_closed"]
    assert closed == [heard["id"]]
    with pytest.raises(Refusal, match="view_not_found"):
        await workspace.workspace.submit("U0OMAR", heard["id"], {})
