"""Which events the app is told, and what stands in them."""

from dataclasses import replace
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from hermes_bot.workspace.people import Member
from hermes_bot.workspace.server import WorkspaceServer
from tests.workspace.bot import running

Json = dict[str, Any]


async def _told(server: WorkspaceServer) -> list[Json]:
    """Return the bodies of all events so far, as a bolt app gets them."""
    async with running(server) as bot:
        await server.workspace.wait_for(lambda: server.unsettled == 0)
    return bot.bodies


async def test_a_mention_comes_as_two_events_with_ids_of_their_own(workspace: WorkspaceServer) -> None:
    ts = await workspace.workspace.post("U0EMMA", "C0SUPPORT", "@Hermes where is my order?")
    bodies = await _told(workspace)

    assert [body["event"]["type"] for body in bodies] == ["message", "app_mention"]
    assert {body["event"]["ts"] for body in bodies} == {ts}
    assert {body["event"]["text"] for body in bodies} == {"<@U0HERMES> where is my order?"}
    assert len({body["event_id"] for body in bodies}) == 2


async def test_the_wrapper_names_team_app_and_one_authorization(workspace: WorkspaceServer) -> None:
    await workspace.workspace.post("U0EMMA", "D0EMMA", "hello")
    (body,) = await _told(workspace)

    assert (body["type"], body["team_id"], body["api_app_id"]) == ("event_callback", "T0HERMES", "A0HERMES")
    assert body["authorizations"][0]["user_id"] == "U0HERMES"
    event = body["event"]
    assert (event["user"], event["channel"], event["channel_type"], event["team"]) == (
        "U0EMMA",
        "D0EMMA",
        "im",
        "T0HERMES",
    )
    assert event["client_msg_id"]
    assert event["event_ts"] == event["ts"]


async def test_a_mention_in_a_dm_gives_no_second_event(workspace: WorkspaceServer) -> None:
    await workspace.workspace.post("U0EMMA", "D0EMMA", "@Hermes hello")

    assert [body["event"]["type"] for body in await _told(workspace)] == ["message"]


async def test_nothing_is_told_of_channels_that_the_bot_is_not_in(workspace: WorkspaceServer) -> None:
    await workspace.workspace.post("U0EMMA", "C0GENERAL", "@Hermes hello")

    assert await _told(workspace) == []


async def test_a_reply_names_its_parent_and_the_parents_author(workspace: WorkspaceServer) -> None:
    ts = await workspace.workspace.post("U0EMMA", "C0SUPPORT", "question")
    await workspace.workspace.post("U0OMAR", "C0SUPPORT", "answer", ts)
    events = [body["event"] for body in await _told(workspace)]

    assert (events[1]["thread_ts"], events[1]["parent_user_id"]) == (ts, "U0EMMA")
    assert "thread_ts" not in events[0]


async def test_the_bots_own_post_is_echoed_without_a_subtype(
    workspace: WorkspaceServer, client: AsyncWebClient
) -> None:
    await client.chat_postMessage(channel="C0SUPPORT", text="I am <@U0HERMES>")
    bodies = await _told(workspace)

    (event,) = [body["event"] for body in bodies]
    assert (event["bot_id"], event["app_id"], event["user"]) == ("B0HERMES", "A0HERMES", "U0HERMES")
    assert event["bot_profile"]["app_id"] == "A0HERMES"
    assert "subtype" not in event


async def test_an_update_is_a_hidden_message_changed(workspace: WorkspaceServer, client: AsyncWebClient) -> None:
    posted = await client.chat_postMessage(channel="C0SUPPORT", text="before")
    await client.chat_update(channel="C0SUPPORT", ts=posted["ts"], text="after")
    event = (await _told(workspace))[-1]["event"]

    assert (event["subtype"], event["hidden"]) == ("message_changed", True)
    assert (event["message"]["text"], event["previous_message"]["text"]) == ("after", "before")
    assert not {"user", "text"} & set(event)


async def test_a_deleted_message_is_told_of(workspace: WorkspaceServer, client: AsyncWebClient) -> None:
    posted = await client.chat_postMessage(channel="C0SUPPORT", text="a slip")
    await client.chat_delete(channel="C0SUPPORT", ts=posted["ts"])
    event = (await _told(workspace))[-1]["event"]

    assert (event["subtype"], event["deleted_ts"]) == ("message_deleted", posted["ts"])
    assert workspace.workspace.messages("C0SUPPORT") == []


async def test_a_deleted_parent_leaves_a_tombstone_and_replies_to_it_land_at_the_root(
    workspace: WorkspaceServer, client: AsyncWebClient
) -> None:
    ts = await workspace.workspace.post("U0EMMA", "C0SUPPORT", "question")
    await client.chat_postMessage(channel="C0SUPPORT", text="answer", thread_ts=ts)
    await workspace.workspace.delete("U0EMMA", "C0SUPPORT", ts)
    late = await client.chat_postMessage(channel="C0SUPPORT", text="one more thing", thread_ts=ts)
    changed = [body["event"] for body in await _told(workspace) if body["event"].get("subtype") == "message_changed"]

    assert (changed[0]["message"]["subtype"], changed[0]["message"]["user"]) == ("tombstone", "USLACKBOT")
    assert "thread_ts" not in late["message"]


async def test_reactions_are_told_of(workspace: WorkspaceServer) -> None:
    ts = await workspace.workspace.post("U0EMMA", "C0SUPPORT", "thanks")
    await workspace.workspace.react("U0OMAR", "C0SUPPORT", ts, "tada")
    await workspace.workspace.react("U0OMAR", "C0SUPPORT", ts, "tada", on=False)
    events = [body["event"] for body in await _told(workspace)][1:]

    assert [event["type"] for event in events] == ["reaction_added", "reaction_removed"]
    assert events[0]["item"] == {"type": "message", "channel": "C0SUPPORT", "ts": ts}
    assert (events[0]["user"], events[0]["item_user"], events[0]["reaction"]) == ("U0OMAR", "U0EMMA", "tada")


async def test_any_event_can_be_injected(workspace: WorkspaceServer) -> None:
    event = {"type": "message", "subtype": "file_share", "channel": "C0SUPPORT", "text": "", "ts": "1.000001"}
    workspace.workspace.events.emit(event)

    assert (await _told(workspace))[0]["event"] == event


async def test_a_strangers_message_names_their_own_team(workspace: WorkspaceServer) -> None:
    roster = workspace.workspace.roster
    roster.put_member(Member(id="U0STR", name="Stranger", team="T0OTHER", stranger=True))
    roster.join(roster.channel("C0SUPPORT"), "U0STR")
    await workspace.workspace.post("U0STR", "C0SUPPORT", "hello from outside")
    (body,) = await _told(workspace)

    assert (body["event"]["team"], body["event"]["user_team"]) == ("T0OTHER", "T0OTHER")
    assert body["authorizations"][0]["team_id"] == "T0HERMES"


async def test_a_private_channel_has_the_type_group(workspace: WorkspaceServer) -> None:
    roster = workspace.workspace.roster
    roster.put_channel(replace(roster.channel("C0HANDOFF"), private=True))
    await workspace.workspace.post("U0OMAR", "C0HANDOFF", "hello")

    assert (await _told(workspace))[0]["event"]["channel_type"] == "group"
