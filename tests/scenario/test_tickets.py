"""A ticket's life as staff see it on its one card, and what the customer thinks of the answer."""

from __future__ import annotations

import pytest

from hermes_bot.workspace.posts import Post
from tests.scenario.stage import (
    HANDOFF,
    OLIVIA,
    OMAR,
    REOPEN,
    SOLVE,
    SUPPORT,
    TAKE,
    Stage,
    ask_for_refund,
    buttons,
    key_of,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")


def cards(stage: Stage, words: str) -> list[Post]:
    """Return the cards of tickets with these words."""
    every = stage.workspace.posts.all()
    return [post for post in every if key_of(post).startswith("ticket:") and words in post.text]


async def test_every_ticket_has_one_card_that_is_edited_in_place(stage: Stage) -> None:
    buyer = stage.next_buyer()
    talk = await stage.say(buyer.user, SUPPORT, f"Where is my order {buyer.order.id}?")
    await stage.answer(talk)
    await stage.until(lambda: any("solved" in card.text for card in cards(stage, buyer.order.id)))
    (card,) = cards(stage, buyer.order.id)
    assert card.channel == HANDOFF
    assert "Route: order" in repr(card.blocks)
    assert "First answer after" in repr(card.blocks)

    await stage.click(OMAR, card, REOPEN)
    await stage.until(lambda: "Claimed by Omar" in repr(stage.now(card).blocks))
    menu = next(block for block in stage.now(card).blocks if str(block.get("block_id", "")).startswith("choose:"))
    urgent = menu["elements"][1]["options"][-1]["value"]
    await stage.workspace.click(OMAR, HANDOFF, card.ts, "ticket:priority", value=urgent)
    await stage.until(lambda: "Urgent" in repr(stage.now(card).blocks[:5]))
    await stage.workspace.click(OMAR, HANDOFF, card.ts, "ticket:assign", value=OLIVIA)
    await stage.until(lambda: "Claimed by Olivia" in repr(stage.now(card).blocks))
    await stage.click(OLIVIA, card, SOLVE)
    await stage.until(lambda: buttons(stage.now(card)) == [REOPEN])
    await stage.quiet()

    assert len(cards(stage, buyer.order.id)) == 1
    assert TAKE not in buttons(stage.now(card))


async def test_the_customers_thumb_is_kept_and_nobody_elses(stage: Stage) -> None:
    buyer, other = stage.next_buyer(), stage.next_buyer()
    talk = await stage.say(buyer.user, SUPPORT, f"Where is my order {buyer.order.id}?")
    await stage.answer(talk)
    answer = stage.replies(talk)[0]
    (asked,) = [block for block in answer.blocks if block["type"] == "context_actions"]
    thumbs = asked["elements"][0]

    await stage.workspace.click(
        other.user, SUPPORT, answer.ts, thumbs["action_id"], value=thumbs["positive_button"]["value"]
    )
    await stage.until(lambda: stage.whispers(other.user, "somebody else's"))
    await stage.workspace.click(
        buyer.user, SUPPORT, answer.ts, thumbs["action_id"], value=thumbs["negative_button"]["value"]
    )
    await stage.until(lambda: stage.whispers(buyer.user, "Thank you for telling me"))

    await stage.until(lambda: any("was not helped" in repr(card.blocks) for card in cards(stage, buyer.order.id)))


async def test_whoever_is_told_no_is_offered_a_person_and_not_asked_if_that_helped(stage: Stage) -> None:
    talk, card = await ask_for_refund(stage, stage.next_buyer())
    await stage.reject(OLIVIA, card, "Worn for weeks")
    await stage.answer(talk, 2)

    blocks = stage.replies(talk)[1].blocks
    assert [block["type"] for block in blocks if block["type"] in ("actions", "context_actions")] == ["actions"]
