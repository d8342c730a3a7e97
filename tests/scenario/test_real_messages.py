"""300 real messages through the whole system, without and with a kill in the middle; ten real conversations."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from pathlib import Path

import pytest

from hermes_bot.workspace.server import WorkspaceServer
from tests.scenario.bot_process import BotProcess, environment
from tests.scenario.crowd import (
    ANSWER_LIMIT_S,
    CHANNEL,
    Row,
    Said,
    all_answered,
    answers_to,
    crowd,
    crowd_world,
    dead_letters,
    draw_rows,
    outcomes,
    post_all,
    settled,
)

MESSAGES = 300
DIALOGUES = 10

pytestmark = [pytest.mark.shared, pytest.mark.timeout(600)]


async def check(server: WorkspaceServer, said: list[Said], data: Path) -> dict[str, tuple[str, bool]]:
    """Assert what must hold once the bot has stopped, and return who ended where."""
    doubled = [each.row.text for each in said if len(answers_to(server, each)) != 1]
    assert doubled == []
    assert dead_letters(data) == []
    ended = await outcomes(data)
    handed_share = sum(handed for _, handed in ended.values()) / len(said)
    labelled_share = sum(each.row.label == "handoff" for each in said) / len(said)
    assert set(ended) == {each.user for each in said}
    assert handed_share <= labelled_share + 0.10
    return ended


@pytest.fixture(scope="module")
def ended_undisturbed() -> dict[str, tuple[str, bool]]:
    """Who ended where in the run without a kill, for the run with one."""
    return {}


async def test_300_real_messages_get_exactly_one_answer_each(
    shared_dir: Path, data: Path, ended_undisturbed: dict[str, tuple[str, bool]]
) -> None:
    rows = draw_rows(shared_dir / "data" / "routing_dev.jsonl", MESSAGES)
    async with WorkspaceServer(world=crowd_world()) as server:
        async with BotProcess(environment(server, data), data.parent):
            said = await post_all(server, rows, crowd(MESSAGES))
            await all_answered(server, said)
            await settled(data)

        ended_undisturbed |= await check(server, said, data)


async def test_a_kill_in_the_middle_loses_nothing_and_doubles_nothing(
    shared_dir: Path, data: Path, ended_undisturbed: dict[str, tuple[str, bool]]
) -> None:
    rows = draw_rows(shared_dir / "data" / "routing_dev.jsonl", MESSAGES)
    async with WorkspaceServer(world=crowd_world()) as server:
        bot = BotProcess(environment(server, data), data.parent)
        await bot.start()
        posting = asyncio.create_task(post_all(server, rows, crowd(MESSAGES)))
        await server.workspace.wait_for(lambda: answered(server) >= MESSAGES // 3, limit_s=ANSWER_LIMIT_S)
        await bot.kill()
        said = await posting
        assert any(not answers_to(server, each) for each in said), "the kill came too late to prove anything"
        async with bot:
            await all_answered(server, said)
            await settled(data)

        ended = await check(server, said, data)
        assert ended == (ended_undisturbed or ended)


def answered(server: WorkspaceServer) -> int:
    """Return how many replies the bot has posted in the channel's threads."""
    return sum(post.bot for post in server.workspace.posts.all() if post.channel == CHANNEL)


async def test_the_customers_turns_of_ten_dialogues_get_at_most_one_answer_each(shared_dir: Path, data: Path) -> None:
    dialogues = read_dialogues(shared_dir / "data" / "dialogues_dev.jsonl", DIALOGUES)
    async with WorkspaceServer(world=crowd_world()) as server:
        async with BotProcess(environment(server, data), data.parent):
            said = [
                turn
                for turns in await asyncio.gather(
                    *(talk(server, user, turns) for user, turns in zip(crowd(DIALOGUES), dialogues, strict=True))
                )
                for turn in turns
            ]
            await settled(data)

        assert [len(answers_to(server, turn)) for turn in said if len(answers_to(server, turn)) > 1] == []
        assert all(answers_to(server, turn) for turn in said if turn.ts == turn.root)
        assert dead_letters(data) == []


def read_dialogues(file: Path, count: int) -> list[list[str]]:
    """Return the customer's turns of the first dialogues, English and Chinese alternating."""
    every = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    languages = sorted({each["lang"] for each in every})
    by_language = [[each for each in every if each["lang"] == language] for language in languages]
    mixed = [each for pair in zip(*by_language, strict=False) for each in pair][:count]
    return [[turn["text"] for turn in each["turns"] if turn["role"] == "user"] for each in mixed]


async def talk(server: WorkspaceServer, user: str, turns: list[str]) -> list[Said]:
    """Say the turns in one thread, each once the last was answered or passed on to the people who own the ticket."""
    said: list[Said] = []
    for text in turns:
        root = said[0].root if said else ""
        ts = await server.workspace.post(user, CHANNEL, text, root)
        turn = Said(row=Row(text=text, label="", lang=""), user=user, ts=ts, root=root or ts)
        heard = partial(has_been_heard, server, turn, passed_on(server, turn))
        await server.workspace.wait_for(heard, limit_s=ANSWER_LIMIT_S)
        said.append(turn)
    return said


def has_been_heard(server: WorkspaceServer, turn: Said, notes_before: int) -> bool:
    """Return whether the turn was answered, or passed on to people."""
    return bool(answers_to(server, turn)) or passed_on(server, turn) > notes_before


def passed_on(server: WorkspaceServer, turn: Said) -> int:
    """Return how often these words stand under a handoff card."""
    stored = server.workspace.posts.get(CHANNEL, turn.ts)
    assert stored is not None
    beginning = " ".join(stored.text.split())[:30]
    return sum(
        beginning in " ".join(post.text.split())
        for post in server.workspace.posts.all()
        if post.channel == "C0HANDOFF" and post.bot
    )
