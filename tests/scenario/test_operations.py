"""The bot as a process of its own: looked at, held up and let go by commands, and killed in between."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aiohttp
from prometheus_client.parser import text_string_to_metric_families

from hermes_bot.workspace.server import WorkspaceServer
from tests.ports import free_port
from tests.scenario.bot_process import BotProcess, environment
from tests.scenario.stage import SUPPORT, Stage, key_of, story_world

LIMIT_S = 60.0
QUESTION = "Where is my parcel?"


class Desk:
    """Somebody on call: runs commands beside the bot and asks its health pages."""

    def __init__(self, variables: Mapping[str, str], folder: Path) -> None:
        self._variables = dict(variables)
        self._folder = folder

    async def run(self, *arguments: str, code: int = 0) -> Any:
        """Return what the command, a process of its own, tells as JSON."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "hermes_bot", *arguments, "--json"),
            cwd=self._folder,
            env={"PATH": os.environ["PATH"], "HOME": str(self._folder), **self._variables},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(LIMIT_S):
            out, err = await process.communicate()
        assert process.returncode == code, err.decode()
        return json.loads(out)

    async def page(self, health: str, path: str) -> str:
        """Return a page of the running bot, whose health page is at `health`."""
        async with aiohttp.ClientSession() as session, session.get(health.replace("/healthz", path)) as answer:
            assert answer.status == 200
            return await answer.text()


async def test_a_message_is_traced_held_up_by_a_pause_that_survives_a_kill_and_answered_after_it(
    tmp_path: Path, data: Path
) -> None:
    async with WorkspaceServer(world=story_world()) as server:
        stage, variables = Stage(server, data), environment(server, data, HERMES_HTTP__PORT=str(free_port()))
        desk, bot = Desk(variables, tmp_path), BotProcess(variables, tmp_path)
        buyer = stage.next_buyer()

        told = await bot.start()
        await stage.ask(buyer.user, SUPPORT, QUESTION)
        await stage.quiet()
        (asked,) = await desk.run("messages", "list", "--type", "ticket.created")
        found = await desk.run("trace", asked["message_id"])
        metrics = await desk.page(told["health"], "/metrics")
        assert found["done"]
        handled = [each for each in _flat(found["messages"]) if each["type"] != "ticket.due"]  # which wait
        way = [[each["agent"] for each in message["deliveries"]] for message in handled]
        assert way[:3] == [["entry"], ["order"], ["slack"]]
        assert found["totals"]["attempts"] == sum(map(len, way))
        assert found["totals"]["calls"] >= 1
        assert _sample(metrics, "hermes_deliveries_total", agent="entry", outcome="done") == 1
        assert (await desk.run("doctor"))["ok"]

        await desk.run("pause")
        await _until_paused(desk, told["health"])
        talk = await stage.say(buyer.user, SUPPORT, QUESTION)
        await stage.until(lambda: not server.unsettled)
        await bot.kill()
        told = await bot.start()
        assert "hermes-bot resume" in told["paused"]
        waiting = next(iter(await desk.run("messages", "list", "--state", "open", "--type", "ticket.created")))
        (place,) = (await desk.run("trace", waiting["message_id"]))["now"]
        assert (place["agent"], place["state"]) == ("entry", "queued")
        assert stage.replies(talk) == []

        await desk.run("resume")
        await stage.answer(talk)
        await stage.quiet()
        assert (await desk.run("trace", waiting["message_id"]))["done"]
        replayed = await desk.run("replay", waiting["message_id"], "--chain")
        assert replayed["differences"] == []
        assert len({key_of(post) for post in stage.replies(talk)}) == len(stage.replies(talk))
        assert await bot.stop() == 0


async def _until_paused(desk: Desk, health: str) -> None:
    async with asyncio.timeout(LIMIT_S):
        while not json.loads(await desk.page(health, "/readyz"))["paused"]:  # noqa: ASYNC110 - another process's state
            await asyncio.sleep(0.05)


def _flat(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [each for message in messages for each in (message, *_flat(message["children"]))]


def _sample(metrics: str, name: str, **labels: str) -> float:
    samples = [sample for family in text_string_to_metric_families(metrics) for sample in family.samples]
    (value,) = [sample.value for sample in samples if sample.name == name and sample.labels == labels]
    return value
