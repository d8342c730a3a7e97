"""chat.*: what the bot may post, and what Slack would refuse."""

from dataclasses import replace
from typing import Any

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from hermes_bot.workspace.people import Member
from hermes_bot.workspace.server import WorkspaceServer

Json = dict[str, Any]
METADATA = {"event_type": "hermes_post", "event_payload": {"key": "k1"}}


def section(text: str) -> Json:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


async def refusal(client: AsyncWebClient, method: str, **arguments: Any) -> str:
    """Return the error that Slack answers, here of a call that must fail."""
    with pytest.raises(SlackApiError) as failed:
        await client.api_call(method, json=arguments)
    error: str = failed.value.response["error"]
    return error


async def test_text_of_the_bot_is_kept_as_it_was_sent(workspace: WorkspaceServer, client: AsyncWebClient) -> None:
    await client.chat_postMessage(channel="C0SUPPORT", text="<@U0EMMA> a &lt; b")

    (message,) = workspace.workspace.messages("C0SUPPORT")
    assert message["text"] == "<@U0EMMA> a &lt; b"


@pytest.mark.parametrize(
    "channel,error",
    [("C0NOWHERE", "channel_not_found"), ("C0GENERAL", "not_in_channel"), ("U0NOBODY", "channel_not_found")],
)
async def test_the_bot_posts_only_where_it_is_a_member(client: AsyncWebClient, channel: str, error: str) -> None:
    assert await refusal(client, "chat.postMessage", channel=channel, text="hello") == error


async def test_a_private_channel_without_the_bot_does_not_exist_for_it(
    workspace: WorkspaceServer, client: AsyncWebClient
) -> None:
    roster = workspace.workspace.roster
    roster.put_channel(replace(roster.channel("C0GENERAL"), private=True))

    for method, arguments in (
        ("chat.postMessage", {"channel": "C0GENERAL", "text": "hello"}),
        ("conversations.info", {"channel": "C0GENERAL"}),
        ("conversations.history", {"channel": "C0GENERAL"}),
        ("conversations.members", {"channel": "C0GENERAL"}),
        ("conversations.join", {"channel": "C0GENERAL"}),
    ):
        assert await refusal(client, method, **arguments) == "channel_not_found"


async def test_an_archived_channel_takes_no_post(workspace: WorkspaceServer, client: AsyncWebClient) -> None:
    roster = workspace.workspace.roster
    roster.put_channel(replace(roster.channel("C0SUPPORT"), archived=True))

    assert await refusal(client, "chat.postMessage", channel="C0SUPPORT", text="hello") == "is_archived"


async def test_a_persons_id_stands_for_their_dm_and_a_name_for_the_channel(
    workspace: WorkspaceServer, client: AsyncWebClient
) -> None:
    to_person = await client.chat_postMessage(channel="U0EMMA", text="hello")
    to_name = await client.chat_postMessage(channel="#support", text="hello")

    assert (to_person["channel"], to_name["channel"]) == ("D0EMMA", "C0SUPPORT")


async def test_an_empty_message_is_refused(client: AsyncWebClient) -> None:
    assert await refusal(client, "chat.postMessage", channel="C0SUPPORT", text="") == "no_text"


async def test_a_reply_to_an_unknown_ts_or_to_a_reply_lands_at_the_root(
    workspace: WorkspaceServer, client: AsyncWebClient
) -> None:
    ts = await workspace.workspace.post("U0EMMA", "C0SUPPORT", "question")
    reply = await client.chat_postMessage(channel="C0SUPPORT", text="answer", thread_ts=ts)
    stray = [
        await client.chat_postMessage(channel="C0SUPPORT", text="stray", thread_ts=wanted)
        for wanted in ("1.000001", str(reply["ts"]))
    ]

    assert reply["message"]["thread_ts"] == ts
    assert ["thread_ts" in answer["message"] for answer in stray] == [False, False]
    assert len(workspace.workspace.messages("C0SUPPORT")) == 3


async def test_a_text_over_40000_characters_is_cut_with_a_warning(
    workspace: WorkspaceServer, client: AsyncWebClient
) -> None:
    whole = await client.chat_postMessage(channel="C0SUPPORT", text="x" * 40_000)
    cut = await client.chat_postMessage(channel="C0SUPPORT", text="x" * 40_001)

    assert [len(message["text"]) for message in workspace.workspace.messages("C0SUPPORT")] == [40_000, 40_000]
    assert whole.get("warning") is None
    assert cut["warning"] == "message_truncated"


async def test_an_update_over_4000_characters_is_refused(client: AsyncWebClient) -> None:
    posted = await client.chat_postMessage(channel="C0SUPPORT", text="short")
    await client.chat_update(channel="C0SUPPORT", ts=posted["ts"], text="x" * 4000)

    error = await refusal(client, "chat.update", channel="C0SUPPORT", ts=posted["ts"], text="x" * 4001)
    assert error == "msg_too_long"


async def test_an_update_with_text_alone_takes_the_blocks_away(
    workspace: WorkspaceServer, client: AsyncWebClient
) -> None:
    posted = await client.chat_postMessage(channel="C0SUPPORT", text="card", blocks=[section("card")])
    await client.chat_update(channel="C0SUPPORT", ts=posted["ts"], text="done")

    (message,) = workspace.workspace.messages("C0SUPPORT")
    assert message["text"] == "done"
    assert "blocks" not in message
    assert message["edited"]["user"] == "U0HERMES"


async def test_only_the_bots_own_messages_can_be_changed_or_deleted(
    workspace: WorkspaceServer, client: AsyncWebClient
) -> None:
    ts = await workspace.workspace.post("U0EMMA", "C0SUPPORT", "mine")

    assert await refusal(client, "chat.update", channel="C0SUPPORT", ts=ts, text="x") == "cant_update_message"
    assert await refusal(client, "chat.delete", channel="C0SUPPORT", ts=ts) == "cant_delete_message"
    assert await refusal(client, "chat.delete", channel="C0SUPPORT", ts="1.000001") == "message_not_found"


async def test_metadata_is_shown_only_when_it_is_asked_for(client: AsyncWebClient) -> None:
    posted = await client.chat_postMessage(channel="C0SUPPORT", text="card", metadata=METADATA)
    plain = await client.conversations_history(channel="C0SUPPORT")
    full = await client.conversations_history(channel="C0SUPPORT", include_all_metadata=True)
    thread = await client.conversations_replies(channel="C0SUPPORT", ts=posted["ts"], include_all_metadata=True)

    assert "metadata" not in plain["messages"][0]
    assert full["messages"][0]["metadata"] == METADATA
    assert thread["messages"][0]["metadata"] == METADATA


async def test_an_update_keeps_the_metadata_unless_it_brings_its_own(client: AsyncWebClient) -> None:
    other = {"event_type": "hermes_post", "event_payload": {"key": "k2"}}
    seen = []
    posted = await client.chat_postMessage(channel="C0SUPPORT", text="card", metadata=METADATA)
    for metadata in (None, other):
        await client.chat_update(channel="C0SUPPORT", ts=posted["ts"], text="card", metadata=metadata)
        history = await client.conversations_history(channel="C0SUPPORT", include_all_metadata=True)
        seen.append(history["messages"][0]["metadata"])

    assert seen == [METADATA, other]


@pytest.mark.parametrize(
    "metadata",
    [
        {"event_type": "x"},
        {"event_type": "x", "event_payload": []},
        {"event_type": "", "event_payload": {}},
        {"event_type": "x", "event_payload": {}, "other": 1},
        "not json",
        ["x"],
    ],
)
async def test_metadata_of_another_shape_is_refused(client: AsyncWebClient, metadata: object) -> None:
    error = await refusal(client, "chat.postMessage", channel="C0SUPPORT", text="x", metadata=metadata)

    assert error == "invalid_metadata_format"


async def test_metadata_that_is_too_large_is_refused(client: AsyncWebClient) -> None:
    metadata = {"event_type": "x", "event_payload": {"text": "x" * 16_000}}

    error = await refusal(client, "chat.postMessage", channel="C0SUPPORT", text="x", metadata=metadata)
    assert error == "metadata_too_large"


async def test_an_ephemeral_is_seen_by_one_person_and_leaves_no_message(
    workspace: WorkspaceServer, client: AsyncWebClient
) -> None:
    sent = await client.chat_postEphemeral(channel="C0SUPPORT", user="U0EMMA", text="for you")

    assert [one["text"] for one in workspace.workspace.ephemerals("U0EMMA")] == ["for you"]
    assert workspace.workspace.ephemerals("U0LINA") == []
    assert workspace.workspace.messages("C0SUPPORT") == []
    changed = await refusal(client, "chat.update", channel="C0SUPPORT", ts=sent["message_ts"], text="x")
    assert changed == "message_not_found"


async def test_an_ephemeral_needs_a_person_who_is_in_the_channel(
    workspace: WorkspaceServer, client: AsyncWebClient
) -> None:
    workspace.workspace.roster.put_member(Member(id="U0NEW", name="New"))

    error = await refusal(client, "chat.postEphemeral", channel="C0SUPPORT", user="U0NEW", text="x")
    assert error == "user_not_in_channel"


async def test_a_permalink_leads_to_the_message(workspace: WorkspaceServer, client: AsyncWebClient) -> None:
    posted = await client.chat_postMessage(channel="C0SUPPORT", text="here")
    link = await client.chat_getPermalink(channel="C0SUPPORT", message_ts=posted["ts"])

    assert link["permalink"] == f"{workspace.url}/archives/C0SUPPORT/p{posted['ts'].replace('.', '')}"


@pytest.mark.parametrize(
    "arguments,error",
    [
        ({"blocks": "not json"}, "invalid_blocks_format"),
        ({"blocks": {"type": "divider"}}, "invalid_blocks_format"),
        ({"blocks": [{"type": "poem"}]}, "invalid_blocks"),
        ({"blocks": [section("x" * 2900)] * 5}, "msg_blocks_too_long"),
        ({"attachments": [{}] * 101}, "too_many_attachments"),
        ({"text": "x", "markdown_text": "y"}, "markdown_text_conflict"),
        ({"markdown_text": "y" * 12_001}, "msg_too_long"),
        ({"text": 7}, "invalid_arguments"),
    ],
)
async def test_what_is_too_much_or_malformed_is_refused(client: AsyncWebClient, arguments: Json, error: str) -> None:
    assert await refusal(client, "chat.postMessage", channel="C0SUPPORT", **arguments) == error


async def test_a_fault_in_a_block_is_named_with_its_place(client: AsyncWebClient) -> None:
    with pytest.raises(SlackApiError) as failed:
        await client.chat_postMessage(channel="C0SUPPORT", text="x", blocks=[section("x" * 3001)])

    assert failed.value.response["response_metadata"]["messages"] == [
        "[ERROR] must be less than 3001 characters [json-pointer:/blocks/0/text/text]"
    ]
