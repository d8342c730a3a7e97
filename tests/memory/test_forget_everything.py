"""What `memory forget` leaves of a person in the data folder of a bot that runs: nothing."""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import string
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from sqlalchemy import Connection, insert, select

from hermes_bot.llm.light_encoder import LightEncoder
from hermes_bot.memory.fact import FactKind
from hermes_bot.memory.memory import Memory
from hermes_bot.memory.owner import Concluded, PersonOwner, Said
from hermes_bot.messages.message import utc_now
from hermes_bot.store import tables as t
from hermes_bot.store.database import Database
from hermes_bot.workspace.server import WorkspaceServer
from tests.scenario.bot_process import BotProcess, environment
from tests.scenario.stage import APPROVE, OMAR, SUPPORT, Buyer, Stage, story_world

LOOK_EVERY_S = 0.1
LIMIT_S = 60.0


def marker() -> str:
    return "zq" + "".join(random.choices(string.ascii_lowercase, k=14))


class Planted:
    """Markers in whatever a person leaves behind."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def new(self) -> str:
        self.words.append(marker())
        return self.words[-1]


def found_in(folder: Path, words: list[str]) -> list[tuple[str, str]]:
    """Return (file, marker) wherever one stands in the folder's bytes."""
    hits = []
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = file.read_bytes()
        hits += [(file.name, word) for word in words if word.encode() in content]
    return hits


@pytest.fixture
def data(vectors: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    shutil.copytree(vectors, folder / "cache")
    return folder


@pytest_asyncio.fixture
async def stage(data: Path) -> AsyncIterator[Stage]:
    async with WorkspaceServer(world=story_world()) as server:
        yield Stage(server, data)


async def command(variables: dict[str, str], folder: Path, *words: str) -> tuple[int, Any]:
    """Return the exit code and what the command printed as JSON."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "hermes_bot", *words, "--json",
        cwd=folder, stdout=asyncio.subprocess.PIPE,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), **variables},
    )  # fmt: skip
    async with asyncio.timeout(120):
        told, _ = await process.communicate()
    assert process.returncode is not None
    return process.returncode, json.loads(told)


async def talk(stage: Stage, buyer: Buyer, planted: Planted) -> None:
    """Say things that leave words in tickets, approvals, hand-overs, the shop and the bus."""
    await stage.say(buyer.user, SUPPORT, f"I want a refund for order {buyer.order.id}, it smells of {planted.new()}")
    card = await stage.card("approval", buyer.order.id)
    assert (await stage.click(OMAR, card, APPROVE)).ok
    await until(lambda: stage.refunds(buyer) == 1)
    await stage.say(buyer.user, SUPPORT, f"I want to return order {buyer.order.id}, the box was {planted.new()}")
    await stage.say(buyer.user, buyer.dm, f"Can I talk to a person? My name is {planted.new()}")
    await stage.quiet()


async def plant(data: Path, buyer: Buyer, planted: Planted) -> None:
    """Write facts as another process, and rows that no conversation of this test makes."""
    database = Database(f"sqlite:///{data / 'hermes.db'}")
    await database.open()
    try:
        team, number, root = await database.run(lambda connection: _ticket(connection, buyer))
        person = PersonOwner(team, buyer.user)
        memory = Memory(database, LightEncoder(), clock=utc_now)
        said = Said(by=person, ticket_id=f"T-{number}", message_id=root)
        await memory.remember(person, f"I like {planted.new()}.", kind=FactKind.PREFERENCE, source=said)
        about = Concluded(about=person, agent="order")
        await memory.remember(person, planted.new(), kind=FactKind.SUMMARY, source=about, subject="ticket:T-0")
        await database.run(lambda connection: _plant_rows(connection, f"T-{number}", root, planted))
    finally:
        await database.close()


def _ticket(connection: Connection, buyer: Buyer) -> tuple[str, int, str]:
    wanted = select(t.tickets.c.team, t.tickets.c.number, t.tickets.c.opened_by)
    row = connection.execute(wanted.where(t.tickets.c.requester == buyer.user)).first()
    assert row is not None
    return row.team, row.number, row.opened_by


def _plant_rows(connection: Connection, ticket_id: str, root: str, planted: Planted) -> None:
    now = utc_now()
    answer = {"text": planted.new()}
    connection.execute(insert(t.task_answers).values(task=f"{root}-7", answer=answer, at=now))
    journal = dict.fromkeys(("context_id", "trace_id", "type", "sender", "agent", "subscription", "name", "level"), "")
    connection.execute(
        insert(t.journal).values(
            **journal, kind="attempt", started_at=now, duration_ms=1.0, outcome="dead", message_id=f"{root}-1",
            attempt=1, error=planted.new(), outputs=[], bytes_in=1, bytes_out=1, tokens_in=0, tokens_out=0,
        )
    )  # fmt: skip
    connection.execute(
        insert(t.route_proposals).values(
            key=f"{root}:p", ticket_id=ticket_id, route_was="order", route="refund", language="en",
            utterance=planted.new(), suggested_by=OMAR, suggested_at=now, status="pending",
        )
    )  # fmt: skip
    board = {"ticket_id": ticket_id, "version": 901, "key": "decision.x", "author": "order", "message_id": root}
    connection.execute(insert(t.boards).values(**board, value=planted.new(), at=now))
    window = {"entries": [{"text": planted.new()}]}
    working = {"ticket_id": ticket_id, "agent": "other", "message_id": root, "updated_at": now}
    connection.execute(insert(t.working_memories).values(**working, state=window, previous=window))


async def until(true: Callable[[], object]) -> None:
    async with asyncio.timeout(LIMIT_S):
        while not true():  # noqa: ASYNC110 - the state is other processes', in files
            await asyncio.sleep(LOOK_EVERY_S)


@pytest.mark.timeout(600)
async def test_nothing_of_a_forgotten_person_is_left_in_any_file_while_the_bot_runs(stage: Stage, data: Path) -> None:
    variables = environment(stage.server, data)
    buyer, other = stage.next_buyer(), stage.next_buyer()
    theirs, others = Planted(), Planted()
    async with BotProcess(variables, data.parent):
        await talk(stage, buyer, theirs)
        await talk(stage, other, others)
        await plant(data, buyer, theirs)
        await plant(data, other, others)
        index = data / "memory" / "facts.faiss"
        await until(index.exists)
        await command(variables, data.parent, "pause")
        await stage.say(buyer.user, buyer.dm, f"And one more thing: {theirs.new()}")
        await until(lambda: found_in(data, theirs.words[-1:]))
        before = {word for _, word in found_in(data, theirs.words)}

        code, told = await command(variables, data.parent, "memory", "forget", buyer.user)

        assert before == set(theirs.words)
        assert (code, told["left"]) == (0, 0), told
        await command(variables, data.parent, "resume")
        assert buyer.order.id in await stage.ask(buyer.user, SUPPORT, f"Where is my order {buyer.order.id}?")
        assert other.order.id in await stage.ask(other.user, SUPPORT, f"Where is my order {other.order.id}?")
        await stage.quiet()
        assert found_in(data, theirs.words) == []
        assert {word for _, word in found_in(data, others.words)} == set(others.words)
        code, known = await command(variables, data.parent, "memory", "show", other.user)
        assert any(word in json.dumps(known) for word in others.words)
        code, known = await command(variables, data.parent, "memory", "show", buyer.user)
        assert not any(word in json.dumps(known) for word in theirs.words)
        code, checked = await command(variables, data.parent, "audit", "verify")
        assert code == 0, checked
    assert found_in(data, theirs.words) == []
    shutil.rmtree(data)
