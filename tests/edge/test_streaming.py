"""A long answer appears piece by piece, and stands there in the end as if it had been posted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from hermes_bot.edge.posts import Post, Posts
from hermes_bot.edge.text import unescape
from hermes_bot.messages.payloads import POST_CHECK
from hermes_bot.tickets.ticket import Ticket
from hermes_bot.workspace.faults import ApiError, Fault, Lacks, RateLimited, ReplyLost, ServerError
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


CODE = "Look:\n```\n" + "".join(f"    line_{number}(1, 2)\n" for number in range(40)) + "```\nThat is all."


@pytest.mark.parametrize(
    "text", [ANSWER, CODE, "一句话。" * 120, "word " * 250], ids=["parts", "code", "zh", "one line"]
)
async def test_its_pieces_are_the_answer_cut_nowhere_a_reader_would_see(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    ticket, pieces = await rig.ticket(), list[str]()
    attempt = rig.api.attempt

    async def looked_on(method: str, **arguments: Any) -> str:
        if method == "chat.appendStream":
            pieces.append(arguments["markdown_text"])
        return await attempt(method, **arguments)

    monkeypatch.setattr(rig.api, "attempt", looked_on)
    await rig.deliver(reply_to(ticket, text))

    assert unescape("".join(pieces).replace("\\", "")) == text
    assert len(pieces) <= 5
    assert all(piece.endswith(("\n", "。", " ", ".")) for piece in pieces)


@pytest.mark.parametrize("fault", [ApiError("channel_type_not_supported"), RateLimited(2), ServerError()])
async def test_where_slack_does_not_stream_it_is_posted(rig: Rig, fault: Fault) -> None:
    ticket = await rig.ticket()
    rig.server.faults.add(method="chat.startStream", fault=fault)

    await rig.delivered(reply_to(ticket, ANSWER))

    assert [reply["text"] for reply in rig.thread("C0SUPPORT", ticket.thread_ts)] == [ESCAPED]


NO_STREAM = ApiError("message_not_in_streaming_state")
FAULTS: list[tuple[str, Fault]] = [
    ("chat.appendStream", ServerError()),
    ("chat.appendStream", ReplyLost()),
    ("chat.appendStream", RateLimited(1)),
    ("chat.appendStream", NO_STREAM),
    ("chat.appendStream", ApiError("msg_too_long")),
    ("chat.stopStream", ServerError()),
    ("chat.stopStream", ReplyLost()),
    ("chat.stopStream", RateLimited(1)),
    ("chat.stopStream", NO_STREAM),
    ("chat.update", ServerError()),
    ("chat.update", ReplyLost()),
    ("chat.update", ApiError("cant_update_message")),
    ("chat.update", ApiError("edit_window_closed")),
    ("chat.update", ApiError("message_not_found")),
]


@pytest.mark.parametrize("method, fault", FAULTS, ids=str)
async def test_what_fails_on_the_way_leaves_one_whole_answer(rig: Rig, method: str, fault: Fault) -> None:
    ticket = await rig.ticket()
    rig.server.faults.add(method=method, fault=fault)

    await rig.delivered(reply_to(ticket, ANSWER))

    assert whole(rig, ticket)
    assert rig.server.faults.waiting() == 0


@pytest.mark.parametrize("fault", [ServerError(), ReplyLost()], ids=str)
async def test_what_can_neither_be_finished_nor_taken_back_at_once_is_later(rig: Rig, fault: Fault) -> None:
    ticket = await rig.ticket()
    rig.server.faults.add(method="chat.update", fault=ApiError("cant_update_message"))
    rig.server.faults.add(method="chat.delete", fault=fault)

    await rig.delivered(reply_to(ticket, ANSWER))

    assert whole(rig, ticket)


async def test_a_beginning_whose_answer_is_lost_is_found_and_goes_on(rig: Rig) -> None:
    ticket = await rig.ticket()
    message = reply_to(ticket, ANSWER)
    rig.server.faults.add(method="chat.startStream", fault=ReplyLost())

    outputs = await rig.deliver(message)

    assert whole(rig, ticket)
    assert (await rig.posts.find(f"stream:reply:{message.id}")) is not None
    assert POST_CHECK not in [each.type for each in outputs]


async def test_a_beginning_that_is_not_found_is_taken_back_later(rig: Rig) -> None:
    ticket = await rig.ticket()
    rig.server.faults.add(method="chat.startStream", fault=ReplyLost())
    rig.server.faults.add(method="conversations.replies", fault=Lacks(("messages",)))

    outputs = await rig.deliver(reply_to(ticket, ANSWER))
    assert [reply["text"] for reply in rig.thread("C0SUPPORT", ticket.thread_ts)] == ["", ESCAPED]
    (check,) = [each for each in outputs if each.type == POST_CHECK]
    await rig.deliver(check)

    assert whole(rig, ticket)


async def test_a_beginning_that_slack_never_made_leaves_nothing_to_look_for_but_the_answer(rig: Rig) -> None:
    ticket = await rig.ticket()
    rig.server.faults.add(method="chat.startStream", fault=ServerError())

    outputs = await rig.deliver(reply_to(ticket, ANSWER))
    await rig.deliver(next(each for each in outputs if each.type == POST_CHECK))

    assert whole(rig, ticket)


async def test_a_process_that_ended_right_after_the_beginning_leaves_one_answer(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticket = await rig.ticket()
    message = reply_to(ticket, ANSWER)

    async def killed(_posts: Posts, _post: Post) -> None:
        raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(Posts, "record", killed)
        with pytest.raises(KilledError):
            await rig.deliver(message)
    await rig.deliver(message, redelivered=True)

    assert whole(rig, ticket)


async def test_somebody_elses_empty_message_and_an_earlier_answer_stay(rig: Rig) -> None:
    ticket = await rig.ticket()
    await rig.deliver(reply_to(ticket, ANSWER))
    await rig.server.workspace.post("U0OMAR", "C0SUPPORT", "I am here too", ticket.thread_ts)
    before = [reply["text"] for reply in rig.thread("C0SUPPORT", ticket.thread_ts)]
    rig.server.faults.add(method="chat.startStream", fault=ReplyLost())

    await rig.deliver(reply_to(ticket, ANSWER))

    assert [reply["text"] for reply in rig.thread("C0SUPPORT", ticket.thread_ts)] == [*before, ESCAPED]


async def test_what_a_person_stopped_stays_as_it_is_also_when_the_answer_comes_again(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticket = await rig.ticket()
    message = reply_to(ticket, ANSWER)
    append, told = rig.api.attempt, 0

    async def stopping(method: str, **arguments: Any) -> str:
        nonlocal told
        told += method == "chat.appendStream"
        if method == "chat.appendStream" and told == 2:
            await rig.server.workspace.stop("U0EMMA", "C0SUPPORT", ticket.thread_ts)
        return await append(method, **arguments)

    monkeypatch.setattr(rig.api, "attempt", stopping)
    await rig.deliver(message)
    (stopped,) = rig.thread("C0SUPPORT", ticket.thread_ts)
    await rig.posts.forget(f"reply:{message.id}")
    await rig.deliver(message, redelivered=True)

    assert rig.thread("C0SUPPORT", ticket.thread_ts) == [stopped]
    assert len(stopped["text"]) < len(ESCAPED)


class KilledError(Exception):
    """The process ends here."""


def whole(rig: Rig, ticket: Ticket) -> bool:
    """Return whether the answer stands there once, and nothing else does."""
    return [reply["text"] for reply in rig.thread("C0SUPPORT", ticket.thread_ts)] == [ESCAPED]


async def test_a_short_answer_is_posted_at_once(rig: Rig) -> None:
    ticket = await rig.ticket()
    message = reply_to(ticket, "short")

    await rig.deliver(message)

    assert await rig.posts.find(f"stream:reply:{message.id}") is None
