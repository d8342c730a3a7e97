"""A workspace with a running bot, seen by those who act in it: who says what, what came back, what was paid."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from hermes_bot.messages.message import utc_now
from hermes_bot.tools.demo_shop import demo_shop
from hermes_bot.tools.order import Order, OrderStatus
from hermes_bot.workspace.interactions import Outcome
from hermes_bot.workspace.people import Channel, World
from hermes_bot.workspace.posts import Post
from hermes_bot.workspace.server import WorkspaceServer
from tests.scenario.crowd import crowd_world, settled

SUPPORT, HANDOFF, CORNER = "C0SUPPORT", "C0HANDOFF", "C0CORNER"
OMAR, OLIVIA, ADA = "U0OMAR", "U0OLIVIA", "U0ADA"
APPROVE, REJECT, CLAIM, GIVE_BACK = "approval:approve", "approval:reject", "handoff:claim", "handoff:return"
EDIT, ASK = "approval:edit", "approval:ask"
TAKE, SOLVE, REOPEN, REPLY = "ticket:take", "ticket:solve", "ticket:reopen", "ticket:reply"
LIMIT_S = 60.0
HANDED = re.compile("a person is wanted|with a person|with Hermes again")
WELL_INSIDE_THE_WINDOW = timedelta(days=25)
SMALL_CENTS = 40_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Buyer:
    """A customer of the demo shop, with one of their orders that can be refunded."""

    user: str
    dm: str
    name: str
    order: Order


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """What a person said: the message `ts` in the thread `root`, which is empty in an unthreaded direct message."""

    user: str
    channel: str
    ts: str
    root: str


def buyers() -> Iterator[Buyer]:
    """Yield customers other than Emma and 李娜, each once."""
    now = utc_now()
    shop = demo_shop(now.date())
    names = {customer.id: customer.name for customer in shop.customers[2:]}
    refunded = {refund.order_id for refund in shop.refunds}
    for order in shop.orders:
        recent = order.delivered_at is not None and order.delivered_at > now - WELL_INSIDE_THE_WINDOW
        fits = order.status is OrderStatus.DELIVERED and recent and order.total_cents <= SMALL_CENTS
        if order.customer_id in names and fits and order.id not in refunded:
            user = f"U1{order.customer_id}"
            yield Buyer(user=user, dm=f"D{user[1:]}", name=names.pop(order.customer_id), order=order)


def story_world(clerk: str = "") -> World:
    """Return the demo's people and all customers, with a channel where no approver is; the clerk may approve too."""
    world = crowd_world()
    customers = tuple(each.id for each in world.members if each.role == "customer" and each.id != clerk)
    corner = Channel(id=CORNER, name="corner", members=(*customers, world.app.user))
    groups = tuple(
        replace(group, members=(*group.members, clerk)) if clerk and group.id == "S0APPROVERS" else group
        for group in world.groups
    )
    return replace(world, channels=(*world.channels, corner), groups=groups)


class Stage:
    """What people do, and what a test looks at."""

    def __init__(self, server: WorkspaceServer, data: Path) -> None:
        self.server = server
        self.workspace = server.workspace
        self._data = data
        self._buyers = buyers()

    @property
    def data(self) -> Path:
        """Where the bot keeps its files."""
        return self._data

    def next_buyer(self) -> Buyer:
        """Return a customer whom no other test has."""
        return next(self._buyers)

    async def say(self, user: str, channel: str, text: str, root: str = "") -> Talk:
        """Post as a person, in a thread where `root` is given."""
        ts = await self.workspace.post(user, channel, text, root)
        direct = self.workspace.roster.channel(channel).kind == "dm"
        return Talk(user=user, channel=channel, ts=ts, root=root or ("" if direct else ts))

    async def until(self, true: Callable[[], object]) -> None:
        """Wait for a state of the workspace."""
        await self.workspace.wait_for(true, LIMIT_S)

    async def quiet(self) -> None:
        """Wait until the bot has taken everything and is done with it, also with what came of that."""
        await self.until(lambda: not self.server.unsettled)
        await settled(self._data)
        while self.server.unsettled:
            await self.until(lambda: not self.server.unsettled)
            await settled(self._data)

    def replies(self, talk: Talk) -> list[Post]:
        """Return what the bot told the customer where they said it, after they said it; cards are left out."""
        posts = self.workspace.posts
        there = posts.replies(talk.channel, talk.root) if talk.root else posts.roots(talk.channel)
        return [post for post in there if key_of(post).startswith("reply:") and post.ts > talk.ts]

    async def answer(self, talk: Talk, count: int = 1) -> str:
        """Return the text of the count-th reply, once it is there."""
        await self.until(lambda: len(self.replies(talk)) >= count)
        return self.replies(talk)[count - 1].text

    async def ask(self, user: str, channel: str, text: str, root: str = "") -> str:
        """Return what the bot answers."""
        return await self.answer(await self.say(user, channel, text, root))

    def cards(self, kind: str, words: str) -> list[Post]:
        """Return the cards (`approval` or `handoff`) with these words, wherever they stand.

        A ticket's one card is a handoff's once a person was wanted.
        """
        cards = [post for post in self.workspace.posts.all() if words in post.text]
        if kind != "handoff":
            return [post for post in cards if key_of(post).startswith(f"{kind}:")]
        return [post for post in cards if key_of(post).startswith("ticket:") and HANDED.search(post.text)]

    async def card(self, kind: str, words: str) -> Post:
        """Return the card, once it is there."""
        await self.until(lambda: self.cards(kind, words))
        return self.cards(kind, words)[0]

    def now(self, post: Post) -> Post:
        """Return the post as it is by now."""
        found = self.workspace.posts.get(post.channel, post.ts)
        assert found is not None
        return found

    async def click(self, user: str, post: Post, action_id: str) -> Outcome:
        """Press a button of a card."""
        return await self.workspace.click(user, post.channel, post.ts, action_id)

    async def give_back(self, user: str, card: Post, note: str = "") -> None:
        """Press Give back and fill in the form that opens."""
        await self.click(user, card, GIVE_BACK)
        await self.fill_in(user, note)

    async def reply_to_customer(self, user: str, card: Post, text: str) -> None:
        """Press Reply to customer and fill in the form that opens."""
        await self.click(user, card, REPLY)
        await self.fill_in(user, text)

    async def fill_in(self, user: str, text: str) -> None:
        """Submit the form that stands open before the person."""
        await self.until(lambda: self.workspace.modals(user))
        outcome = await self.workspace.submit(user, self.workspace.modals(user)[-1]["id"], {"text": {"text": text}})
        assert outcome.ok

    async def reject(self, user: str, card: Post, reason: str) -> None:
        """Press Reject and fill in the form that opens."""
        await self.click(user, card, REJECT)
        await self.until(lambda: self.workspace.modals(user))
        outcome = await self.workspace.submit(
            user, self.workspace.modals(user)[-1]["id"], {"reason": {"reason": reason}}
        )
        assert outcome.ok

    def whispers(self, user: str, words: str) -> list[str]:
        """Return what the person alone was told, with these words in it."""
        return [each["text"] for each in self.workspace.ephemerals(user) if words in each["text"]]

    def bot_posts(self) -> list[tuple[str, str]]:
        """Return what the bot shows to more than one person, by place and text; the tickets' cards are left out."""
        shown = [post for post in self.workspace.posts.all() if post.bot and not post.seen_by]
        return [(post.channel, post.text) for post in shown if not key_of(post).startswith("ticket:")]

    def refunds(self, buyer: Buyer) -> int:
        """Return how often the order was paid back."""
        with closing(sqlite3.connect(self._data / "shop.db")) as shop:
            rows = shop.execute("SELECT count(*) FROM refunds WHERE order_id = ?", [buyer.order.id])
            return int(rows.fetchone()[0])


def private_in_channels(stage: Stage) -> list[str]:
    """Return the tracking numbers, addresses and e-mail addresses that anybody could read in a channel."""
    shop = demo_shop(utc_now().date())
    secrets = [order.tracking for order in shop.orders] + [order.address for order in shop.orders]
    secrets += [customer.email for customer in shop.customers]
    said = [text for channel, text in stage.bot_posts() if not channel.startswith("D")]
    shown = [post for post in stage.workspace.posts.all() if post.bot and not post.seen_by]
    said += [repr(post.blocks) for post in shown if not post.channel.startswith("D")]
    return [secret for secret in secrets if secret and any(secret in text for text in said)]


def key_of(post: Post) -> str:
    """Return the key that the bot gave its post."""
    payload = (post.metadata or {}).get("event_payload") or {}
    return str(payload.get("key", ""))


def buttons(post: Post) -> list[str]:
    """Return the action ids of the buttons that stand on a post."""
    rows = [block for block in post.blocks if block["type"] == "actions"]
    return [element["action_id"] for row in rows for element in row["elements"]]


def handover(post: Post) -> list[str]:
    """Return the buttons that move a ticket between the bot and people."""
    return [each for each in buttons(post) if each in (CLAIM, GIVE_BACK, TAKE)]


async def ask_for_refund(stage: Stage, buyer: Buyer, channel: str = SUPPORT) -> tuple[Talk, Post]:
    """Return the customer's request, told to be waiting, and the card that is open for it."""
    talk = await stage.say(buyer.user, channel, f"I want a refund for order {buyer.order.id}")
    assert "asked a colleague to approve" in await stage.answer(talk)
    card = await stage.card("approval", buyer.order.id)
    assert buttons(card) == [APPROVE, REJECT, EDIT, ASK]
    return talk, card


async def paid_once(stage: Stage, buyer: Buyer, talk: Talk, card: Post) -> None:
    """Wait for the result, and assert that there is one refund, one message and one card without buttons."""
    assert "has been refunded" in await stage.answer(talk, 2)
    await stage.until(lambda: not buttons(stage.now(card)))
    await stage.until(lambda: "*Result*" in repr(stage.now(card).blocks))
    await stage.quiet()
    assert stage.refunds(buyer) == 1
    assert [("has been refunded" in post.text) for post in stage.replies(talk)] == [False, True]
    assert len(stage.cards("approval", buyer.order.id)) == 1
    assert "Approved" in stage.now(card).text


async def short_story(stage: Stage) -> None:
    """Play what must work in every mode: an order, a refund that is approved and one that is rejected, a handoff."""
    first, second = stage.next_buyer(), stage.next_buyer()
    told = await stage.ask(first.user, SUPPORT, f"Where is my order {first.order.id}?")
    assert "was delivered" in told
    talk, card = await ask_for_refund(stage, first)
    assert (await stage.click(OMAR, card, APPROVE)).ok
    await paid_once(stage, first, talk, card)
    talk, card = await ask_for_refund(stage, second)
    await stage.reject(OLIVIA, card, "Worn for weeks")
    assert "Worn for weeks" in await stage.answer(talk, 2)
    await stage.say(second.user, second.dm, "Can I talk to a person?")
    handoff = await stage.card("handoff", second.name)
    assert (await stage.click(OMAR, handoff, CLAIM)).ok
    await stage.until(lambda: handover(stage.now(handoff)) == [GIVE_BACK])
