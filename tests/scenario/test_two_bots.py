"""Two bots on one PostgreSQL and one redis: every refund once, every card final, every customer answered; and M3."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from hermes_bot.workspace.posts import Post
from hermes_bot.workspace.refusal import Refusal
from hermes_bot.workspace.server import WorkspaceServer
from tests.ports import free_port
from tests.scenario.refund_crowd import LOST, PATIENCE_S, crowd_of, open_shop, world_of
from tests.scenario.stage import APPROVE, OLIVIA, OMAR, SUPPORT, Buyer, Talk, buttons
from tests.scenario.two_bots import Servers, SharedStage, play, servers_of, two_bots
from tests.servers import Postgres, Redis, running_redis

pytestmark = pytest.mark.timeout(1_200)

SEED, ROUNDS, TICKETS, KILLS = 20261130, 20, 40, 3  # `make fire ARGS="--scene two-bots"` plays 500, docs/fire.md
FIRST, SECOND = 0, 1
MENTION = 0.5


@pytest.fixture(scope="module")
def redis_server() -> Iterator[Redis]:
    with running_redis() as server:
        yield server


@pytest.fixture
def servers(postgres: Postgres, redis_server: Redis) -> Servers:
    return servers_of(postgres, redis_server)


async def test_every_refund_once_every_card_final_and_every_customer_answered_whatever_dies(
    tmp_path: Path, vectors: Path, servers: Servers
) -> None:
    told = await play(servers, tmp_path, vectors, tickets=TICKETS, kills=KILLS, seed=SEED)

    assert told.problems == ()
    assert told.paid + told.rejected == TICKETS
    assert min(told.paid, told.rejected) > 0


async def test_m3_a_message_to_one_its_retry_and_the_click_to_the_other_over_socket_mode(
    tmp_path: Path, vectors: Path, servers: Servers
) -> None:
    buyer, *others = people = crowd_of(1 + ROUNDS)
    await open_shop(servers.orders, people)
    async with WorkspaceServer(world=world_of(people)) as server, two_bots(server, servers, tmp_path, vectors):
        await server.workspace.wait_for(lambda: server.sockets.connected == 2)
        turns, stage = Turns(), SharedStage(server, tmp_path, servers)
        server.sockets.choose = lambda _count: turns.next()
        await m3(stage, buyer)
        event = server.sockets.deliveries.sent[0].event_id
        tries = [each.attempt for each in server.sockets.deliveries.sent if each.event_id == event]
        took = tuple(turns.took)
        await m3_at_random(stage, others, turns)

    assert tries == [0, 1]
    assert (took[0], set(took[1:])) == (FIRST, {SECOND})


async def test_m3_a_message_to_one_its_retry_and_the_click_to_the_other_over_http(
    tmp_path: Path, vectors: Path, servers: Servers
) -> None:
    buyer, *others = people = crowd_of(1 + ROUNDS)
    await open_shop(servers.orders, people)
    ports, turns = [free_port(), free_port()], Turns()
    way = balancer(lambda: ports[turns.next()])
    async with way as url, WorkspaceServer(world=world_of(people), events_url=f"{url}/events") as server:
        secret = {"SLACK_APP_TOKEN": "", "SLACK_SIGNING_SECRET": server.world.app.signing_secret}
        own = [secret | {"HERMES_HTTP__PORT": str(port)} for port in ports]
        assert server.http is not None
        async with two_bots(server, servers, tmp_path, vectors, *own):
            stage = SharedStage(server, tmp_path, servers)
            await m3(stage, buyer)
            event = server.http.sent[0].event_id
            tries = [each.reason for each in server.http.sent if each.event_id == event]
            took = tuple(turns.took)
            await m3_at_random(stage, others, turns)

    assert tries == ["http_timeout", ""]
    assert (took[0], set(took[1:])) == (FIRST, {SECOND})


class Turns:
    """Which of the two bots gets the next thing: the first one, then the other; or as a seed has it."""

    def __init__(self) -> None:
        self._chance: random.Random | None = None
        self.took: list[int] = []

    def at_random(self, seed: int) -> None:
        """Go by chance from now on."""
        self._chance = random.Random(seed)

    def next(self) -> int:
        """Return the bot's number."""
        by_turns = SECOND if self.took else FIRST
        self.took.append(self._chance.randrange(2) if self._chance is not None else by_turns)
        return self.took[-1]


async def m3_at_random(stage: SharedStage, people: Sequence[Buyer], turns: Turns) -> None:
    """Let them all ask at once, half of the acks be lost, and two people press twice each, whichever bot gets it."""
    turns.at_random(SEED)
    stage.server.acks.lose(len(people) // 2)
    ran = stage.number("SELECT count(*) FROM audit WHERE action = 'ran'")
    talks = await asyncio.gather(*(raced(stage, each, random.Random(f"{SEED}:{each.user}")) for each in people))
    await stage.quiet()

    assert stage.rows("SELECT requester, count(*) FROM tickets GROUP BY requester HAVING count(*) > 1") == []
    assert stage.number("SELECT count(*) FROM audit WHERE action = 'ran'") == ran + len(people)
    assert [stage.paid()[each.order.id] for each in people] == [1] * len(people)
    said = [[("has been refunded" in post.text) for post in stage.replies(talk)] for talk in talks]
    assert said == [[False, True]] * len(people)
    assert await stage.letters() == []


async def raced(stage: SharedStage, buyer: Buyer, chance: random.Random) -> Talk:
    """Return a request whose card shows no button any more; some call the bot, and so come as two events."""
    call = f"<@{stage.server.world.app.user}> " if chance.random() < MENTION else ""
    text = f"{call}I want a refund for order {buyer.order.id}"
    ts = await stage.workspace.post(buyer.user, SUPPORT, text, raw=True)
    talk = Talk(user=buyer.user, channel=SUPPORT, ts=ts, root=ts)
    card = await stage.card("approval", buyer.order.id)
    while buttons(stage.now(card)):
        presses = chance.sample((OMAR, OLIVIA) * 2, 4)
        await asyncio.gather(*(pressed(stage, user, card) for user in presses))
        with suppress(TimeoutError):
            await stage.workspace.wait_for(lambda: not buttons(stage.now(card)), PATIENCE_S)
    return talk


async def pressed(stage: SharedStage, user: str, card: Post) -> None:
    """Press Approve, if it still stands there."""
    try:
        await stage.click(user, card, APPROVE)
    except Refusal as refusal:
        if refusal.error not in LOST:
            raise


async def m3(stage: SharedStage, buyer: Buyer) -> None:
    """Ask for a refund, and approve it; the ack of the first try is lost."""
    stage.server.acks.lose()

    talk = await stage.say(buyer.user, SUPPORT, f"I want a refund for order {buyer.order.id}")
    await stage.until(lambda: not stage.server.unsettled)
    card = await stage.card("approval", buyer.order.id)
    for user in (OMAR, OLIVIA):  # the amount takes two people
        assert (await stage.click(user, card, APPROVE)).ok
    await stage.until(lambda: not buttons(stage.now(card)))
    await stage.quiet()

    said = [post.text for post in stage.replies(talk)]
    assert stage.number("SELECT count(*) FROM tickets") == 1
    assert stage.number("SELECT count(*) FROM audit WHERE action = 'ran'") == 1
    assert stage.paid() == {buyer.order.id: 1}
    assert [("has been refunded" in text) for text in said] == [False, True]
    assert await stage.letters() == []


@asynccontextmanager
async def balancer(choose: Callable[[], int]) -> AsyncIterator[str]:
    """Give each request, whole as it came, to the bot on the chosen port."""

    async def forward(request: web.Request) -> web.Response:
        async with aiohttp.ClientSession() as session:
            url = f"http://127.0.0.1:{choose()}{request.path}"
            kept = {name: text for name, text in request.headers.items() if name.lower() != "host"}
            async with session.post(url, data=await request.read(), headers=kept) as answer:
                body, kind = await answer.read(), answer.content_type
                return web.Response(status=answer.status, body=body, content_type=kind)

    app = web.Application()
    app.add_routes([web.post("/slack/{tail:.*}", forward)])
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/slack"
    finally:
        await runner.cleanup()
