"""A shop of any size, whose customers all want a refund, and people who decide in any order."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from functools import partial

from sqlalchemy import Connection, insert

from hermes_bot.messages.message import utc_now
from hermes_bot.store.database import Database
from hermes_bot.tools import order_tables
from hermes_bot.tools.order import Customer, Item, Order, OrderStatus
from hermes_bot.workspace.people import Member, World, demo_world
from hermes_bot.workspace.posts import Post
from hermes_bot.workspace.refusal import Refusal
from hermes_bot.workspace.server import WorkspaceServer
from tests.scenario.cases import approval_of
from tests.scenario.stage import APPROVE, HANDOFF, OLIVIA, OMAR, REJECT, SUPPORT, Buyer, Talk, buttons, key_of

FIRST_ORDER = 20_001
ANSWER_LIMIT_S = 240.0
FORM_LIMIT_S = 20.0
PATIENCE_S = 10.0  # then people who see the buttons stand press again
ACKS_LOST_EVERY = 15
DIRECT_EVERY, CHINESE_EVERY = 7, 3
PAID = ("has been refunded", "已办理完成")
DECLINED = ("was not approved", "没有通过")
LOST = frozenset({"action_not_found", "not_acknowledged", "no_connection", "view_not_found"})
"""What a click ends in that nobody took, or that came when the card showed no button any more."""


def crowd_of(count: int) -> list[Buyer]:
    """Return so many customers, each with an order that was delivered a few days ago."""
    return [_buyer(number) for number in range(count)]


def _buyer(number: int) -> Buyer:
    chance, now, user = random.Random(number), utc_now(), f"U2{number:05}"
    cents = chance.randrange(1_000, 35_000)
    order = Order(
        id=str(FIRST_ORDER + number),
        customer_id=f"K{number:05}",
        status=OrderStatus.DELIVERED,
        placed_at=now - timedelta(days=9),
        delivered_at=now - timedelta(days=4),
        total_cents=cents,
        currency="EUR",
        tracking=f"TRACK{number:06}",
        address=f"{number} Example Road",
        items=(Item(sku=f"S-{number}", name="Kettle", quantity=1, price_cents=cents),),
    )
    return Buyer(user=user, dm=f"D{user[1:]}", name=f"Customer {number}", order=order)


def world_of(crowd: Sequence[Buyer]) -> World:
    """Return the demo's workspace with these people in it."""
    people = [
        Member(id=each.user, name=each.name, email=f"{each.order.customer_id.lower()}@example.com", role="customer")
        for each in crowd
    ]
    return demo_world().with_people(people, channels=[SUPPORT])


async def open_shop(url: str, crowd: Sequence[Buyer]) -> None:
    """Make an order book of the crowd's orders."""
    database = Database(url)
    await database.open()
    try:
        await database.run(lambda connection: _fill(connection, crowd))
    finally:
        await database.close()


def _fill(connection: Connection, crowd: Sequence[Buyer]) -> None:
    order_tables.shop.create_all(connection)
    customers, orders, items = [], [], []
    for each in crowd:
        row = asdict(each.order)
        items += [item | {"order_id": each.order.id} for item in row.pop("items")]
        orders.append(row)
        email = f"{each.order.customer_id.lower()}@example.com"
        customers.append(asdict(Customer(id=each.order.customer_id, email=email, name=each.name, locale="en")))
    connection.execute(insert(order_tables.customers), customers)
    connection.execute(insert(order_tables.orders), orders)
    connection.execute(insert(order_tables.order_items), items)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a customer got in the end: every word of the bot's, and the card about their request."""

    buyer: Buyer
    said: tuple[str, ...]
    card: Post
    talk: Talk


class RefundCrowd:
    """The crowd in a workspace: each asks, people press as a seed has it, and again where the buttons stand."""

    def __init__(
        self, server: WorkspaceServer, crowd: Sequence[Buyer], seed: int, step: Callable[[int, int], None]
    ) -> None:
        self._server = server
        self._workspace = server.workspace
        self._crowd = crowd
        self._seed = seed
        self._step = step
        self._at_forms = {user: asyncio.Lock() for user in (OMAR, OLIVIA)}
        self.finished = 0

    async def play(self, at_once: int) -> list[Seen]:
        """Return what everybody got, once all have it; so many of them are served at a time."""
        free = asyncio.Semaphore(at_once)

        async def one(number: int) -> Seen:
            async with free:
                seen = await self._served(number, random.Random(f"{self._seed}:{number}"))
                self.finished += 1
                self._step(self.finished, len(self._crowd))
                self._server.workspace.feed.wake()
                return seen

        return list(await asyncio.gather(*(one(number) for number in range(len(self._crowd)))))

    def again(self, seen: Seen) -> Seen:
        """Return what stands there by now."""
        return self.seen(seen.buyer, seen.talk, seen.card)

    def seen(self, buyer: Buyer, talk: Talk, card: Post) -> Seen:
        """Return what stands there by now."""
        said = tuple(post.text for post in self._there(talk) if key_of(post).startswith("reply:"))
        return Seen(buyer=buyer, said=said, card=self._now(card), talk=talk)

    async def _served(self, number: int, chance: random.Random) -> Seen:
        buyer, direct = self._crowd[number], number % DIRECT_EVERY == 0
        words = "我要退款，订单号 {}" if number % CHINESE_EVERY == 0 else "I want a refund for order {}"
        if number % ACKS_LOST_EVERY == 0:
            self._server.acks.lose()  # Slack does not know that it was taken, and sends it again, to whichever bot
        channel = buyer.dm if direct else SUPPORT
        ts = await self._workspace.post(buyer.user, channel, words.format(buyer.order.id))
        talk = Talk(user=buyer.user, channel=channel, ts=ts, root="" if direct else ts)
        await self._until(lambda: self._cards(buyer, talk), f"no card for {buyer.order.id}")
        card = self._cards(buyer, talk)[0]
        await self._decided(card, chance)
        await self._until(
            lambda: any(word in text for text in self.seen(buyer, talk, card).said for word in PAID + DECLINED),
            f"{buyer.order.id} was decided and its customer not told",
        )
        return self.seen(buyer, talk, card)

    async def _decided(self, card: Post, chance: random.Random) -> None:
        """Press until the card has no button: whatever was lost with a bot is pressed again."""
        await asyncio.gather(*(act() for act in self._acts(card, chance)))
        for _ in range(int(ANSWER_LIMIT_S / PATIENCE_S)):
            try:
                await self._workspace.wait_for(lambda: not buttons(self._now(card)), PATIENCE_S)
            except TimeoutError:
                await asyncio.gather(*(self._press(user, card) for user in (OMAR, OLIVIA)))
            else:
                return
        raise AssertionError(f"the buttons stand for ever: {card.text}")

    def _acts(self, card: Post, chance: random.Random) -> list[Callable[[], Awaitable[None]]]:
        """Return who presses what at the same moment: one or both, once or twice, in agreement or not."""
        pressers = chance.choices((OMAR, OLIVIA), k=chance.randint(1, 3))
        kind = chance.random()
        approving = [partial(self._press, user, card) for user in pressers] if kind < 0.85 else []
        rejecting = [partial(self._reject, chance.choice((OMAR, OLIVIA)), card)] if kind > 0.7 else []
        return chance.sample([*approving, *rejecting], len(approving) + len(rejecting))

    async def _press(self, user: str, card: Post, action: str = APPROVE) -> None:
        try:
            await self._workspace.click(user, card.channel, card.ts, action)
        except Refusal as refusal:
            assert refusal.error in LOST  # noqa: PT017 - any other is nothing that happens to people

    async def _reject(self, user: str, card: Post) -> None:
        """Press Reject and fill in the form, if one opens: a person has one form before them at a time."""
        async with self._at_forms[user]:
            await self._press(user, card, REJECT)
            try:
                await self._workspace.wait_for(lambda: self._forms(user, card), FORM_LIMIT_S)
                reason = {"reason": {"reason": "Worn"}}
                await self._workspace.submit(user, self._forms(user, card)[-1], reason)
            except TimeoutError:
                return  # the bot that was to open it is dead
            except Refusal as refusal:
                assert refusal.error in LOST  # noqa: PT017 - as above
            finally:
                for view in self._forms(user, card):
                    await self._workspace.close_view(user, view)

    def _forms(self, user: str, card: Post) -> list[str]:
        about = approval_of(card)
        return [view["id"] for view in self._workspace.modals(user) if about in view["private_metadata"]]

    def _cards(self, buyer: Buyer, talk: Talk) -> list[Post]:
        posts = self._workspace.posts
        there = [*posts.replies(talk.channel, talk.root), *([] if talk.root else posts.roots(HANDOFF))]
        return [post for post in there if key_of(post).startswith("approval:") and buyer.order.id in post.text]

    def _there(self, talk: Talk) -> list[Post]:
        posts = self._workspace.posts
        return posts.replies(talk.channel, talk.root) if talk.root else posts.roots(talk.channel)

    def _now(self, card: Post) -> Post:
        found = self._workspace.posts.get(card.channel, card.ts)
        assert found is not None
        return found

    async def _until(self, true: Callable[[], object], otherwise: str) -> None:
        try:
            await self._workspace.wait_for(true, ANSWER_LIMIT_S)
        except TimeoutError:
            raise AssertionError(otherwise) from None
