"""Field cases of kind D, edits and deletions, where an approval rests on the message; in both modes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from hermes_bot.workspace.posts import Post
from tests.scenario.cases import approval_of, playing, small, told
from tests.scenario.field import deliver, held
from tests.scenario.stage import APPROVE, HANDOFF, OMAR, SUPPORT, Buyer, Stage, ask_for_refund, buttons, paid_once

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["socket", "http"])
async def stage(
    request: pytest.FixtureRequest, vectors: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stage]:
    async with playing(request.param, tmp_path_factory.mktemp("d"), vectors) as stage:
        yield stage


async def the_other_card(stage: Stage, buyer: Buyer, card: Post) -> Post:
    """Return the card of the same order that is not this one, once it is there."""
    await stage.until(lambda: len(stage.cards("approval", buyer.order.id)) == 2)
    return next(each for each in stage.cards("approval", buyer.order.id) if each.ts != card.ts)


@pytest.mark.parametrize("place", ["channel", "direct"])
async def test_d1_an_edit_cancels_the_request_and_it_is_asked_anew(stage: Stage, place: str) -> None:
    buyer = small(stage)
    talk, card = await ask_for_refund(stage, buyer, SUPPORT if place == "channel" else buyer.dm)

    words = f"I want a refund for order {buyer.order.id}, it is too small"
    await stage.workspace.edit(buyer.user, talk.channel, talk.ts, words)

    await stage.until(lambda: not buttons(stage.now(card)))
    again = await the_other_card(stage, buyer, card)
    assert "Cancelled" in stage.now(card).text
    await stage.click(OMAR, again, APPROVE)
    await stage.until(lambda: any("has been refunded" in each.text for each in stage.replies(talk)))
    await stage.quiet()
    assert stage.refunds(buyer) == 1
    assert [action for action, _ in told(stage.data, approval_of(card))] == ["requested", "cancelled"]


async def test_d1_an_edit_that_asks_for_something_else_cancels_and_is_answered(stage: Stage) -> None:
    buyer = small(stage)
    talk, card = await ask_for_refund(stage, buyer)

    await stage.workspace.edit(buyer.user, SUPPORT, talk.ts, f"Where is my order {buyer.order.id}?")

    await stage.until(lambda: not buttons(stage.now(card)))
    assert "was delivered" in await stage.answer(talk, 2)
    await stage.quiet()
    assert stage.refunds(buyer) == 0
    assert len(stage.cards("approval", buyer.order.id)) == 1


async def test_d1_an_edit_after_the_decision_changes_nothing(stage: Stage) -> None:
    buyer = small(stage)
    talk, card = await ask_for_refund(stage, buyer)
    await stage.click(OMAR, card, APPROVE)
    await paid_once(stage, buyer, talk, card)

    await stage.workspace.edit(buyer.user, SUPPORT, talk.ts, f"I want a refund for order {buyer.order.id}!!")

    await stage.quiet()
    assert stage.refunds(buyer) == 1
    assert "Approved" in stage.now(card).text


async def test_d4_a_deletion_cancels_the_request(stage: Stage) -> None:
    buyer = small(stage)
    talk, card = await ask_for_refund(stage, buyer)

    await stage.workspace.delete(buyer.user, SUPPORT, talk.ts)

    await stage.until(lambda: not buttons(stage.now(card)))
    await stage.quiet()
    assert "deleted the message" in repr(stage.now(card).blocks)
    assert "This message was deleted" not in repr([post.text for post in stage.workspace.posts.all() if post.bot])
    assert stage.refunds(buyer) == 0
    assert [action for action, _ in told(stage.data, approval_of(card))] == ["requested", "cancelled"]


async def test_d_an_edit_and_a_click_at_once_pay_at_most_once(stage: Stage) -> None:
    buyer = small(stage)
    talk, card = await ask_for_refund(stage, buyer)
    words = f"I want a refund for order {buyer.order.id}, please"

    await asyncio.gather(stage.click(OMAR, card, APPROVE), stage.workspace.edit(buyer.user, SUPPORT, talk.ts, words))

    await stage.until(lambda: not buttons(stage.now(card)))
    await stage.quiet()
    cards = stage.cards("approval", buyer.order.id)
    assert (stage.refunds(buyer), len(cards)) in [(1, 1), (0, 2)]


async def test_d1_an_edit_before_the_card_is_there_leaves_no_request_for_the_old_words(stage: Stage) -> None:
    buyer = small(stage)
    talk = await stage.say(buyer.user, SUPPORT, f"I want a refund for order {buyer.order.id}")

    await stage.workspace.edit(buyer.user, SUPPORT, talk.ts, f"Where is my order {buyer.order.id}?")

    await stage.until(lambda: any("was delivered" in each.text for each in stage.replies(talk)))
    await stage.quiet()
    assert [buttons(stage.now(card)) for card in stage.cards("approval", buyer.order.id)] in ([], [[]])
    assert stage.refunds(buyer) == 0


async def test_d4_a_deletion_that_slack_tells_of_first_leaves_no_request(stage: Stage) -> None:
    buyer = small(stage)
    with held(stage) as bodies:
        talk = await stage.say(buyer.user, SUPPORT, f"I want a refund for order {buyer.order.id}")
        await stage.workspace.delete(buyer.user, SUPPORT, talk.ts)
    deliver(stage, *reversed(bodies))

    def cancelled() -> bool:
        cards = [card for card in stage.cards("approval", buyer.order.id) if card.channel == HANDOFF]
        return bool(cards) and "Cancelled" in cards[-1].text

    await stage.until(cancelled)
    await stage.quiet()
    assert stage.refunds(buyer) == 0
    assert not any(buyer.order.id in post.text for post in stage.workspace.posts.roots(SUPPORT))
