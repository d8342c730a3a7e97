"""A crowd of customers who write real messages, and what each of them got back."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import select

from hermes_bot.bus.inspect import BusFile
from hermes_bot.bus.port import FINAL_STATES, State
from hermes_bot.messages.message import utc_now
from hermes_bot.store.database import Database
from hermes_bot.store.tables import tickets
from hermes_bot.tickets.ticket import Owner
from hermes_bot.tools.demo_shop import demo_customers
from hermes_bot.workspace.people import Member, World, demo_world
from hermes_bot.workspace.server import WorkspaceServer

SEED = 20261130
CHANNEL = "C0SUPPORT"
AT_ONCE = 12
REPLY_EVERY = 5
ANSWER_LIMIT_S = 120.0
LOOK_EVERY_S = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A real message and the agent that should get it."""

    text: str
    label: str
    lang: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A row as a person posted it: `root` is the ts of the thread in which it stands."""

    row: Row
    user: str
    ts: str
    root: str


def draw_rows(file: Path, count: int) -> list[Row]:
    """Return `count` rows drawn with a fixed seed: two of every language, and the rest as they come."""
    drawn = random.Random(SEED)
    everything = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    drawn.shuffle(everything)
    seen: Counter[str] = Counter()
    first: list[dict[str, str]] = []
    rest: list[dict[str, str]] = []
    for each in everything:
        seen[each["lang"]] += 1
        (first if seen[each["lang"]] <= 2 else rest).append(each)
    chosen = [*first, *rest][:count]
    drawn.shuffle(chosen)
    return [Row(text=each["text"], label=each["label"], lang=each["lang"]) for each in chosen]


def crowd_world() -> World:
    """Return the demo's workspace with all customers of the demo shop in it, `U1C0003` for customer C0003."""
    people = [
        Member(id=f"U1{customer.id}", name=customer.name, email=customer.email, role="customer")
        for customer in demo_customers()
        if customer.email not in {member.email for member in demo_world().members}
    ]
    return demo_world().with_people(people, channels=[CHANNEL])


def crowd(count: int) -> list[str]:
    """Return the ids of `count` customers."""
    return ["U0EMMA", "U0LINA", *(f"U1{customer.id}" for customer in demo_customers()[2:])][:count]


async def post_all(server: WorkspaceServer, rows: list[Row], people: list[str]) -> list[Said]:
    """Post each row as another person, twelve at the same moment; every fifth replies in somebody else's thread."""
    said: list[Said] = []
    for start in range(0, len(rows), AT_ONCE):
        batch = list(zip(rows[start : start + AT_ONCE], people[start : start + AT_ONCE], strict=True))
        roots = [each.root for each in said if each.root == each.ts]
        posts = [
            _post(server, row, user, roots[number % len(roots)] if roots and number % REPLY_EVERY == 0 else "")
            for number, (row, user) in enumerate(batch, start=start)
        ]
        said += await asyncio.gather(*posts)
    return said


async def _post(server: WorkspaceServer, row: Row, user: str, root: str) -> Said:
    ts = await server.workspace.post(user, CHANNEL, row.text, root)
    return Said(row=row, user=user, ts=ts, root=root or ts)


def answers_to(server: WorkspaceServer, said: Said) -> list[str]:
    """Return what the bot wrote in the thread in answer to this very message."""
    found = []
    for post in server.workspace.posts.replies(CHANNEL, said.root):
        payload = (post.metadata or {}).get("event_payload") or {}
        if post.bot and payload.get("in_reply_to") == said.ts:
            found.append(post.text)
    return found


async def all_answered(server: WorkspaceServer, everything: list[Said]) -> None:
    """Wait until everyone has an answer; TimeoutError names how many have none."""
    try:
        await server.workspace.wait_for(
            lambda: all(answers_to(server, said) for said in everything), limit_s=ANSWER_LIMIT_S
        )
    except TimeoutError:
        silent = [said.row.text for said in everything if not answers_to(server, said)]
        raise AssertionError(f"{len(silent)} without an answer: {silent[:5]}") from None


async def settled(data: Path) -> None:
    """Wait until every delivery whose time has come is in a final state; the error names those that are not."""
    try:
        async with asyncio.timeout(ANSWER_LIMIT_S):
            while stuck(data):  # noqa: ASYNC110 - the state is another process's, in a file
                await asyncio.sleep(LOOK_EVERY_S)
    except TimeoutError:
        raise AssertionError(f"in no final state: {stuck(data)[:5]}") from None


def stuck(data: Path) -> list[str]:
    """Return the deliveries that are in no final state though their time has come."""
    file = BusFile(data / "bus.db")
    try:
        waiting = file.find(states=[state for state in State if state not in FINAL_STATES], limit=10_000)
    finally:
        file.close()
    now = utc_now()
    return [
        f"{delivery.message.id} {delivery.message.type} {delivery.state}"
        for delivery in waiting
        if delivery.message.not_before is None or delivery.message.not_before <= now
    ]


def dead_letters(data: Path) -> list[str]:
    """Return the deliveries that ended without being done, with the reason."""
    file = BusFile(data / "bus.db")
    try:
        found = file.find(states=[State.DEAD, State.EXPIRED, State.SUSPENDED], limit=10_000)
    finally:
        file.close()
    return [f"{delivery.message.type} {delivery.error}" for delivery in found]


async def outcomes(data: Path) -> dict[str, tuple[str, bool]]:
    """Return for each requester the route of their ticket, and whether a person was called."""
    database = Database(f"sqlite:///{data / 'hermes.db'}")
    await database.open()
    try:
        found = await database.run(lambda connection: connection.execute(select(tickets)).all())
    finally:
        await database.close()
    assert len({row.requester for row in found}) == len(found), "somebody has two tickets"
    return {row.requester: (row.route, row.owner != Owner.BOT.value) for row in found}
