"""Guests, strangers, shared channels, group DMs, enterprises, people who left: how they look and what they may."""

from dataclasses import replace
from typing import Any

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from hermes_bot.workspace.people import App, Member, UserGroup, demo_world
from hermes_bot.workspace.refusal import Refusal
from hermes_bot.workspace.server import WorkspaceServer
from tests.workspace.bot import bot_client, running

Json = dict[str, Any]
SAM = Member(id="U9SAM", name="Sam Stranger", email="sam@other.example.com", team="T9OTHER", stranger=True)


async def with_sam(server: WorkspaceServer) -> None:
    """Share the support channel with Sam's company, and let Sam in."""
    await server.workspace.change_member(SAM)
    await server.workspace.share("C0SUPPORT", "T9OTHER")
    await server.workspace.join("U9SAM", "C0SUPPORT")


async def last_message(server: WorkspaceServer) -> Json:
    async with running(server) as bot:
        await server.workspace.wait_for(lambda: server.unsettled == 0)
    return [body for body in bot.bodies if body["event"]["type"] == "message"][-1]


@pytest.mark.parametrize(
    "member,flags",
    [
        (Member(id="U1", name="A"), (False, False, False)),
        (Member(id="U1", name="A", guest=True), (True, False, False)),
        (Member(id="U1", name="A", single_channel_guest=True), (True, True, False)),
        (SAM, (False, False, True)),
    ],
)
async def test_what_somebody_is_stands_in_their_profile(
    workspace: WorkspaceServer, client: AsyncWebClient, member: Member, flags: tuple[bool, bool, bool]
) -> None:
    workspace.workspace.roster.put_member(member)
    user = (await client.users_info(user=member.id))["user"]

    assert (user["is_restricted"], user["is_ultra_restricted"], user["is_stranger"]) == flags
    assert user["team_id"] == (member.team or "T0HERMES")
    assert "email" not in user["profile"]


async def test_a_strangers_message_names_both_teams(workspace: WorkspaceServer) -> None:
    await with_sam(workspace)
    await workspace.workspace.post("U9SAM", "C0SUPPORT", "hello from outside")
    body = await last_message(workspace)
    event = body["event"]

    assert (event["user"], event["team"], event["user_team"], event["source_team"]) == ("U9SAM", *["T9OTHER"] * 3)
    assert (body["is_ext_shared_channel"], body["team_id"]) == (True, "T9OTHER")
    assert (body["authorizations"][0]["team_id"], body["context_team_id"]) == ("T0HERMES", "T0HERMES")


async def test_our_own_message_in_a_shared_channel_keeps_our_team(workspace: WorkspaceServer) -> None:
    await with_sam(workspace)
    await workspace.workspace.post("U0EMMA", "C0SUPPORT", "hello")
    body = await last_message(workspace)

    assert (body["is_ext_shared_channel"], body["team_id"]) == (True, "T0HERMES")
    assert "user_team" not in body["event"]


async def test_a_shared_channel_says_so(workspace: WorkspaceServer, client: AsyncWebClient) -> None:
    await with_sam(workspace)
    channel = (await client.conversations_info(channel="C0SUPPORT"))["channel"]

    assert (channel["is_shared"], channel["is_ext_shared"]) == (True, True)
    assert channel["shared_team_ids"] == ["T0HERMES", "T9OTHER"]


async def test_a_strangers_click_names_their_team(workspace: WorkspaceServer) -> None:
    await with_sam(workspace)
    button = {"type": "button", "action_id": "go", "text": {"type": "plain_text", "text": "Go"}}
    async with running(workspace) as bot:
        bot.app.action("go")(bot.keep_pressed)
        posted = await bot.client.chat_postMessage(
            channel="C0SUPPORT", text="card", blocks=[{"type": "actions", "elements": [button]}]
        )
        await workspace.workspace.click("U9SAM", "C0SUPPORT", posted["ts"], "go")

    (payload,) = bot.pressed
    assert (payload["user"]["team_id"], payload["team"]["id"]) == ("T9OTHER", "T0HERMES")


async def test_somebody_may_be_invisible(workspace: WorkspaceServer, client: AsyncWebClient) -> None:
    workspace.workspace.roster.put_member(replace(SAM, hidden=True))

    with pytest.raises(SlackApiError, match="user_not_visible"):
        await client.users_info(user="U9SAM")
    assert "U9SAM" not in [user["id"] for user in (await client.users_list())["members"]]


async def test_who_was_deactivated_writes_no_more_and_stays_in_groups(
    workspace: WorkspaceServer, client: AsyncWebClient
) -> None:
    async with running(workspace) as bot:
        await workspace.workspace.deactivate("U0OMAR")
        await workspace.workspace.wait_for(lambda: bot.of_type("user_change"))

    with pytest.raises(Refusal, match="user_disabled"):
        await workspace.workspace.post("U0OMAR", "C0SUPPORT", "hello")
    with pytest.raises(SlackApiError, match="user_disabled"):
        await client.conversations_open(users=["U0OMAR"])
    with pytest.raises(SlackApiError, match="channel_not_found"):
        await client.chat_postMessage(channel="U0OMAR", text="hello")
    assert bot.of_type("user_change")[0]["user"]["deleted"] is True
    assert "U0OMAR" in (await client.usergroups_users_list(usergroup="S0APPROVERS"))["users"]


async def test_a_group_that_changed_is_told_with_who_came_and_went(workspace: WorkspaceServer) -> None:
    async with running(workspace) as bot:
        await workspace.workspace.change_group(UserGroup(id="S0NEW", handle="new", members=("U0ADA",)))
        await workspace.workspace.change_group(UserGroup(id="S0NEW", handle="new", members=("U0OMAR",)))
        await workspace.workspace.wait_for(lambda: bot.of_type("subteam_members_changed"))
    (changed,) = bot.of_type("subteam_members_changed")

    assert (changed["added_users"], changed["removed_users"]) == (["U0OMAR"], ["U0ADA"])
    assert [len(bot.of_type(kind)) for kind in ("subteam_created", "subteam_updated")] == [1, 1]


async def test_a_group_that_is_no_more_is_not_found(workspace: WorkspaceServer, client: AsyncWebClient) -> None:
    await workspace.workspace.change_group(UserGroup(id="S0OLD", handle="old", members=("U0ADA",), disabled=True))

    for group in ("S0OLD", "S0NEVER"):
        with pytest.raises(SlackApiError, match="no_such_subteam"):
            await client.usergroups_users_list(usergroup=group)
    assert "S0OLD" not in [group["id"] for group in (await client.usergroups_list())["usergroups"]]


async def test_a_conversation_of_several_is_opened_once_and_heard(
    workspace: WorkspaceServer, client: AsyncWebClient
) -> None:
    opened = await client.conversations_open(users=["U0EMMA", "U0OMAR"], return_im=True)
    again = await client.conversations_open(users=["U0OMAR", "U0EMMA"])
    place = opened["channel"]["id"]
    await workspace.workspace.post("U0EMMA", place, "@Hermes hello both")
    async with running(workspace) as bot:
        await workspace.workspace.wait_for(lambda: workspace.unsettled == 0)
    listed = (await client.conversations_list(types="mpim"))["channels"]

    assert (again["channel"]["id"], again["already_open"]) == (place, True)
    assert (opened["channel"]["is_mpim"], [one["id"] for one in listed]) == (True, [place])
    assert [event["type"] for event in bot.events] == ["message", "app_mention"]
    assert bot.events[0]["channel_type"] == "mpim"
    many = [f"U0N{number}" for number in range(9)]
    with pytest.raises(SlackApiError, match="too_many_users"):
        await client.conversations_open(users=many)


async def test_an_enterprise_stands_in_every_wrapper_and_payload() -> None:
    app = App(enterprise="E0ACME", org_wide=True)
    world = demo_world(app).with_people([Member(id="W0WANDA", name="Wanda")], channels=["C0SUPPORT"])
    async with WorkspaceServer(world=world) as server:
        client = bot_client(server)
        await server.workspace.post("W0WANDA", "C0SUPPORT", "hello")
        body = await last_message(server)
        who, wanda = await client.auth_test(), (await client.users_info(user="W0WANDA"))["user"]
        async with running(server) as bot:
            bot.app.shortcut("ticket")(bot.keep_pressed)
            await server.workspace.shortcut("W0WANDA", "ticket")

    authorization = body["authorizations"][0]
    assert (body["enterprise_id"], authorization["enterprise_id"]) == ("E0ACME", "E0ACME")
    assert authorization["is_enterprise_install"] is True
    assert (who["enterprise_id"], who["is_enterprise_install"]) == ("E0ACME", True)
    assert wanda["enterprise_user"]["enterprise_id"] == "E0ACME"
    assert (bot.pressed[0]["team"], bot.pressed[0]["enterprise"]["id"]) == (None, "E0ACME")


async def test_joining_and_leaving_are_told_in_the_channel(workspace: WorkspaceServer) -> None:
    async with running(workspace) as bot:
        await workspace.workspace.join("U0HERMES", "C0GENERAL", inviter="U0ADA")
        await workspace.workspace.join("U0HERMES", "C0GENERAL")
        await workspace.workspace.leave("U0EMMA", "C0GENERAL")
        await workspace.workspace.leave("U0EMMA", "C0GENERAL")
        await workspace.workspace.wait_for(lambda: workspace.unsettled == 0)
    (joined,) = bot.of_type("member_joined_channel")

    assert (joined["user"], joined["inviter"], joined["channel"]) == ("U0HERMES", "U0ADA", "C0GENERAL")
    assert len(bot.of_type("member_left_channel")) == 1
    assert [event["subtype"] for event in bot.of_type("message")] == ["channel_join", "channel_leave"]


@pytest.mark.parametrize("on,kind", [(True, "channel_archive"), (False, "channel_unarchive")])
async def test_an_archived_channel_takes_nothing(workspace: WorkspaceServer, on: bool, kind: str) -> None:
    async with running(workspace) as bot:
        await workspace.workspace.archive("C0SUPPORT")
        if not on:
            await workspace.workspace.archive("C0SUPPORT", on=False)
        await workspace.workspace.wait_for(lambda: bot.of_type(kind))

    assert workspace.workspace.roster.channel("C0SUPPORT").archived is on
    if on:
        with pytest.raises(Refusal, match="is_archived"):
            await workspace.workspace.post("U0EMMA", "C0SUPPORT", "hello")
