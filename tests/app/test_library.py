"""Hermes as a library: no Slack, no workspace; the caller publishes and takes the replies."""

import contextlib
import io
import logging
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agents.desk import Desk
from agents.entry import EntryAgent
from hermes_bot import observe
from hermes_bot.app import HermesApp
from hermes_bot.errors import BusStopped, PermanentError
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import REPLY_READY, Reply, Work, read
from hermes_bot.messages.task_payloads import TaskResult, TaskStatus
from hermes_bot.people import Person
from hermes_bot.tasks.requests import TaskFailed
from hermes_bot.tasks.task import Part
from tests.servers import Redis

ONE_ROUTE = """
routes:
  - name: after_sales
    type: ticket.after_sales
    agent: after_sales
    keywords: {phrases: [售后, warranty]}
"""
FEW_ROUTES = ONE_ROUTE.replace("after_sales", "order")
QUESTION = "我的订单一直没发货，想查询一下"
Running = Callable[..., AbstractAsyncContextManager[HermesApp]]


@pytest.fixture(params=["memory", "sqlite", "redis"])
def environ(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    """What chooses the backend; each test has keys of its own in the one redis."""
    chosen = {"HERMES_BUS__BACKEND": request.param}
    if request.param == "redis":
        server: Redis = request.getfixturevalue("redis_server")
        chosen |= {"HERMES_REDIS_URL": server.url, "HERMES_BUS__PREFIX": tmp_path.name}
    return chosen


@pytest.fixture
def config(tmp_path: Path, vectors: Path) -> Path:
    shutil.copytree(vectors, tmp_path / "data" / "cache")
    file = tmp_path / "hermes.yaml"
    file.write_text(f"data: {{path: '{tmp_path}/data'}}\nencoder: {{profile: light}}\n", encoding="utf-8")
    return file


@pytest.fixture
def few_routes(config: Path) -> None:
    """Routes that are read in no time, where it is not about the shipped ones."""
    (config.parent / "routing.yaml").write_text(FEW_ROUTES, encoding="utf-8")


@pytest.fixture
def running(config: Path, environ: dict[str, str]) -> Running:
    """Start an app, with `prepare(app)` before; at the end nothing may have ended as a dead letter."""

    @asynccontextmanager
    async def run(prepare: Callable[[HermesApp], None] = lambda _: None, **fields: Any) -> AsyncIterator[HermesApp]:
        app = HermesApp(config, environ=environ, **fields)
        prepare(app)
        try:
            await app.start()
            yield app
        finally:
            await app.stop()

    return run


def asks(text: str, **data: Any) -> Message:
    body = {"user": "10086", "text": text, **data}
    return Message(type="ticket.created", sender="demo", context_id="demo:1", data=body)


@contextlib.contextmanager
def printed() -> Iterator[io.StringIO]:
    """What `--debug` prints."""
    stream = io.StringIO()
    undo = observe.configure(stream=stream, debug=True)
    try:
        yield stream
    finally:
        undo()


def hops(lines: str) -> list[str]:
    """Return the agents of the debug lines up to the reply, and how the last line ends."""
    ways = [line.split("  ")[0].split(" → ") for line in lines.splitlines() if " → " in line]
    return [way[1] for way in ways if way[0].split()[-1] != REPLY_READY] + [ways[-1][-1]]


async def test_the_first_demo(running: Running) -> None:
    with printed() as lines:
        async with running(lambda app: app.route("ticket.created", EntryAgent())) as app:
            await app.publish(asks(QUESTION, customer_email="li.na@example.com"))
            (reply,) = await app.drain()

    assert hops(lines.getvalue()) == ["entry", "order", "(terminal)"]
    assert [hop.agent for hop in reply.context_chain.hops] == ["entry", "order"]
    assert reply.context_chain.text == QUESTION
    assert [choice.label for choice in read(reply, Reply).choices] != []  # which of Li Na's orders


async def test_a_customer_who_is_vouched_for_is_told_of_their_own_order(running: Running) -> None:
    async with running() as app:
        await app.publish(asks("where is my order 10002?", customer_email="emma.fischer@example.com"))
        (reply,) = await app.drain()
        await app.publish(asks("where is my order 10007?"))  # somebody else's
        (other,) = await app.drain()

    assert "10002" in read(reply, Reply).text
    assert dict(read(reply, Reply).fields)  # a conversation with a library's caller is a private one
    assert not read(other, Reply).fields


async def test_a_user_whom_nobody_vouches_for_gets_nobodys_data(running: Running) -> None:
    async with running() as app:
        await app.publish(asks("where is my order 10002?"))
        replies = await app.drain()

    assert replies
    assert all(not read(reply, Reply).fields for reply in replies)


async def test_a_vouch_that_is_taken_back_counts_no_more(running: Running) -> None:
    async with running() as app:
        await app.publish(asks("where is my order 10002?", customer_email="emma.fischer@example.com"))
        await app.drain()
        message = asks("and order 10003?", customer_email="", user="10086")
        await app.publish(message)
        replies = await app.drain()

    assert all(not read(reply, Reply).fields for reply in replies)


async def test_a_directory_may_say_who_people_are(running: Running) -> None:
    class Register:
        async def person(self, team: str, user: str, *, fresh: bool = False) -> Person:
            return Person(team=team, id=user, name="Emma", email="emma.fischer@example.com")

        async def group_members(self, group: str) -> frozenset[str]:
            return frozenset()

    async with running(directory=Register()) as app:
        await app.publish(asks("where is my order 10002?"))
        (reply,) = await app.drain()
        with pytest.raises(PermanentError, match="no directory"):
            await app.publish(asks("hello", customer_email="li.na@example.com"))

    assert dict(read(reply, Reply).fields)


@pytest.mark.usefixtures("few_routes")
async def test_drain_returns_each_reply_once(running: Running) -> None:
    async with running() as app:
        await app.publish(asks("hello"))

        assert len(await app.drain()) == 1
        assert await app.drain() == []


async def test_what_was_published_before_a_restart_is_answered_after_it(config: Path) -> None:
    first = HermesApp(config, environ={})
    await first.start()
    assert first.bus is not None
    await first.bus.pause()
    await first.publish(asks("where is my order 10002?", customer_email="emma.fischer@example.com"))
    await first.stop()

    second = HermesApp(config, environ={})
    await second.start()
    assert second.bus is not None
    await second.bus.resume()
    (reply,) = await second.drain()
    await second.stop()

    assert dict(read(reply, Reply).fields)  # the vouch lasted as well


class AfterSalesAgent:
    """The one class that an agent takes."""

    name = "after_sales"

    async def handle(self, message: Message, desk: Desk) -> list[Message]:
        work = read(message, Work)
        body = Reply(ticket_id=work.ticket_id, channel="c", thread_ts="", text=f"after sales: {work.text}")
        return [message.child(REPLY_READY, body)]


async def test_an_agent_takes_one_class_and_one_route(running: Running, config: Path) -> None:
    (config.parent / "routing.yaml").write_text(ONE_ROUTE, encoding="utf-8")

    async with running(lambda app: app.route("ticket.after_sales", AfterSalesAgent())) as app:
        await app.publish(asks("我要申请售后服务"))
        (reply,) = await app.drain()

    assert read(reply, Reply).text == "after sales: 我要申请售后服务"
    assert [hop.agent for hop in reply.context_chain.hops] == ["entry", "after_sales"]


class Echo:
    """Answers in the place of another agent."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def handle(self, message: Message, desk: Desk) -> list[Message]:
        body = Reply(ticket_id="", channel="c", thread_ts="", text=f"{self.name} got {message.type}")
        return [message.child(REPLY_READY, body)]


@pytest.mark.parametrize("name", ["order", "mine"])
async def test_a_routed_agent_takes_the_place_of_the_configured_one(running: Running, name: str) -> None:
    async with running(lambda app: app.route("ticket.order", Echo(name))) as app:
        await app.publish(asks("where is my order 10002?"))
        (reply,) = await app.drain()

    assert read(reply, Reply).text == f"{name} got ticket.order"


async def test_an_agent_may_be_routed_while_the_app_runs(running: Running) -> None:
    async with running() as app:
        app.route("ticket.order", Echo("later"))
        app.route("news.#", Echo("news"))
        await app.publish(asks("where is my order 10002?"))
        await app.publish(Message(type="news.today", sender="demo", context_id="demo:2"))
        replies = await app.drain()

    assert sorted(read(reply, Reply).text for reply in replies) == ["later got ticket.order", "news got news.today"]


class Boss:
    """Delegates on `deal.asked` and tells what came back."""

    name = "boss"
    delegates = ("deal.price",)

    async def handle(self, message: Message, desk: Desk) -> list[Message]:
        if message.type == "deal.asked":
            parts = [Part(name="price", type="deal.price", data=message.data, expects={"required": ["cents"]})]
            return await desk.tasks.delegate(message, parts, agent=self.name)
        result = read(message, TaskResult)
        origin = await desk.tasks.origin(message)
        return [desk.tasks.execution(origin, agent=self.name).answer({"price": result.result["price"]["cents"]})]


class Clerk:
    """Knows the price of one thing."""

    name = "clerk"

    async def handle(self, message: Message, desk: Desk) -> list[Message]:
        execution = desk.tasks.execution(message, agent=self.name)
        return [execution.answer({"cents": 900} if message.data.get("sku") == "X" else {})]


def deal(app: HermesApp) -> None:
    app.route("deal.asked", Boss())
    app.route("deal.price", Clerk())


@pytest.mark.usefixtures("few_routes")
async def test_a_request_is_answered_through_a_delegation(running: Running) -> None:
    async with running(deal) as app:
        asked = Message(type="deal.asked", sender="demo", context_id="demo:3", data={"sku": "X"})
        answer = await app.request(asked, timeout_s=20)

    assert (answer.status, answer.result) == (TaskStatus.DONE, {"price": 900})


@pytest.mark.usefixtures("few_routes")
async def test_a_request_that_fails_raises(running: Running) -> None:
    async with running(deal) as app:
        asked = Message(type="deal.price", sender="demo", context_id="demo:3", expects={"required": ["cents"]})
        with pytest.raises(TaskFailed, match="'cents' is a required property"):
            await app.request(asked, timeout_s=20)


@pytest.mark.usefixtures("few_routes")
async def test_before_the_start_nothing_can_be_published(config: Path, environ: dict[str, str]) -> None:
    app = HermesApp(config, environ=environ)

    with pytest.raises(BusStopped, match=r"await app\.start\(\)"):
        await app.publish(asks("hello"))


@pytest.mark.usefixtures("few_routes")
@pytest.mark.parametrize("data", [{}, {"user": "10086"}, {"user": 10086, "text": "hello"}])
async def test_a_customers_message_without_user_or_text_is_refused(running: Running, data: dict[str, Any]) -> None:
    async with running() as app:
        message = Message(type="ticket.created", sender="demo", context_id="demo:1", data=data)
        with pytest.raises(PermanentError, match="does not fit Inbound"):
            await app.publish(message)


@pytest.mark.usefixtures("few_routes")
async def test_what_staff_would_see_stands_in_the_log(running: Running, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="hermes_bot")
    async with running() as app:
        await app.publish(asks("I want to talk to a human"))
        (reply,) = await app.drain()

    assert read(reply, Reply).text
    assert any(getattr(record, "type", "") == "handoff.requested" for record in caplog.records)
