"""Clicks, modals and response URLs, with a real bolt app on the other side."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
import pytest_asyncio
from slack_bolt.async_app import AsyncAck
from slack_sdk.errors import SlackApiError
from slack_sdk.webhook.async_client import AsyncWebhookClient

from hermes_bot.workspace.clock import SettableClock
from hermes_bot.workspace.refusal import Refusal
from hermes_bot.workspace.server import WorkspaceServer
from tests.workspace.bot import Bot, bare_socket, bot_client, running

Json = dict[str, Any]


def text(words: str) -> Json:
    return {"type": "plain_text", "text": words}


def card() -> list[Json]:
    approve = {"type": "button", "action_id": "approve", "text": text("Approve"), "value": "r1", "style": "primary"}
    reject = {"type": "button", "action_id": "reject", "text": text("Reject"), "value": "r1"}
    options = [{"text": text(name), "value": name} for name in ("red", "blue")]
    colour = {"type": "static_select", "action_id": "colour", "options": options}
    return [{"type": "actions", "block_id": "card", "elements": [approve, reject, colour]}]


def modal(**more: Any) -> Json:
    reason = {"type": "plain_text_input", "action_id": "reason", "max_length": 20}
    blocks = [{"type": "input", "block_id": "why", "label": text("Why?"), "element": reason}]
    return {
        "type": "modal",
        "callback_id": "note",
        "title": text("Note"),
        "submit": text("Send"),
        "blocks": blocks,
        **more,
    }


class Clicks:
    """The app's side: a bolt app whose listeners answer as the test says."""

    def __init__(self, bot: Bot, server: WorkspaceServer) -> None:
        self.bot = bot
        self.client = bot.client
        self.server = server
        self.payloads: list[Json] = []
        self.then: Callable[[Json], Awaitable[object]] | None = None
        self.answer: Json = {}
        bot.app.action(re.compile(".*"))(self._clicked)
        bot.app.view("note")(self._submitted)
        bot.app.view_closed("note")(self._closed)

    async def _clicked(self, ack: AsyncAck, body: Json) -> None:
        self.payloads.append(body)
        if self.then is not None:
            await self.then(body)
        await ack()

    async def _submitted(self, ack: AsyncAck, body: Json) -> None:
        self.payloads.append(body)
        await ack(**self.answer)

    async def _closed(self, ack: AsyncAck, body: Json) -> None:
        self.payloads.append(body)
        await ack()

    async def open_modal(self, **more: Any) -> Json:
        """Let Omar click, the app open a modal, and return the view as Omar has it."""

        async def open_it(body: Json) -> None:
            await self.client.views_open(trigger_id=body["trigger_id"], view=modal(**more))

        self.then = open_it
        posted = await self.client.chat_postMessage(channel="C0SUPPORT", text="card", blocks=card())
        outcome = await self.server.workspace.click("U0OMAR", "C0SUPPORT", posted["ts"], "approve")
        assert outcome.ok
        return self.server.workspace.modals("U0OMAR")[-1]


@pytest_asyncio.fixture
async def clicks(workspace: WorkspaceServer) -> AsyncIterator[Clicks]:
    async with running(workspace) as bot:
        yield Clicks(bot, workspace)


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


async def _response_url(workspace: WorkspaceServer, clicks: Clicks, *, ephemeral: bool) -> str:
    if ephemeral:
        sent = await clicks.client.chat_postEphemeral(channel="C0SUPPORT", user="U0EMMA", text="one", blocks=card())
    else:
        sent = await clicks.client.chat_postMessage(channel="C0SUPPORT", text="one", blocks=card())
    await workspace.workspace.click("U0EMMA", "C0SUPPORT", sent.get("ts") or sent["message_ts"], "approve")
    url: str = clicks.payloads[-1]["response_url"]
    return url


async def test_a_response_is_ephemeral_unless_it_says_otherwise(workspace: WorkspaceServer, clicks: Clicks) -> None:
    hook = AsyncWebhookClient(await _response_url(workspace, clicks, ephemeral=False))
    await hook.send(text="for you")
    await hook.send(text="for all", response_type="in_channel")

    assert [one["text"] for one in workspace.workspace.ephemerals("U0EMMA")] == ["for you"]
    assert [one["text"] for one in workspace.workspace.messages("C0SUPPORT")] == ["one", "for all"]


@pytest.mark.parametrize("ephemeral", [True, False])
async def test_a_response_replaces_and_deletes_what_was_clicked(
    workspace: WorkspaceServer, clicks: Clicks, ephemeral: bool
) -> None:
    def shown() -> list[tuple[str, bool]]:
        everything = workspace.workspace.ephemerals("U0EMMA") + workspace.workspace.messages("C0SUPPORT")
        return [(one["text"], "edited" in one) for one in everything]

    hook = AsyncWebhookClient(await _response_url(workspace, clicks, ephemeral=ephemeral))
    await hook.send(text="two", replace_original=True, response_type="in_channel")
    replaced = shown()
    still_private = len(workspace.workspace.ephemerals("U0EMMA"))
    await hook.send(delete_original=True)

    assert replaced == [("two", not ephemeral)]
    assert still_private == int(ephemeral)
    assert shown() == []


async def test_a_response_url_is_good_for_five_answers(workspace: WorkspaceServer, clicks: Clicks) -> None:
    hook = AsyncWebhookClient(await _response_url(workspace, clicks, ephemeral=False))
    answers = [await hook.send(text=f"answer {number}") for number in range(6)]

    assert [answer.status_code for answer in answers] == [200] * 5 + [404]
    assert "used_url" in answers[-1].body
    assert len(workspace.workspace.ephemerals("U0EMMA")) == 5


async def test_a_response_url_is_good_for_thirty_minutes(timed: WorkspaceServer, clock: SettableClock) -> None:
    posted = await bot_client(timed).chat_postMessage(channel="C0SUPPORT", text="one")
    post = timed.workspace.posts.get("C0SUPPORT", str(posted["ts"]))
    assert post is not None
    hook = AsyncWebhookClient(f"{timed.url}/response/{timed.workspace.response_urls.give('U0EMMA', post)}")
    clock.advance(1800)
    in_time = await hook.send(text="in time")
    clock.advance(1)
    late = await hook.send(text="late")
    wrong = await AsyncWebhookClient(f"{timed.url}/response/guessed").send(text="x")

    assert (in_time.status_code, late.status_code, wrong.status_code) == (200, 404, 404)
    assert "expired_url" in late.body
