"""A long answer appears piece by piece, and stands there in the end as if it had been posted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from hermes_bot.workspace.faults import ApiError, Fault, RateLimited, ServerError
from hermes_bot.workspace.server import WorkspaceServer
from tests.edge.rig import Rig, connected, reply_to

ANSWER = "\n\n".join(f"Part {number}: *all* of it & more <here>." for number in range(12))
ESCAPED = ANSWER.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


@pytest_asyncio.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    async with WorkspaceServer() as server, connected(server, tmp_path, stream_from=200) as rig:
        yield rig


async def test_it_appears_before_the_one_who_asked_and_then_stands_there_whole(rig: Rig) -> None:
    ticket = await rig.ticket()
    message = reply_to(ticket, ANSWER)

    await rig.deliver(message)
    await rig.deliver(message, redelivered=True)

    (reply,) = rig.thread("C0SUPPORT", ticket.thread_ts)
    assert reply["text"] == ESCAPED
    assert "".join(block["text"]["text"] for block in reply["blocks"]) == ESCAPED
    assert (await rig.posts.find(f"stream:reply:{message.id}")) is not None


@pytest.mark.parametrize("fault", [ApiError("channel_type_not_supported"), RateLimited(2), ServerError()])
async def test_where_slack_does_not_stream_it_is_posted(rig: Rig, fault: Fault) -> None:
    ticket = await rig.ticket()
    rig.server.faults.add(method="chat.startStream", fault=fault)

    await rig.delivered(reply_to(ticket, ANSWER))

    assert [reply["text"] for reply in rig.thread("C0SUPPORT", ticket.thread_ts)] == [ESCAPED]


@pytest.mark.parametrize("method", ["chat.appendStream", "chat.stopStream", "chat.update"])
async def test_what_fails_on_the_way_leaves_one_whole_answer(rig: Rig, method: str) -> None:
    ticket = await rig.ticket()
    rig.server.faults.add(method=method, fault=ServerError())

    await rig.delivered(reply_to(ticket, ANSWER))

    assert [reply["text"] for reply in rig.thread("C0SUPPORT", ticket.thread_ts)] == [ESCAPED]


async def test_a_short_answer_is_posted_at_once(rig: Rig) -> None:
    ticket = await rig.ticket()
    message = reply_to(ticket, "short")

    await rig.deliver(message)

    assert await rig.posts.find(f"stream:reply:{message.id}") is None
