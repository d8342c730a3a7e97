"""The reaction on a message in work: it comes and goes, and whatever Slack says of it is let go."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from hermes_bot.edge.reactions import Reactions
from hermes_bot.messages.message import utc_now
from hermes_bot.workspace.faults import ApiError, Fault, RateLimited, ReplyLost, ServerError
from hermes_bot.workspace.server import WorkspaceServer
from tests.edge.rig import Rig, unstarted

MANY = 50
SUPPORT = "C0SUPPORT"


class Marks:
    """The reactions of a bot that was started once or twice, on a clock that the test moves."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.now = utc_now()
        self.calls: list[str] = []
        self.started = self.again()
        attempt = rig.api.attempt

        async def counted(method: str, **arguments: Any) -> str:
            self.calls.append(method)
            return await attempt(method, **arguments)

        rig.api.attempt = counted  # type: ignore[method-assign]  # the test looks on

    def again(self) -> Reactions:
        """Return what a new process begins with."""
        return Reactions(self.rig.api, self.rig.posts, name="eyes", clock=self.clock)

    def clock(self) -> datetime:
        return self.now

    async def message(self) -> str:
        """Return the ts of something that a person wrote."""
        return await self.rig.server.workspace.post("U0EMMA", SUPPORT, "help me")

    async def show(self, ts: str, ticket_id: str = "T-1") -> None:
        await self.started.show(ticket_id, SUPPORT, ts, still=lambda: True)

    def on(self, ts: str) -> bool:
        """Return whether the message has the bot's reaction."""
        post = self.rig.server.workspace.posts.get(SUPPORT, ts)
        assert post is not None
        return dict(post.reactions).get("eyes") == (self.rig.server.world.app.user,)


@pytest_asyncio.fixture
async def marks(tmp_path: Path) -> AsyncIterator[Marks]:
    async with WorkspaceServer() as server, unstarted(server, tmp_path) as rig:
        yield Marks(rig)


async def test_it_comes_once_and_goes_once(marks: Marks) -> None:
    ts = await marks.message()

    await marks.show(ts)
    await marks.show(ts)
    assert marks.on(ts)
    await marks.started.clear("T-1")
    await marks.started.clear("T-1")

    assert not marks.on(ts)
    assert marks.calls == ["reactions.add", "reactions.remove"]


async def test_a_newer_message_takes_it_over(marks: Marks) -> None:
    first, second = await marks.message(), await marks.message()

    await marks.show(first)
    await marks.show(second)

    assert (marks.on(first), marks.on(second)) == (False, True)


async def test_another_process_takes_it_away(marks: Marks) -> None:
    ts = await marks.message()
    await marks.show(ts)

    await marks.again().clear("T-1")

    assert not marks.on(ts)


async def test_what_was_answered_meanwhile_gets_none(marks: Marks) -> None:
    ts = await marks.message()

    await marks.started.show("T-1", SUPPORT, ts, still=lambda: False)

    assert marks.calls == []


@pytest.mark.parametrize("error", ["message_not_found", "not_in_channel", "is_archived", "too_many_reactions"])
async def test_what_slack_does_not_take_is_let_go_and_not_taken_away(marks: Marks, error: str) -> None:
    ts = await marks.message()
    marks.rig.server.faults.add(method="reactions.add", fault=ApiError(error))

    await marks.show(ts)
    await marks.started.clear("T-1")

    assert marks.calls == ["reactions.add"]


@pytest.mark.parametrize("error", ["no_reaction", "message_not_found", "channel_not_found"])
async def test_what_cannot_be_taken_away_is_forgotten(marks: Marks, error: str) -> None:
    await marks.show(await marks.message())
    marks.rig.server.faults.add(method="reactions.remove", fault=ApiError(error))

    await marks.started.clear("T-1")
    await marks.started.clear("T-1")

    assert marks.calls == ["reactions.add", "reactions.remove"]


async def test_one_that_stands_already_goes_away_as_well(marks: Marks) -> None:
    ts = await marks.message()
    await marks.rig.api.call("reactions.add", channel=SUPPORT, timestamp=ts, name="eyes")

    await marks.show(ts)
    await marks.started.clear("T-1")

    assert not marks.on(ts)


async def test_one_whose_answer_was_lost_goes_away_as_well(marks: Marks) -> None:
    ts = await marks.message()
    marks.rig.server.faults.add(method="reactions.add", fault=ReplyLost())

    await marks.show(ts)
    assert marks.on(ts)
    marks.now += timedelta(minutes=2)
    await marks.started.clear("T-1")

    assert not marks.on(ts)


@pytest.mark.parametrize("fault", [RateLimited(30), RateLimited(None), ServerError(500), ApiError("internal_error")])
async def test_while_slack_is_busy_there_are_none_for_a_minute(marks: Marks, fault: Fault) -> None:
    marks.rig.server.faults.add(method="reactions.add", fault=fault, times=MANY)
    messages = [await marks.message() for _ in range(5)]

    for number, ts in enumerate(messages):
        await marks.show(ts, f"T-{number}")
        await marks.started.clear(f"T-{number}")

    assert marks.calls == ["reactions.add"]


@pytest.mark.parametrize("error", ["missing_scope", "invalid_name"])
async def test_what_would_never_be_taken_is_not_asked_for_again(marks: Marks, error: str) -> None:
    marks.rig.server.faults.add(method="reactions.add", fault=ApiError(error), times=MANY)

    for number in range(5):
        await marks.show(await marks.message(), f"T-{number}")
        marks.now += timedelta(minutes=2)

    assert marks.calls == ["reactions.add"]
