"""Field case K1: an answer longer than a redrawn message may be arrives whole, streamed or posted; in both modes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from hermes_bot.edge.edge import Doors
from hermes_bot.workspace.faults import ApiError
from hermes_bot.workspace.server import WorkspaceServer
from tests.edge.rig import Rig, connected, reply_to
from tests.ports import free_port
from tests.scenario.in_both_modes import MODES

STREAM_FROM = 200


@pytest_asyncio.fixture(params=MODES)
async def rig(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Rig]:
    """An edge that lets long answers appear piece by piece."""
    port = free_port()
    url = f"http://127.0.0.1:{port}/slack/events" if request.param == "http" else ""
    async with WorkspaceServer(events_url=url) as server:
        secret = server.world.app.signing_secret
        doors = Doors(signing_secret=secret, port=port) if url else None
        async with connected(server, tmp_path, doors=doors, stream_from=STREAM_FROM) as rig:
            yield rig


def arrived(rig: Rig, ts: str) -> str:
    """Return the words that stand in the thread, without the spaces at which they may be cut."""
    texts = [block["text"]["text"] for post in rig.thread("C0SUPPORT", ts) for block in post["blocks"]]
    return "".join("".join(texts).split())


@pytest.mark.parametrize("size", [4_000, 4_001, 5_000, 39_000])
@pytest.mark.parametrize("word", ["客", "&<> "])
async def test_k1_a_long_answer_arrives_whole_and_no_error_reaches_the_person(rig: Rig, size: int, word: str) -> None:
    ticket = await rig.ticket()
    text = (word * size)[:size]
    message = reply_to(ticket, text)
    await rig.delivered(message)
    await rig.deliver(message, redelivered=True)

    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert arrived(rig, ticket.thread_ts) == "".join(escaped.split())
    assert all("msg_too_long" not in post["text"] for post in rig.thread("C0SUPPORT", ticket.thread_ts))


@pytest.mark.parametrize("error", ["msg_too_long", "msg_blocks_too_long", "invalid_blocks", "edit_window_closed"])
async def test_k1_what_slack_refuses_to_redraw_still_arrives_once(rig: Rig, error: str) -> None:
    ticket = await rig.ticket()
    text = "All of it. " * 300
    rig.server.faults.add(method="chat.update", fault=ApiError(error), times=2)
    await rig.delivered(reply_to(ticket, text))

    said = ["".join(post["text"].split()) for post in rig.thread("C0SUPPORT", ticket.thread_ts)]
    assert said == ["".join(text.split())]
