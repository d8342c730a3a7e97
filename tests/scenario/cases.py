"""The stage of the field cases about approvals: both ways in which Slack reaches a bot, and people of doubt."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from hermes_bot.workspace.clock import Clock
from hermes_bot.workspace.people import Channel, Member, World
from hermes_bot.workspace.posts import Post
from hermes_bot.workspace.server import WorkspaceServer
from tests.scenario.in_both_modes import running
from tests.scenario.stage import ASK, EDIT, OLIVIA, OMAR, Buyer, Stage, key_of, story_world

LARGE_CENTS = 20_000
GUEST, GONE, STRANGER, SHARED = "U0GUEST", "U0GONE", "U9STRANGER", "C0SHARED"
RULES = [{"tool": "issue_refund", "from_cents": LARGE_CENTS, "needed": 2}]
MORE = {"HERMES_APPROVALS__RULES": json.dumps(RULES)}
SAID = "asked a colleague to approve"


def cases_world(clerk: str = "") -> World:
    """Return the story's world, whose approvers' group lists a guest, somebody who left and a stranger as well."""
    world = story_world(clerk)
    doubtful = (
        Member(id=GUEST, name="Gast", email="gast@example.com", role="operator", guest=True),
        Member(id=GONE, name="Gone", email="gone@example.com", role="operator", deactivated=True),
        Member(id=STRANGER, name="Strange", email="x@example.org", role="customer", stranger=True, team="T9OTHER"),
    )
    customers = tuple(each.id for each in world.members if each.role == "customer")
    shared = Channel(
        id=SHARED,
        name="shared",
        members=(*customers, OMAR, OLIVIA, STRANGER, world.app.user),
        shared_with=("T9OTHER",),
    )
    groups = tuple(
        replace(group, members=(*group.members, GUEST, GONE, STRANGER)) if group.id == "S0APPROVERS" else group
        for group in world.groups
    )
    channels = tuple(
        replace(each, members=(*each.members, GUEST, GONE)) if each.id == "C0SUPPORT" else each
        for each in world.channels
    )
    return replace(world, members=(*world.members, *doubtful), channels=(*channels, shared), groups=groups)


@asynccontextmanager
async def playing(
    mode: str,
    folder: Path,
    vectors: Path,
    clerk: str = "",
    more: Mapping[str, str] = MORE,
    *,
    clock: Clock | None = None,
    meant: str = "",
    shaped: Callable[[World], World] | None = None,
    prepared: Callable[[WorkspaceServer], None] | None = None,
) -> AsyncIterator[Stage]:
    """Run the whole bot among the people of the field cases; at the end no letter is dead, but those `meant` matches.

    The workspace goes by `clock`, the bot by the real time; `shaped` and `prepared` change it before the bot starts.
    """
    world = (shaped or replace)(cases_world(clerk))
    async with running(mode, world, vectors, folder, more, clock=clock, meant=meant, prepared=prepared) as stage:
        yield stage


def small(stage: Stage) -> Buyer:
    """Return a customer whom no other test has, and whose refund one approval settles."""
    return next(each for each in iter(stage.next_buyer, None) if each.order.total_cents < LARGE_CENTS)


def large(stage: Stage) -> Buyer:
    """Return a customer whom no other test has, and whose refund takes two people."""
    return next(each for each in iter(stage.next_buyer, None) if each.order.total_cents >= LARGE_CENTS)


def told(data: Path, approval: str) -> list[tuple[str, str]]:
    """Return what the audit says of an approval: what, and by whom."""
    with closing(sqlite3.connect(data / "hermes.db")) as store:
        rows = store.execute("SELECT action, actor FROM audit WHERE subject = ? ORDER BY number", [approval])
        return [(action, actor) for action, actor in rows.fetchall()]


def approval_of(card: Post) -> str:
    """Return the approval that a card is about."""
    return key_of(card).split(":")[1]


async def change(stage: Stage, user: str, card: Post, **arguments: str) -> Mapping[str, Any]:
    """Press Edit, put these arguments into the form that opens, and send it; return the errors that it shows."""
    before = len(stage.workspace.modals(user))
    await stage.click(user, card, EDIT)
    await stage.until(lambda: len(stage.workspace.modals(user)) > before)
    values = {f"argument:{name}": {f"argument:{name}": text} for name, text in arguments.items()}
    outcome = await stage.workspace.submit(user, stage.workspace.modals(user)[-1]["id"], values)
    return outcome.errors or {}


async def put_to_customer(stage: Stage, user: str, card: Post, words: str) -> None:
    """Press Ask customer and send a question."""
    await stage.click(user, card, ASK)
    await stage.until(lambda: stage.workspace.modals(user))
    view = stage.workspace.modals(user)[-1]["id"]
    assert (await stage.workspace.submit(user, view, {"question": {"question": words}})).ok
