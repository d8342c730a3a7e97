"""Slack's limits on how much an app is told and may read: events an hour, and the pages of an app that is sold."""

import json

import pytest
from slack_sdk.errors import SlackApiError

from hermes_bot.workspace.clock import SettableClock
from hermes_bot.workspace.server import WorkspaceServer
from tests.workspace.bot import bot_client
from tests.workspace.receiver import receiving


async def test_above_its_events_an_hour_an_app_is_told_so_once_a_minute_and_nothing_else(clock: SettableClock) -> None:
    async with receiving() as receiver, WorkspaceServer(events_url=receiver.url, clock=clock) as server:
        server.limits.on, server.limits.events_an_hour = True, 2
        for pause_s in (0, 0, 0, 61, 3600):
            await server.workspace.post("U0EMMA", "C0SUPPORT", "hello")
            await server.workspace.wait_for(lambda: server.unsettled == 0)
            clock.advance(pause_s)
        await server.workspace.post("U0EMMA", "C0SUPPORT", "heard again")
        await server.workspace.wait_for(lambda: server.unsettled == 0)

    bodies = [json.loads(body) for _, body in receiver.requests]
    assert [body["type"] for body in bodies] == [
        *["event_callback"] * 2,
        *["app_rate_limited"] * 2,
        "event_callback",
    ]
    limited = bodies[2]
    assert limited.keys() >= {"token", "team_id", "minute_rate_limited", "api_app_id"}
    assert "event" not in limited
    assert limited["minute_rate_limited"] % 60 == 0


async def test_the_limit_is_slacks_thirty_thousand_and_off_until_it_is_turned_on(workspace: WorkspaceServer) -> None:
    limits = workspace.limits

    assert limits.events_an_hour == 30_000
    assert [limits.event_wait_s("A0HERMES") for _ in range(30_001)] == [0] * 30_001
    limits.on = True
    assert [limits.event_wait_s("A0HERMES") for _ in range(30_000)] == [0] * 30_000
    assert limits.event_wait_s("A0HERMES") > 0
    assert limits.event_wait_s("A0OTHER") == 0


@pytest.mark.parametrize("method", ["conversations.history", "conversations.replies"])
async def test_an_app_that_is_sold_reads_fifteen_messages_once_a_minute(
    timed: WorkspaceServer, clock: SettableClock, method: str
) -> None:
    ts = await timed.workspace.post("U0EMMA", "C0SUPPORT", "first")
    for number in range(20):
        await timed.workspace.post("U0EMMA", "C0SUPPORT", str(number), ts if method.endswith("replies") else "")
    timed.limits.distributed = True
    client = bot_client(timed)
    pages = []
    for limit in ({}, {"limit": 200}, {"limit": 3}):
        pages.append(await client.api_call(method, params={"channel": "C0SUPPORT", "ts": ts, **limit}))
        with pytest.raises(SlackApiError) as failed:
            await client.api_call(method, params={"channel": "C0SUPPORT", "ts": ts})
        clock.advance(int(failed.value.response.headers["Retry-After"]))

    assert failed.value.response.status_code == 429
    assert [(len(page["messages"]), page["has_more"]) for page in pages] == [(15, True), (15, True), (3, True)]


async def test_other_methods_of_such_an_app_are_not_slowed(timed: WorkspaceServer) -> None:
    timed.limits.distributed = True
    client = bot_client(timed)

    assert [(await client.users_info(user="U0EMMA"))["ok"] for _ in range(3)] == [True] * 3
