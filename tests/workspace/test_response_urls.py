"""Response URLs: five answers to a click in thirty minutes."""

import pytest
from slack_sdk.webhook.async_client import AsyncWebhookClient

from hermes_bot.workspace.clock import SettableClock
from hermes_bot.workspace.server import WorkspaceServer
from tests.workspace.bot import bot_client
from tests.workspace.clicks import Clicks, card


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
