"""What is read of a thread that the bot is called into, against a real local workspace."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from hermes_bot.edge.inbound import Bot
from hermes_bot.edge.slack_api import PAGE_SIZE, SlackApi, web_client
from hermes_bot.edge.thread_reader import MOST_PAGES, SlackThreads, ThreadBounds, fitted
from hermes_bot.errors import TransientError
from hermes_bot.messages.payloads import Inbound
from hermes_bot.tickets.thread import ThreadLine, Writer
from hermes_bot.workspace.faults import ApiError, Fault, RateLimited, ReplyLost, ServerError, TokenRevoked
from hermes_bot.workspace.posts import Post
from hermes_bot.workspace.server import WorkspaceServer

EMMA, LINA, SUPPORT = "U0EMMA", "U0LINA", "C0SUPPORT"
BOT = Bot(team="T0HERMES", user="U0HERMES", bot="B0HERMES")
START = 1_700_000_000

Lines = list[ThreadLine]


class Counting(SlackApi):
    """The API, which remembers what it was asked, and may answer no more after a while."""

    asked: list[dict[str, Any]]
    fail_from = 1_000

    async def call(self, method: str, **arguments: Any) -> dict[str, Any]:
        self.asked.append({"method": method, **arguments})
        if len(self.asked) >= self.fail_from:
            raise TransientError("slack: away")
        return await super().call(method, **arguments)


class Place:
    """A thread in a workspace, and the reader."""

    def __init__(self, server: WorkspaceServer, api: Counting) -> None:
        self.server = server
        self.api = api
        self.root = ts_of(0)

    def says(self, user: str, text: str, place: int, **more: Any) -> str:
        thread = "" if place == 0 else self.root
        post = Post(channel=SUPPORT, ts=ts_of(place), user=user, text=text, thread_ts=thread, **more)
        self.server.workspace.posts.add(post)
        return post.ts

    async def before(
        self, place: int, *, limit_s: float = 20.0, inbound: Inbound | None = None, **bounds: int
    ) -> Lines:
        call = inbound or call_at(place)
        return list(await SlackThreads(self.api, BOT, ThreadBounds(**bounds), limit_s=limit_s).before(call))


def ts_of(place: int) -> str:
    return f"{START + place}.000100"


def call_at(place: int, **more: Any) -> Inbound:
    given: dict[str, Any] = {"channel": SUPPORT, "channel_type": "channel", "thread_ts": ts_of(0), "user": EMMA} | more
    return Inbound(team="T0HERMES", ts=ts_of(place), text="@Hermes", user_team="T0HERMES", **given)


def told(lines: Lines) -> list[tuple[str, str]]:
    return [(line.writer.value, line.text) for line in lines]


@pytest.fixture
async def place() -> AsyncIterator[Place]:
    async with WorkspaceServer() as server, aiohttp.ClientSession() as session:
        api = Counting(web_client(server.world.app.bot_token, server.api_url, session), limit_s=3.0)
        api.asked = []
        yield Place(server, api)


async def test_of_a_short_thread_everything_above_the_call_is_read_decoded_in_one_call(place: Place) -> None:
    place.says(EMMA, "My order 10023 &amp; more <@U0LINA|lina>", 0)
    place.says(LINA, "Mine too <@U0HERMES>", 1)
    place.says(EMMA, "<@U0HERMES> help", 2)
    place.says(LINA, "Later", 3)

    lines = await place.before(2)
    assert told(lines) == [("customer", "My order 10023 & more @lina"), ("person", "Mine too")]
    assert [line.root for line in lines] == [True, False]
    assert [line.ts for line in lines] == [ts_of(0), ts_of(1)]
    assert len(place.api.asked) == 1


@pytest.mark.parametrize("replies", [99, 250, 401, 999])
async def test_f3_of_a_long_thread_the_parent_and_the_last_replies_are_read(place: Place, replies: int) -> None:
    place.says(LINA, "The parent", 0)
    for number in range(1, replies + 1):
        place.says(LINA, f"Part {number}", number)

    lines = await place.before(replies + 1, messages=20)
    assert [line.text for line in lines] == ["The parent", *(f"Part {n}" for n in range(replies - 19, replies + 1))]
    assert len(place.api.asked) <= MOST_PAGES


@pytest.mark.parametrize("every_s", [1, 60, 3_600, 86_400], ids=["second", "minute", "hour", "day"])
async def test_f3_a_thread_that_is_too_long_is_read_from_its_end(place: Place, every_s: int) -> None:
    count = MOST_PAGES * PAGE_SIZE + 100
    place.says(LINA, "The parent", 0)
    for number in range(1, count + 1):
        place.says(LINA, f"Part {number}", number * every_s)

    lines = await place.before(count * every_s + 1, messages=20)
    assert [line.text for line in lines] == ["The parent", *(f"Part {n}" for n in range(count - 19, count + 1))]
    assert len(place.api.asked) <= 1 + 2 * MOST_PAGES


async def test_other_programs_are_marked_and_what_the_bot_said_in_between_is_left_out(place: Place) -> None:
    alert = {"title": "Alert: payment failed", "text": "Customer 7", "fallback": "f"}
    place.says("", "", 0, subtype="bot_message", bot=True, bot_id="B0MONITOR", attachments=(alert,))
    place.says("U0HERMES", "I said this", 1, bot=True)
    place.says("U0OTHER", "Another bot", 2, bot=True, bot_id="B0OTHER")
    place.says(EMMA, "joined", 3, subtype="channel_join")
    place.says("USLACKBOT", "Slackbot", 4)
    place.says(EMMA, "", 5)
    place.says(EMMA, "Shown in the channel as well", 6, broadcast=True)

    assert told(await place.before(9)) == [
        ("program", "Alert: payment failed\nCustomer 7"),
        ("program", "Another bot"),
        ("customer", "Shown in the channel as well"),
    ]


async def test_a_parent_of_the_bots_own_is_kept_as_such(place: Place) -> None:
    place.says("U0HERMES", "Your order 10023 was delivered.", 0, bot=True)

    assert told(await place.before(5)) == [("hermes", "Your order 10023 was delivered.")]


async def test_a_deleted_parent_is_left_out(place: Place) -> None:
    place.says("USLACKBOT", "This message was deleted.", 0, subtype="tombstone")
    place.says(EMMA, "What stays", 1)

    assert told(await place.before(5)) == [("customer", "What stays")]


async def test_files_are_named_and_are_no_words(place: Place) -> None:
    file = {"id": "F1", "name": "10023.png", "permalink": "https://acme.slack.com/files/F1"}
    place.says(EMMA, "", 0, files=(file,))
    (line,) = await place.before(5)

    assert line.text == "[file: 10023.png https://acme.slack.com/files/F1]"
    assert line.words == ""


async def test_somebody_of_the_same_id_in_another_team_is_somebody_else(place: Place) -> None:
    place.says(EMMA, "My order", 0)
    stranger = structs.replace(call_at(5), user_team="T9OTHER")

    assert told(await place.before(5, inbound=stranger)) == [("person", "My order")]


@pytest.mark.parametrize(
    "fault",
    [
        ApiError("missing_scope"),
        ApiError("channel_not_found"),
        ApiError("thread_not_found"),
        ApiError("not_in_channel"),
        RateLimited(30),
        ServerError(503),
        ReplyLost(),
        TokenRevoked(),
    ],
    ids=lambda fault: str(fault),
)
async def test_whatever_slack_answers_nothing_is_raised(place: Place, fault: Fault) -> None:
    place.says(EMMA, "My order", 0)
    place.server.faults.add(method="conversations.replies", fault=fault, times=5)

    assert await place.before(5) == []


async def test_of_a_thread_whose_end_cannot_be_read_the_parent_alone_is_kept(place: Place) -> None:
    place.says(LINA, "The parent", 0)
    for number in range(1, 2 * PAGE_SIZE):
        place.says(LINA, f"Part {number}", number)
    place.api.fail_from = 2

    assert told(await place.before(5_000)) == [("person", "The parent")]


async def test_a_slack_that_takes_too_long_is_not_waited_for(place: Place) -> None:
    place.says(EMMA, "My order", 0)

    assert await place.before(5, limit_s=0.0) == []


async def test_nothing_is_read_outside_of_threads_or_where_nobody_wants_it(place: Place) -> None:
    place.says(EMMA, "My order", 0)

    assert await place.before(5, inbound=call_at(5, thread_ts="")) == []
    assert await place.before(5, messages=0) == []
    assert place.api.asked == []


@given(
    st.integers(0, 3_000),
    st.lists(st.integers(1, 3_000), max_size=40),
    st.integers(500, 8_000),
)
def test_the_lines_stay_within_their_bounds_and_the_newest_are_kept(
    parent: int, lengths: list[int], characters: int
) -> None:
    head = (
        None if not parent else ThreadLine(ts=ts_of(0), user=LINA, writer=Writer.PERSON, text="p" * parent, root=True)
    )
    last = [ThreadLine(ts=ts_of(n + 1), user=LINA, writer=Writer.PERSON, text="l" * n) for n in lengths]
    kept = fitted(head, last, ThreadBounds(messages=40, characters=characters))

    replies = [line for line in kept if not line.root]
    assert sum(len(line.text) for line in kept) <= characters
    assert any(line.root for line in kept) == bool(parent)
    assert [line.ts for line in replies] == [line.ts for line in last][len(last) - len(replies) :]
    assert not last or replies
