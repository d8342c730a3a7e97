"""Field case L1's relative under the workspace's own rate limits: a burst is answered, and hardly a call refused."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.scenario.cases import playing
from tests.scenario.stage import APPROVE, OMAR, SUPPORT, Buyer, Stage, Talk, buttons

pytestmark = pytest.mark.asyncio(loop_scope="module")

AS_SLACK_GRANTS = {
    "HERMES_SLACK__RATE_LIMITS__POSTS_AT_ONCE": "5",
    "HERMES_SLACK__RATE_LIMITS__POSTS_A_MINUTE": "300",
    "HERMES_SLACK__RATE_LIMITS__TIER_MINUTES": "1",
    "HERMES_SLACK__RATE_LIMITS__UNTIL_REFUSED": "1",
}
PEOPLE, EACH, IN_THE_CHANNEL = 9, 3, 2
QUESTIONS = ("Where is my order {}?", "How much did order {} cost?", "When did order {} arrive?")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(vectors: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    async with playing("socket", tmp_path_factory.mktemp("limits"), vectors, more=AS_SLACK_GRANTS) as stage:
        stage.server.limits.on = True
        yield stage


async def asks(stage: Stage, buyer: Buyer, channel: str) -> list[Talk]:
    """Say three things quickly, in a thread of the channel or in direct messages."""
    talks: list[Talk] = []
    for question in QUESTIONS:
        root = talks[0].root if talks else ""
        talks.append(await stage.say(buyer.user, channel, question.format(buyer.order.id), root))
    return talks


def answered(stage: Stage, talk: Talk) -> list[str]:
    """Return which messages of the conversation have an answer, in the order of the answers."""
    posts = stage.workspace.posts
    there = posts.replies(talk.channel, talk.root) if talk.root else posts.roots(talk.channel)
    payloads = [(post.metadata or {}).get("event_payload") or {} for post in there if post.bot]
    return [each["in_reply_to"] for each in payloads if str(each.get("key", "")).startswith("reply:")]


async def test_l1_thirty_messages_at_once_are_answered_whole_and_in_order_with_hardly_a_call_refused(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits, refused, calls = stage.server.limits, Counter[str](), Counter[str]()
    wait_s = limits.wait_s

    def counted(app_id: str, method: str, tier: int, channel: str) -> int:
        told = wait_s(app_id, method, tier, channel)
        calls[method] += 1
        refused[method] += bool(told)
        return told

    monkeypatch.setattr(limits, "wait_s", counted)
    everybody = [stage.next_buyer() for _ in range(PEOPLE + EACH)]
    buyers, wanting = everybody[:PEOPLE], everybody[PEOPLE:]
    places = [SUPPORT if number < IN_THE_CHANNEL else each.dm for number, each in enumerate(buyers)]
    said = asyncio.gather(*(asks(stage, each, place) for each, place in zip(buyers, places, strict=True)))
    wanted = asyncio.gather(
        *(stage.say(each.user, each.dm, f"I want a refund for order {each.order.id}") for each in wanting)
    )
    talks, _ = await asyncio.gather(said, wanted)
    cards = [await stage.card("approval", each.order.id) for each in wanting]
    clicks = [await stage.click(OMAR, card, APPROVE) for card in cards]
    await stage.until(lambda: all(len(answered(stage, mine[-1])) >= len(QUESTIONS) for mine in talks))
    await stage.until(lambda: not any(buttons(stage.now(card)) for card in cards))
    await stage.quiet()

    assert all(click.ok for click in clicks)
    assert [answered(stage, mine[-1]) for mine in talks] == [[talk.ts for talk in mine] for mine in talks]
    assert [stage.refunds(each) for each in wanting] == [1] * len(wanting)
    assert refused.total() <= calls.total() / 10, (refused, calls)
