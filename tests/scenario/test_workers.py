"""The bot in several processes on one redis: the whole story, and what a worker refuses."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes_bot.bus.port import DEAD_LETTERS, FINAL_STATES, State
from hermes_bot.bus.redis_backend import RedisBackend
from hermes_bot.workspace.server import WorkspaceServer
from tests.scenario.bot_process import BotProcess, environment
from tests.scenario.stage import Stage, short_story, story_world
from tests.scenario.test_start import LIMIT_S, PLAIN, run, says
from tests.servers import Redis, running_redis

AT_THE_FRONT = "slack,entry,approvals,tickets"
BEHIND = "order,refund,handoff,unknown"


@pytest.fixture
def redis_server() -> Iterator[Redis]:
    with running_redis() as server:
        yield server


def on_redis(server: Redis) -> dict[str, str]:
    return {"HERMES_BUS__BACKEND": "redis", "HERMES_REDIS_URL": server.url}


class SharedStage(Stage):
    """A stage whose bot keeps its messages in redis."""

    def __init__(self, server: WorkspaceServer, data: Path, redis: Redis) -> None:
        super().__init__(server, data)
        self._bus = RedisBackend(redis.url)

    async def quiet(self) -> None:
        await self.until(lambda: not self.server.unsettled)
        async with asyncio.timeout(LIMIT_S):
            while await self._stuck():
                pass

    async def _stuck(self) -> bool:
        left = await self._bus.find(states=sorted(set(State) - FINAL_STATES))
        return any(each.message.not_before is None for each in left)  # others come when it is time

    async def letters(self) -> list[str]:
        """Return what ended as a dead letter."""
        return [letter.error for letter in await self._bus.find(states=sorted(DEAD_LETTERS))]


async def test_agents_in_workers_of_their_own_do_the_whole_story(
    data: Path, tmp_path: Path, redis_server: Redis
) -> None:
    async with WorkspaceServer(world=story_world()) as server:
        variables = environment(server, data, **on_redis(redis_server))
        bot = BotProcess(variables, tmp_path, ("run", "--agents", AT_THE_FRONT))
        worker = BotProcess(variables, tmp_path, ("worker", "--agents", BEHIND))
        async with bot, worker:
            stage = SharedStage(server, data, redis_server)
            await short_story(stage)
            await stage.quiet()
            code = await worker.stop()
        letters = await stage.letters()

    assert code == 0
    assert letters == []
    assert len(logs_in(data)) == 2


def logs_in(data: Path) -> list[Path]:
    """Return the log files of processes that run only some agents."""
    return [*data.glob("hermes-*.log")]


async def test_a_worker_on_a_bus_of_one_process_is_refused(tmp_path: Path) -> None:
    ended = await run(tmp_path, PLAIN, "--agents", "order")

    says(ended, 2, "bus.backend sqlite belongs to one process", "set bus.backend to redis and bus.url")


async def test_an_agent_that_is_not_there_is_refused(data: Path, tmp_path: Path, redis_server: Redis) -> None:
    async with WorkspaceServer(world=story_world()) as server:
        variables = environment(server, data, **on_redis(redis_server))
        ended = await run(tmp_path, variables, "--agents", "slack,sales")

    says(ended, 2, "nothing is bound to sales", "there are approvals,")


async def test_a_worker_without_slacks_tokens_is_refused(tmp_path: Path, redis_server: Redis) -> None:
    ended = await run(tmp_path, {**PLAIN, **on_redis(redis_server)}, "--agents", "order")

    says(ended, 2, "needs the bot's tokens", "SLACK_BOT_TOKEN")


async def test_without_redis_the_bot_says_so(data: Path, tmp_path: Path) -> None:
    ended = await run(tmp_path, {**PLAIN, "HERMES_BUS__BACKEND": "redis", "HERMES_REDIS_URL": "redis://127.0.0.1:1"})

    says(ended, 1, "redis at redis://127.0.0.1:1 cannot be used")


async def test_a_store_in_a_file_is_told_to_whoever_shares_the_bus(tmp_path: Path) -> None:
    ended = await run(tmp_path, {**PLAIN, "HERMES_BUS__BACKEND": "redis", "HERMES_REDIS_URL": "redis://127.0.0.1:1"})

    assert "the store is a SQLite file: workers on other machines need store.url on PostgreSQL" in ended.whole
