"""conversations.*, users.*, usergroups.* and reactions.*: reading the workspace."""

import itertools
from dataclasses import replace
from typing import Any

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from hermes_bot.workspace.people import Member, demo_world
from hermes_bot.workspace.server import WorkspaceServer
from tests.workspace.bot import bot_client


async def test_history_is_newest_first_and_holds_no_replies(workspace: WorkspaceServer, client: AsyncWebClient) -> None:
    ts = [await workspace.workspace.post("U0EMMA", "C0SUPPORT", f"m{number}") for number in range(3)]
    await workspace.workspace.post("U0LINA", "C0SUPPORT", "a reply", ts[0])
    history = await client.conversations_history(channel="C0SUPPORT")

    assert [message["text"] for message in history["messages"]] == ["m2", "m1", "m0"]
    assert (history["messages"][2]["reply_count"], history["has_more"]) == (1, False)
    assert history["messages"][2]["thread_ts"] == ts[0]


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 8])
async def test_pages_hold_every_message_once(workspace: WorkspaceServer, client: AsyncWebClient, limit: int) -> None:
    ts = await workspace.workspace.post("U0EMMA", "C0SUPPORT", "parent")
    replies = [await workspace.workspace.post("U0EMMA", "C0SUPPORT", f"m{number}", ts) for number in range(6)]
    seen: list[str] = []
    cursor: str | None = None
    for _ in range(8):
        page = await client.conversations_replies(channel="C0SUPPORT", ts=ts, limit=limit, cursor=cursor)
        seen += [message["ts"] for message in page["messages"]]
        cursor = page["response_metadata"]["next_cursor"]
        assert page["has_more"] is bool(cursor)
        if not cursor:
            break

    assert seen == [ts, *replies]


@pytest.mark.parametrize(
    "oldest,latest,inclusive,expected",
    [
        (1, None, False, [3, 2]),
        (1, None, True, [3, 2, 1]),
        (None, 2, False, [1, 0]),
        (0, 3, False, [2, 1]),
        (0, 3, True, [3, 2, 1, 0]),
    ],
)
async def test_history_is_bounded_by_oldest_and_latest(
    workspace: WorkspaceServer,
    client: AsyncWebClient,
    oldest: int | None,
    latest: int | None,
    inclusive: bool,
    expected: list[int],
) -> None:
    ts = [await workspace.workspace.post("U0EMMA", "C0SUPPORT", str(number)) for number in range(4)]
    history = await client.conversations_history(
        channel="C0SUPPORT",
        oldest=None if oldest is None else ts[oldest],
        latest=None if latest is None else ts[latest],
        inclusive=inclusive,
    )

    assert [message["text"] for message in history["messages"]] == [str(number) for number in expected]


async def test_a_threads_parent_is_shown_whatever_the_bounds(
    workspace: WorkspaceServer, client: AsyncWebClient
) -> None:
    ts = await workspace.workspace.post("U0EMMA", "C0SUPPORT", "parent")
    replies = [await workspace.workspace.post("U0EMMA", "C0SUPPORT", f"m{number}", ts) for number in range(3)]
    thread = await client.conversations_replies(channel="C0SUPPORT", ts=replies[2], oldest=replies[1])

    assert [message["text"] for message in thread["messages"]] == ["parent", "m2"]


@pytest.mark.parametrize(
    "method,arguments,error",
    [
        ("conversations.replies", {"channel": "C0SUPPORT", "ts": "1.000001"}, "thread_not_found"),
        ("conversations.history", {"channel": "C0GENERAL"}, "not_in_channel"),
        ("conversations.history", {"channel": "C0SUPPORT", "cursor": "???"}, "invalid_cursor"),
        ("conversations.history", {"channel": "C0SUPPORT", "cursor": "YXQ6OTk="}, "invalid_cursor"),
        ("conversations.history", {"channel": "C0SUPPORT", "limit": 0}, "invalid_arguments"),
        ("conversations.history", {"channel": "C0SUPPORT", "oldest": "yesterday"}, "invalid_ts_oldest"),
        ("conversations.list", {"types": "secret"}, "invalid_types"),
        ("conversations.open", {}, "users_list_not_supplied"),
        ("conversations.open", {"users": "U0NOBODY"}, "user_not_found"),
        ("conversations.join", {"channel": "D0EMMA"}, "method_not_supported_for_channel_type"),
        ("users.info", {"user": "U0NOBODY"}, "user_not_found"),
        ("users.lookupByEmail", {"email": "nobody@example.com"}, "users_not_found"),
        ("usergroups.users.list", {"usergroup": "S0NONE"}, "no_such_subteam"),
        ("reactions.add", {"channel": "C0SUPPORT", "name": "eyes", "timestamp": "1.000001"}, "message_not_found"),
        ("reactions.add", {"channel": "C0SUPPORT", "name": "eyes", "timestamp": "now"}, "bad_timestamp"),
        ("reactions.add", {"channel": "C0SUPPORT", "name": "eyes"}, "no_item_specified"),
        ("team.info", {"team": "T0OTHER"}, "team_not_found"),
        ("bots.info", {"bot": "B0OTHER"}, "bot_not_found"),
    ],
)
async def test_what_is_not_there_is_refused_by_its_name(
    client: AsyncWebClient, method: str, arguments: dict[str, Any], error: str
) -> None:
    with pytest.raises(SlackApiError) as failed:
        await client.api_call(method, params=arguments)

    assert failed.value.response["error"] == error


async def test_a_dm_is_opened_once(workspace: WorkspaceServer, client: AsyncWebClient) -> None:
    workspace.workspace.roster.put_member(Member(id="U0NEW", name="New"))
    first = await client.conversations_open(users="U0NEW", return_im=True)
    second = await client.conversations_open(users="U0NEW")

    assert (first["channel"]["id"], first["channel"]["user"], first["channel"]["is_im"]) == ("D0NEW", "U0NEW", True)
    assert (second["channel"], second["already_open"]) == ({"id": "D0NEW"}, True)


async def test_nobody_writes_to_a_deactivated_person(workspace: WorkspaceServer, client: AsyncWebClient) -> None:
    workspace.workspace.roster.put_member(Member(id="U0GONE", name="Gone", deactivated=True))
    with pytest.raises(SlackApiError, match="user_disabled"):
        await client.conversations_open(users="U0GONE")


async def test_the_list_of_channels_shows_public_ones_and_the_bots_own(
    workspace: WorkspaceServer, client: AsyncWebClient
) -> None:
    roster = workspace.workspace.roster
    roster.put_channel(replace(roster.channel("C0GENERAL"), private=True))
    listed = await client.conversations_list(types="public_channel,private_channel")
    dms = await client.conversations_list(types="im")

    names = [channel["name"] for channel in listed["channels"]]
    assert names[:2] == ["support", "hermes-handoff"]
    assert "general" not in names
    assert len(dms["channels"]) == len(workspace.world.members)


async def test_the_bot_can_join_a_public_channel(workspace: WorkspaceServer, client: AsyncWebClient) -> None:
    await client.conversations_join(channel="C0GENERAL")
    members = await client.conversations_members(channel="C0GENERAL")
    info = await client.conversations_info(channel="C0GENERAL", include_num_members=True)

    assert "U0HERMES" in members["members"]
    assert (info["channel"]["is_member"], info["channel"]["num_members"]) == (True, 6)


async def test_a_user_has_profile_locale_and_flags(workspace: WorkspaceServer, client: AsyncWebClient) -> None:
    stranger = Member(id="U0STR", name="Str", email="s@example.org", team="T0OTHER", stranger=True, guest=True)
    workspace.workspace.roster.put_member(stranger)
    lina = (await client.users_info(user="U0LINA", include_locale=True))["user"]
    other = (await client.users_info(user="U0STR"))["user"]

    assert (lina["profile"]["email"], lina["locale"], lina["is_bot"]) == ("li.na@example.com", "zh-CN", False)
    assert (other["team_id"], other["is_stranger"], other["is_restricted"]) == ("T0OTHER", True, True)
    assert "email" not in other["profile"]


async def test_people_are_found_by_address_and_groups_by_id(client: AsyncWebClient) -> None:
    found = await client.users_lookupByEmail(email="Emma.Fischer@example.com")
    group = await client.usergroups_users_list(usergroup="S0APPROVERS")
    groups = await client.usergroups_list(include_users=True)

    assert found["user"]["id"] == "U0EMMA"
    assert group["users"] == ["U0OMAR", "U0OLIVIA"]
    assert [one["handle"] for one in groups["usergroups"]] == ["approvers", "operators"]


async def test_a_reaction_is_added_once_and_removed_once(workspace: WorkspaceServer, client: AsyncWebClient) -> None:
    ts = await workspace.workspace.post("U0EMMA", "C0SUPPORT", "hello")
    await client.reactions_add(channel="C0SUPPORT", name="eyes", timestamp=ts)
    with pytest.raises(SlackApiError, match="already_reacted"):
        await client.reactions_add(channel="C0SUPPORT", name="eyes", timestamp=ts)
    shown = await client.reactions_get(channel="C0SUPPORT", timestamp=ts)
    await client.reactions_remove(channel="C0SUPPORT", name="eyes", timestamp=ts)
    with pytest.raises(SlackApiError, match="no_reaction"):
        await client.reactions_remove(channel="C0SUPPORT", name="eyes", timestamp=ts)

    assert shown["message"]["reactions"] == [{"name": "eyes", "users": ["U0HERMES"], "count": 1}]


async def test_a_world_of_three_hundred_customers_is_listed_page_by_page() -> None:
    people = [Member(id=f"U1{number:03}", name=f"Customer {number}") for number in range(300)]
    world = demo_world().with_people(people, channels=["C0SUPPORT"])
    async with WorkspaceServer(world=world) as server:
        client = bot_client(server)
        pages = [page["members"] async for page in await client.users_list(limit=100)]
        await server.workspace.post("U1299", "D1299", "hello")

    names = list(itertools.chain.from_iterable(pages))
    assert len(names) == len(world.members) + 1
    assert len({member["id"] for member in names}) == len(names)
