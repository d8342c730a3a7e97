"""How an app over HTTP can fail, what Slack calls it, and when Slack gives up."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import pytest
from aiohttp import web

from hermes_bot.workspace.clock import SettableClock
from hermes_bot.workspace.http_delivery import DELAYED_AFTER_S, HttpDelivery
from hermes_bot.workspace.server import WorkspaceServer
from hermes_bot.workspace.subscriptions import FEWEST_EVENTS, WINDOW_S, Subscriptions
from tests.workspace.receiver import receiving


def http(server: WorkspaceServer) -> HttpDelivery:
    assert server.http is not None
    return server.http


async def first_reason(url: str, clock: SettableClock) -> str:
    """What Slack says of the first try to reach an address."""
    async with WorkspaceServer(events_url=url, clock=clock) as server:
        await server.workspace.post("U0EMMA", "C0SUPPORT", "hello")
        await server.workspace.wait_for(lambda: http(server).sent)
        return http(server).sent[0].reason


@asynccontextmanager
async def answering(raw: bytes) -> AsyncIterator[str]:
    """The address of a server that answers everything with these bytes and ends the connection."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(64)
        writer.write(raw)
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}/slack/events"


@pytest.mark.parametrize("redirects,reason", [(2, ""), (3, "too_many_redirects")])
async def test_two_redirects_are_followed_and_a_third_is_not(redirects: int, reason: str, clock: SettableClock) -> None:
    async with receiving() as receiver:
        assert await first_reason(receiver.behind(redirects), clock) == reason
        assert len(receiver.requests) == (0 if reason else 1)


@pytest.mark.parametrize("status", [304, 400, 404, 500])
async def test_only_2xx_takes_an_event(status: int, clock: SettableClock) -> None:
    async with receiving() as receiver:
        receiver.answer = lambda _body: web.Response(status=status)
        assert await first_reason(receiver.url, clock) == "http_error"


@pytest.mark.parametrize("scheme,reason", [("http", "unknown_error"), ("https", "ssl_error")])
async def test_an_answer_that_is_no_http_and_one_that_is_no_tls(scheme: str, reason: str, clock: SettableClock) -> None:
    async with answering(b"good day\r\n\r\n") as place:
        assert await first_reason(f"{scheme}://{place}", clock) == reason


async def test_an_app_that_never_answers_is_timed_out_after_three_seconds(clock: SettableClock) -> None:
    asked, free = asyncio.Event(), asyncio.Event()

    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.set()
        await free.wait()
        writer.close()

    silent = await asyncio.start_server(hang, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{silent.sockets[0].getsockname()[1]}/slack/events"
    async with silent, WorkspaceServer(events_url=url, clock=clock) as server:
        await server.workspace.post("U0EMMA", "C0SUPPORT", "hello")
        async with asyncio.timeout(60):
            await asked.wait()
        clock.advance(2.9)
        before = len(http(server).sent)
        clock.advance(0.2)
        await server.workspace.wait_for(lambda: http(server).sent)
        free.set()

    assert (before, http(server).sent[0].reason) == (0, "http_timeout")


async def test_delayed_events_come_again_every_hour_of_a_day(clock: SettableClock) -> None:
    async with receiving() as receiver, WorkspaceServer(events_url=receiver.url, clock=clock) as server:
        http(server).delayed_events = True
        receiver.answer = lambda _body: web.Response(status=503)
        await server.workspace.post("U0EMMA", "C0SUPPORT", "hello")
        for tries, pause_s in enumerate((0, 60, 300, *DELAYED_AFTER_S), 1):
            await server.workspace.wait_for(partial(_waits_after, server, clock, tries))
            clock.advance(pause_s)
        await server.workspace.wait_for(lambda: server.unsettled == 0)

    assert len(receiver.requests) == 1 + 3 + 24
    assert receiver.requests[-1][0]["X-Slack-Retry-Num"] == "27"
    assert len(http(server).lost) == 1


def _waits_after(server: WorkspaceServer, clock: SettableClock, tries: int) -> bool:
    return len(http(server).sent) == tries and clock.waiting() > 0


async def test_a_taken_event_does_not_come_again_whatever_its_header_says(clock: SettableClock) -> None:
    async with receiving() as receiver, WorkspaceServer(events_url=receiver.url, clock=clock) as server:
        receiver.answer = lambda _body: web.Response(headers={"X-Slack-No-Retry": "1"})
        await server.workspace.post("U0EMMA", "C0SUPPORT", "hello")
        await server.workspace.wait_for(lambda: server.unsettled == 0)

    assert (len(receiver.requests), len(http(server).lost)) == (1, 0)


def an_hour(subscriptions: Subscriptions, clock: SettableClock, *, events: int, taken: int) -> bool:
    """Whether an hour with so many events, of which so many were taken, disables the subscriptions."""
    for number in range(events):
        subscriptions.sent()
        if number == events - 1:
            clock.advance(WINDOW_S)
        subscriptions.tried(taken=number < taken)
    return subscriptions.disabled


@pytest.mark.parametrize(
    "events,taken,disabled",
    [(FEWEST_EVENTS, 0, True), (FEWEST_EVENTS, 49, True), (FEWEST_EVENTS, 50, False), (FEWEST_EVENTS - 1, 0, False)],
)
def test_subscriptions_end_below_five_percent_of_a_thousand_events_an_hour(
    events: int, taken: int, disabled: bool, clock: SettableClock
) -> None:
    subscriptions = Subscriptions(clock)
    subscriptions.watched = True

    assert an_hour(subscriptions, clock, events=events, taken=taken) is disabled


def test_nothing_is_disabled_unwatched_and_what_was_can_be_enabled(clock: SettableClock) -> None:
    subscriptions = Subscriptions(clock)
    unwatched = an_hour(subscriptions, clock, events=FEWEST_EVENTS, taken=0)
    subscriptions.watched = True
    watched = an_hour(subscriptions, clock, events=FEWEST_EVENTS, taken=0)
    subscriptions.enable()

    assert (unwatched, watched, subscriptions.disabled) == (False, True, False)


async def test_an_app_whose_subscriptions_were_disabled_is_told_nothing_until_it_subscribes_again() -> None:
    async with receiving() as receiver, WorkspaceServer(events_url=receiver.url) as server:
        http(server).subscriptions.disabled = True
        await server.workspace.post("U0EMMA", "C0SUPPORT", "unheard")
        http(server).subscriptions.enable()
        await server.workspace.post("U0EMMA", "C0SUPPORT", "heard")
        await server.workspace.wait_for(lambda: server.unsettled == 0)

    assert ["unheard" in str(body) for _, body in receiver.requests] == [False]
    assert [body["event"]["text"] for body in http(server).lost] == ["unheard"]
