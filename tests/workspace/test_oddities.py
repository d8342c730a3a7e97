"""Edits, deletions, tombstones, broadcasts, and what reaches an app in Slack's own, odd shapes."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from hermes_bot.workspace.refusal import Refusal
from hermes_bot.workspace.server import WorkspaceServer
from tests.workspace.bot import Bot, running

Json = dict[str, Any]


@pytest_asyncio.fixture
async def bot(workspace: WorkspaceServer) -> AsyncIterator[Bot]:
    async with running(workspace) as bot:
        yield bot


async def heard(server: WorkspaceServer, bot: Bot) -> list[Json]:
    await server.workspace.wait_for(lambda: server.unsettled == 0)
    return bot.events


async def test_an_edit_shows_both_texts_and_has_neither_at_its_top(workspace: WorkspaceServer, bot: Bot) -> None:
    ts = await workspace.workspace.post("U0EMMA", "C0SUPPORT", "Where is my ordr?")
    await workspace.workspace.edit("U0EMMA", "C0SUPPORT", ts, "Where is my order & bill?")
    (_, event) = await heard(workspace, bot)

    assert (event["subtype"], event["hidden"], event["channel"]) == ("message_changed", True, "C0SUPPORT")
    assert event["message"]["text"] == "Where is my order &amp; bill?"
    assert (event["message"]["edited"]["user"], event["message"]["ts"]) == ("U0EMMA", ts)
    assert (event["previous_message"]["text"], event["previous_message"]["ts"]) == ("Where is my ordr?", ts)
    assert not {"user", "text", "thread_ts"} & set(event)
    assert event["ts"] != ts


async def test_a_deletion_shows_what_was_there(workspace: WorkspaceServer, bot: Bot) -> None:
    ts = await workspace.workspace.post("U0EMMA", "C0SUPPORT", "never mind")
    await workspace.workspace.delete("U0EMMA", "C0SUPPORT", ts)
    (_, event) = await heard(workspace, bot)

    assert (event["subtype"], event["deleted_ts"]) == ("message_deleted", ts)
    assert event["previous_message"]["text"] == "never mind"
    assert workspace.workspace.messages("C0SUPPORT") == []


async def test_a_parent_with_replies_leaves_a_tombstone_until_the_last_reply_goes(
    workspace: WorkspaceServer, bot: Bot
) -> None:
    ts = await workspace.workspace.post("U0EMMA", "C0SUPPORT", "hello")
    reply = await workspace.workspace.post("U0OMAR", "C0SUPPORT", "yes?", ts)
    await workspace.workspace.delete("U0EMMA", "C0SUPPORT", ts)
    (grave, _) = workspace.workspace.messages("C0SUPPORT", ts)
    await workspace.workspace.delete("U0OMAR", "C0SUPPORT", reply)
    events = (await heard(workspace, bot))[2:]

    assert (grave["user"], grave["text"]) == ("USLACKBOT", "This message was deleted.")
    assert (grave["subtype"], grave["hidden"], grave["reply_count"]) == ("tombstone", True, 1)
    assert [event["subtype"] for event in events] == ["message_changed", "message_deleted", "message_deleted"]
    assert events[0]["message"]["subtype"] == "tombstone"
    assert workspace.workspace.messages("C0SUPPORT") == []


async def test_an_answer_to_a_deleted_parent_lands_at_the_root(workspace: WorkspaceServer, bot: Bot) -> None:
    ts = await workspace.workspace.post("U0EMMA", "C0SUPPORT", "hello")
    await workspace.workspace.delete("U0EMMA", "C0SUPPORT", ts)
    posted = await bot.client.chat_postMessage(channel="C0SUPPORT", thread_ts=ts, text="late")

    assert "thread_ts" not in posted["message"]


async def test_the_author_of_tombstones_is_somebody_and_no_bot(bot: Bot) -> None:
    slackbot = (await bot.client.users_info(user="USLACKBOT"))["user"]

    assert (slackbot["id"], slackbot["is_bot"]) == ("USLACKBOT", False)


@pytest.mark.parametrize(
    "text,blocks",
    [
        ("`<@U0HERMES>`", ()),
        ("<@U0HERMES|hermes> hi", ()),
        ("hi", ({"type": "rich_text", "elements": [{"type": "user", "user_id": "U0HERMES"}]},)),
    ],
)
async def test_a_mention_may_stand_in_code_or_in_blocks_alone(
    workspace: WorkspaceServer, bot: Bot, text: str, blocks: tuple[Json, ...]
) -> None:
    await workspace.workspace.post("U0EMMA", "C0SUPPORT", text, raw=True, blocks=blocks)

    assert [event["type"] for event in await heard(workspace, bot)] == ["message", "app_mention"]


async def test_in_an_archived_channel_nothing_is_redrawn(workspace: WorkspaceServer, bot: Bot) -> None:
    posted = await bot.client.chat_postMessage(channel="C0SUPPORT", text="hello")
    await workspace.workspace.archive("C0SUPPORT")

    with pytest.raises(SlackApiError, match="is_inactive"):
        await bot.client.chat_update(channel="C0SUPPORT", ts=posted["ts"], text="more")


async def test_nobody_changes_what_another_wrote(workspace: WorkspaceServer) -> None:
    ts = await workspace.workspace.post("U0EMMA", "C0SUPPORT", "mine")

    with pytest.raises(Refusal, match="cant_update_message"):
        await workspace.workspace.edit("U0OMAR", "C0SUPPORT", ts, "yours")
    with pytest.raises(Refusal, match="cant_update_message"):
        await workspace.workspace.delete("U0OMAR", "C0SUPPORT", ts)


async def test_a_reply_that_is_shown_in_the_channel_carries_its_parent(workspace: WorkspaceServer, bot: Bot) -> None:
    ts = await workspace.workspace.post("U0EMMA", "C0SUPPORT", "hello")
    await workspace.workspace.post("U0EMMA", "C0SUPPORT", "to all", ts, broadcast=True)
    (_, event) = await heard(workspace, bot)

    assert (event["subtype"], event["thread_ts"], event["root"]["ts"]) == ("thread_broadcast", ts, ts)
    assert [one["text"] for one in workspace.workspace.messages("C0SUPPORT")] == ["hello", "to all"]


async def test_a_webhooks_message_has_no_user_and_neither_has_a_reaction_to_it(
    workspace: WorkspaceServer, bot: Bot
) -> None:
    ts = workspace.workspace.odd.webhook("C0SUPPORT", "Build failed", username="ci")
    await workspace.workspace.react("U0EMMA", "C0SUPPORT", ts, "eyes")
    message, reaction = await heard(workspace, bot)

    assert (message["subtype"], message["username"], message["bot_id"]) == ("bot_message", "ci", "B0WEBHOOK")
    assert "user" not in message
    assert "item_user" not in reaction


async def test_another_bots_message_has_a_bot_id_and_no_subtype(workspace: WorkspaceServer, bot: Bot) -> None:
    workspace.workspace.odd.other_bot("C0SUPPORT", "<@U0HERMES> hi", user="U0ROBOT")
    (event,) = await heard(workspace, bot)

    assert (event["user"], event["bot_id"], "subtype" in event) == ("U0ROBOT", "B0OTHER", False)


async def test_our_own_post_comes_back_with_our_bot_id(workspace: WorkspaceServer, bot: Bot) -> None:
    await bot.client.chat_postMessage(channel="C0SUPPORT", text="hello")
    (event,) = await heard(workspace, bot)

    assert (event["user"], event["bot_id"], event["app_id"]) == ("U0HERMES", "B0HERMES", "A0HERMES")
    assert "subtype" not in event


async def test_a_preview_changes_a_message_whose_text_stays(workspace: WorkspaceServer, bot: Bot) -> None:
    ts = await workspace.workspace.post("U0EMMA", "C0SUPPORT", "see https://example.com/a")
    workspace.workspace.odd.unfurl("C0SUPPORT", ts, "https://example.com/a")
    (_, event) = await heard(workspace, bot)

    assert event["subtype"] == "message_changed"
    assert event["message"]["text"] == event["previous_message"]["text"]
    assert event["message"]["attachments"][0]["from_url"] == "https://example.com/a"
    assert "edited" not in event["message"]


async def test_a_forwarded_message_has_an_empty_text(workspace: WorkspaceServer, bot: Bot) -> None:
    ts = await workspace.workspace.post("U0EMMA", "C0GENERAL", "the original")
    workspace.workspace.odd.forward("U0EMMA", "C0SUPPORT", "C0GENERAL", ts)
    (event,) = await heard(workspace, bot)

    assert (event["text"], event["attachments"][0]["text"]) == ("", "the original")
    assert event["attachments"][0]["is_share"] is True


async def test_reply_counters_and_me_messages_come_in_their_shapes(workspace: WorkspaceServer, bot: Bot) -> None:
    ts = await workspace.workspace.post("U0EMMA", "C0SUPPORT", "hello")
    await workspace.workspace.post("U0OMAR", "C0SUPPORT", "yes?", ts)
    workspace.workspace.odd.reply_counters("C0SUPPORT", ts)
    workspace.workspace.odd.me_message("U0EMMA", "C0SUPPORT", "waves")
    counters, wave = (await heard(workspace, bot))[2:]

    assert (counters["subtype"], counters["hidden"], counters["message"]["reply_count"]) == ("message_replied", True, 1)
    assert (wave["subtype"], wave["user"], wave["text"]) == ("me_message", "U0EMMA", "waves")


@pytest.mark.parametrize(
    "sent,kept",
    [
        ("a & b", "a &amp; b"),
        ("a &amp; b &lt;", "a &amp; b &lt;"),
        ("1 < 2 > 0", "1 &lt; 2 > 0"),
        ("<!channel> <@U0EMMA> <#C0SUPPORT|support>", "<!channel> <@U0EMMA> <#C0SUPPORT|support>"),
        ("<https://example.com/?a=1&b=2|here>", "<https://example.com/?a=1&amp;b=2|here>"),
        ("<script>", "&lt;script>"),
    ],
)
async def test_an_apps_text_is_kept_escaped(client: AsyncWebClient, sent: str, kept: str) -> None:
    posted = await client.chat_postMessage(channel="C0SUPPORT", text=sent)

    assert posted["message"]["text"] == kept


async def test_what_a_person_types_is_escaped_unless_it_is_taken_as_stored(workspace: WorkspaceServer) -> None:
    await workspace.workspace.post("U0EMMA", "C0SUPPORT", "<!channel> & <b>")
    await workspace.workspace.post("U0EMMA", "C0SUPPORT", "<@U0OMAR|omar> &amp;", raw=True)

    texts = [one["text"] for one in workspace.workspace.messages("C0SUPPORT")]
    assert texts == ["&lt;!channel&gt; &amp; &lt;b&gt;", "<@U0OMAR|omar> &amp;"]
