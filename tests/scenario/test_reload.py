"""The routes file is edited while the bot runs: what is good takes effect within seconds, what is bad never does."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from hermes_bot import settings
from hermes_bot.app import HermesApp
from hermes_bot.messages.message import utc_now
from hermes_bot.store.database import Database
from hermes_bot.triage.proposals import Proposals
from hermes_bot.workspace.server import WorkspaceServer
from tests.scenario.bot_process import environment
from tests.scenario.crowd import dead_letters
from tests.scenario.stage import HANDOFF, LIMIT_S, SUPPORT, Stage, story_world

GOOD = """\
routes:
  # orders first
  - name: order
    type: ticket.order
    agent: order
    keywords: {any: [parcel]}
  - name: handoff
    type: ticket.handoff
    agent: handoff
    priority: 5
    keywords: {any: [complaint]}
  - name: other
    type: ticket.unknown
    agent: unknown
    nobody: true
    keywords: {any: [weather]}
"""
REFUND = """\
  - name: money
    type: ticket.money
    agent: refund
    priority: 9
    keywords: {any: [cashback]}
"""
WITHIN_S = 2.0


class Edited:
    """A stage whose routes file a test may save."""

    def __init__(self, stage: Stage, file: Path) -> None:
        self.stage = stage
        self.file = file
        self._asks = stage.next_buyer()

    def save(self, text: str) -> None:
        """Save as editors do: a new file takes the old one's name."""
        new = self.file.with_suffix(".new")
        new.write_text(text, encoding="utf-8")
        new.replace(self.file)

    def told(self, words: str) -> list[str]:
        """Return what the staff's channel was told with these words."""
        return [
            post.text for post in self.stage.workspace.posts.all() if post.channel == HANDOFF and words in post.text
        ]

    async def answer(self, text: str) -> str:
        """Return what the bot answers to a new question."""
        return await self.stage.ask(self._asks.user, SUPPORT, text)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def edited(vectors: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Edited]:
    """A bot with a routes file of its own."""
    folder = tmp_path_factory.mktemp("edited")
    shutil.copytree(vectors, folder / "data" / "cache")
    file = folder / "routing.yaml"
    file.write_text(GOOD, encoding="utf-8")
    async with WorkspaceServer(world=story_world()) as server:
        more = {"HERMES_ROUTING__FILE": str(file), "HERMES_SLACK__FLOOD__MESSAGES": "10000"}  # one person asks and asks
        variables = environment(server, folder / "data", **more)
        bot = HermesApp(settings=settings.load(None, variables, folder=folder), edge=True)
        try:
            await bot.start()
            stage = Stage(server, folder / "data")
            yield Edited(stage, file)
            await stage.quiet()
        finally:
            await bot.stop()
    assert dead_letters(folder / "data") == []


pytestmark = pytest.mark.asyncio(loop_scope="module")


async def changes(edited: Edited, text: str, before: str, after: str) -> float:
    """Ask the same until the answer changes; return how long after the save it was asked last in vain."""
    started, in_vain = time.monotonic(), 0.0
    while in_vain < LIMIT_S:
        asked = time.monotonic() - started
        answer = await edited.answer(text)
        if after in answer:
            return in_vain
        assert before in answer
        in_vain = asked
    raise AssertionError(f"{text!r} is still answered with {before!r}")


async def test_a_changed_keyword_takes_effect_within_two_seconds(edited: Edited) -> None:
    assert "can't help" in await edited.answer("my bundle")
    edited.save(GOOD.replace("[parcel]", "[parcel, bundle]"))

    in_vain_s = await changes(edited, "my bundle", "can't help", "order")

    assert in_vain_s < WITHIN_S


async def test_a_change_by_hand_is_written_down_with_its_time(edited: Edited) -> None:
    edited.save(GOOD.replace("[parcel]", "[parcel, sack]"))
    await changes(edited, "my sack", "can't help", "order")

    database = Database(f"sqlite:///{edited.file.parent / 'data' / 'hermes.db'}")
    await database.open()
    kept = Proposals(database, clock=utc_now)
    async with asyncio.timeout(60):
        while not (found := [each for each in await kept.changes() if "sack" in each.lines]):
            await edited.answer("my sack")
    await database.close()
    assert found[0].by == ""
    assert "+    keywords: {any: [parcel, sack]}" in found[0].lines


async def test_a_new_route_gets_its_messages_and_a_removed_one_no_longer(edited: Edited) -> None:
    edited.save(GOOD + REFUND)
    await changes(edited, "cashback", "can't help", "refund for")
    edited.save(GOOD)
    await changes(edited, "cashback", "refund for", "can't help")


async def test_a_disabled_route_takes_nothing(edited: Edited) -> None:
    edited.save(GOOD.replace("    keywords: {any: [parcel]}\n", "    keywords: {any: [parcel]}\n    enabled: false\n")
                + REFUND)  # fmt: skip
    await changes(edited, "my parcel", "order", "can't help")
    edited.save(GOOD)
    await changes(edited, "my parcel", "can't help", "order")


async def test_a_customer_whose_route_is_removed_in_between_gets_a_person(edited: Edited) -> None:
    edited.save(GOOD + REFUND)
    await changes(edited, "cashback", "can't help", "refund for")
    buyer = edited.stage.next_buyer()
    talk = await edited.stage.say(buyer.user, SUPPORT, "cashback")
    assert "can be refunded" in await edited.stage.answer(talk)
    edited.save(GOOD)
    await changes(edited, "cashback", "refund for", "can't help")

    followed = await edited.stage.ask(buyer.user, SUPPORT, "any news?", talk.root)

    assert "asked a colleague" in followed


@pytest.mark.parametrize(
    "broken, place",
    [
        (GOOD.replace("agent: order", "agent: ordr"), "there is no agent 'ordr'"),
        (GOOD.replace("any: [parcel]", "anny: [parcel]"), ":6:16: "),
        (GOOD.replace("{any: [parcel]}", "{any: [parcel}"), ":6:28: "),
        ("", ":1:1: "),
    ],
)
async def test_a_bad_file_never_takes_effect_and_people_are_told_once_where_and_why(
    edited: Edited, broken: str, place: str
) -> None:
    told = len(edited.told(place))
    edited.save(broken)

    await edited.stage.until(lambda: len(edited.told(place)) > told)
    assert "order" in await edited.answer("my parcel")
    edited.file.touch()
    assert "order" in await edited.answer("my parcel")
    good = len(edited.told("good again"))
    edited.save(GOOD)
    await edited.stage.until(lambda: len(edited.told("good again")) > good)
    assert len(edited.told(place)) == told + 1


async def test_a_file_that_vanishes_is_told_and_counts_again_once_it_is_back(edited: Edited) -> None:
    edited.file.unlink()

    await edited.stage.until(lambda: edited.told("No such file"))
    assert "order" in await edited.answer("my parcel")
    edited.save(GOOD.replace("[parcel]", "[parcel, crate]"))
    await changes(edited, "my crate", "can't help", "order")


async def test_of_two_quick_saves_the_last_one_counts(edited: Edited) -> None:
    edited.save(GOOD.replace("[parcel]", "[parcel, first]"))
    edited.save(GOOD.replace("[parcel]", "[parcel, secnd]"))
    os.utime(edited.file, (time.time(), time.time()))

    await changes(edited, "my secnd", "can't help", "order")
    assert "can't help" in await edited.answer("my first")
