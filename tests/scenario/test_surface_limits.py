"""Floods, webhooks and files, with a bot that is told what is too much."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.scenario.in_both_modes import staged
from tests.scenario.stage import SUPPORT, Stage

FLOOD = {"HERMES_SLACK__FLOOD__MESSAGES": "3", "HERMES_SLACK__FLOOD__WINDOW_S": "3600"}
CHANNELS = {"HERMES_SLACK__CHANNELS": json.dumps({SUPPORT: {"webhooks": True}})}

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(vectors: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    async with staged("socket", vectors, tmp_path_factory.mktemp("limits"), **FLOOD, **CHANNELS) as stage:
        yield stage


async def test_who_writes_too_much_is_told_so_once_and_loses_nothing(stage: Stage) -> None:
    buyer = stage.next_buyer()
    talks = [await stage.say(buyer.user, SUPPORT, f"Where is my order {buyer.order.id}? {n}") for n in range(6)]
    await stage.quiet()
    told = ["".join(post.text for post in stage.replies(talk)) for talk in talks]

    assert sum("That was a lot at once" in text for text in told) == 1
    assert sum("was delivered" in text for text in told) == 3
    assert sum(not text for text in told) == 2
    other = stage.next_buyer()
    assert "was delivered" in await stage.ask(other.user, SUPPORT, f"Where is my order {other.order.id}?")


async def test_a_webhook_where_it_is_wanted_goes_to_people(stage: Stage) -> None:
    stage.workspace.odd.webhook(SUPPORT, "Disk full on host seven")

    await stage.card("handoff", "Disk full on host seven")
    await stage.quiet()
