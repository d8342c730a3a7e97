"""Field cases of kind G, the state of approvals: G1, G3, G6, G8, and their like; in both modes."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
import pytest_asyncio

from hermes_bot.workspace.faults import ApiError, ServerError
from tests.scenario.cases import approval_of, change, large, playing, put_to_customer, small, told
from tests.scenario.stage import (
    APPROVE,
    ASK,
    EDIT,
    HANDOFF,
    OLIVIA,
    OMAR,
    REJECT,
    SUPPORT,
    Buyer,
    Stage,
    ask_for_refund,
    buttons,
    buyers,
    paid_once,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")

UPDATE = "chat.update"


@pytest.fixture(scope="module")
def clerk() -> Buyer:
    return next(buyers())


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["socket", "http"])
async def stage(
    request: pytest.FixtureRequest, clerk: Buyer, vectors: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stage]:
    async with playing(request.param, tmp_path_factory.mktemp("g"), vectors, clerk.user) as stage:
        assert stage.next_buyer() == clerk
        yield stage


async def test_g1_two_clicks_at_once_by_one_person_run_it_once_and_are_told_once(stage: Stage) -> None:
    buyer = small(stage)
    talk, card = await ask_for_refund(stage, buyer)

    await asyncio.gather(*(stage.click(OMAR, card, APPROVE) for _ in range(2)))

    await paid_once(stage, buyer, talk, card)
    assert [action for action, _ in told(stage.data, approval_of(card))] == ["requested", "approved", "ran"]


async def test_g1_two_people_at_once_run_it_once_and_are_told_once(stage: Stage) -> None:
    buyer = small(stage)
    talk, card = await ask_for_refund(stage, buyer)

    await asyncio.gather(*(stage.click(user, card, APPROVE) for user in (OMAR, OLIVIA)))

    await paid_once(stage, buyer, talk, card)
    assert [action for action, _ in told(stage.data, approval_of(card))] == ["requested", "approved", "ran"]


async def test_g1_two_that_are_needed_at_once_run_it_once(stage: Stage) -> None:
    buyer = large(stage)
    talk, card = await ask_for_refund(stage, buyer)

    await asyncio.gather(*(stage.click(user, card, APPROVE) for user in (OMAR, OLIVIA, OMAR, OLIVIA)))

    await paid_once(stage, buyer, talk, card)
    assert [action for action, _ in told(stage.data, approval_of(card))] == ["requested", "counted", "approved", "ran"]


async def test_g1_one_of_two_is_shown_in_place_and_does_not_run(stage: Stage) -> None:
    buyer = large(stage)
    talk, card = await ask_for_refund(stage, buyer)

    await stage.click(OMAR, card, APPROVE)
    await stage.click(OMAR, card, APPROVE)
    await stage.until(lambda: "*1 of 2*" in repr(stage.now(card).blocks))
    await stage.until(lambda: stage.whispers(OMAR, "it takes 1 more"))
    await stage.quiet()

    assert stage.refunds(buyer) == 0
    assert buttons(stage.now(card)) == [APPROVE, REJECT, EDIT, ASK]
    await stage.click(OLIVIA, card, APPROVE)
    await paid_once(stage, buyer, talk, card)
    assert "Omar Haddad and Olivia Brandt" in repr(stage.now(card).blocks)


async def test_g3_of_two_cards_in_one_thread_the_one_that_is_pressed_runs(stage: Stage) -> None:
    first, second = small(stage), small(stage)
    talk, card = await ask_for_refund(stage, first)
    reply = await stage.say(second.user, SUPPORT, f"I want a refund for order {second.order.id}", talk.ts)
    other = await stage.card("approval", second.order.id)
    assert other.thread_ts == card.thread_ts

    await stage.click(OMAR, other, APPROVE)

    assert "has been refunded" in await stage.answer(reply, 2)
    await stage.quiet()
    assert (stage.refunds(first), stage.refunds(second)) == (0, 1)
    assert (buttons(stage.now(card)), buttons(stage.now(other))) == ([APPROVE, REJECT, EDIT, ASK], [])


async def test_g6_a_redraw_that_is_refused_and_then_fails_shows_a_shorter_card_in_the_end(stage: Stage) -> None:
    buyer = small(stage)
    words = f"I want a refund for order {buyer.order.id} " + "because it is <b>broken</b> & worn & torn " * 10
    talk = await stage.say(buyer.user, SUPPORT, words)
    card = await stage.card("approval", buyer.order.id)
    for fault in (ApiError("invalid_blocks"), ServerError(500), ApiError("invalid_blocks")):
        stage.server.faults.add(method=UPDATE, fault=fault)

    await stage.click(OMAR, card, APPROVE)

    await stage.until(lambda: not buttons(stage.now(card)))
    await stage.until(lambda: any("has been refunded" in each.text for each in stage.replies(talk)))
    await stage.quiet()
    assert "Approved" in repr(stage.now(card).blocks)
    assert stage.refunds(buyer) == 1


async def test_g6_a_card_whose_blocks_are_refused_when_it_is_posted_has_its_buttons_all_the_same(stage: Stage) -> None:
    buyer = small(stage)
    stage.server.faults.add(method="chat.postMessage", fault=ApiError("invalid_blocks"), channel=HANDOFF)

    talk, card = await ask_for_refund(stage, buyer, buyer.dm)

    assert stage.server.faults.waiting() == 0
    await stage.click(OMAR, card, APPROVE)
    await paid_once(stage, buyer, talk, card)


async def test_g8_who_asked_does_not_approve_it_and_one_approval_is_not_good_for_the_next(
    stage: Stage, clerk: Buyer
) -> None:
    talk, card = await ask_for_refund(stage, clerk)

    await stage.click(clerk.user, card, APPROVE)

    await stage.until(lambda: stage.whispers(clerk.user, "You asked for this yourself"))
    await stage.quiet()
    assert stage.refunds(clerk) == 0
    assert ("refused", clerk.user) in told(stage.data, approval_of(card))
    await stage.click(OMAR, card, APPROVE)
    await paid_once(stage, clerk, talk, card)
    again = await stage.say(clerk.user, SUPPORT, f"I want a refund for order {clerk.order.id}")
    await stage.answer(again)
    await stage.quiet()
    assert stage.refunds(clerk) == 1


async def test_g_an_old_card_does_nothing_after_an_edit_and_the_new_version_needs_somebody_else(stage: Stage) -> None:
    buyer = small(stage)
    talk, card = await ask_for_refund(stage, buyer)

    assert await change(stage, OMAR, card, amount_cents="5") == {}

    await stage.until(lambda: "Version 2" in repr(stage.now(card).blocks))
    await stage.click(OMAR, card, APPROVE)
    await stage.until(lambda: stage.whispers(OMAR, "You changed this yourself"))
    await stage.quiet()
    assert stage.refunds(buyer) == 0
    await stage.click(OLIVIA, stage.now(card), APPROVE)
    assert "5.00" in await stage.answer(talk, 2)
    await stage.quiet()
    assert stage.refunds(buyer) == 1


async def test_g_a_form_that_the_tool_cannot_read_stays_open_with_what_is_wrong(stage: Stage) -> None:
    buyer = small(stage)
    _, card = await ask_for_refund(stage, buyer)

    errors = await change(stage, OMAR, card, amount_cents="a lot")

    assert list(errors) == ["argument:amount_cents"]
    assert "Version 2" not in repr(stage.now(card).blocks)


async def test_g_an_edit_that_the_policy_refuses_is_told_alone_and_changes_nothing(stage: Stage) -> None:
    buyer = small(stage)
    _, card = await ask_for_refund(stage, buyer)

    await change(stage, OMAR, card, amount_cents=str(buyer.order.total_cents // 100 + 1))

    await stage.until(lambda: stage.whispers(OMAR, "Nothing was changed"))
    await stage.quiet()
    assert stage.now(card) == card


async def test_g_a_question_reaches_the_customer_and_the_answer_the_card(stage: Stage) -> None:
    buyer = small(stage)
    talk, card = await ask_for_refund(stage, buyer, buyer.dm)

    await put_to_customer(stage, OMAR, card, "Was the seal <broken> & torn?")
    asked = await stage.answer(talk, 2)
    await stage.say(buyer.user, buyer.dm, "Yes & it smelled")

    assert "Was the seal &lt;broken&gt; &amp; torn?" in asked
    assert "passed that on" in await stage.answer(talk, 3)
    await stage.until(lambda: "Yes &amp; it smelled" in repr(stage.now(card).blocks))
    posts = stage.workspace.posts
    await stage.until(lambda: any("it smelled" in post.text for post in posts.replies(card.channel, card.ts)))
    await stage.click(OLIVIA, stage.now(card), APPROVE)
    assert "has been refunded" in await stage.answer(talk, 4)


async def test_g_buttons_go_while_a_slow_action_runs(stage: Stage) -> None:
    buyer = small(stage)
    talk, card = await ask_for_refund(stage, buyer)
    with closing(sqlite3.connect(stage.data / "shop.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")  # somebody else writes to the shop, and the refund has to wait

        await stage.click(OMAR, card, APPROVE)
        await stage.until(lambda: not buttons(stage.now(card)))

        assert "Approved" in stage.now(card).text
        assert stage.refunds(buyer) == 0
        other.execute("ROLLBACK")
    await paid_once(stage, buyer, talk, card)


@pytest.mark.parametrize("error", ["edit_window_closed", "missing_scope"])
async def test_g6_a_card_that_may_not_be_changed_any_more_has_the_record_under_it(stage: Stage, error: str) -> None:
    buyer = small(stage)
    talk, card = await ask_for_refund(stage, buyer, buyer.dm)
    stage.server.faults.add(method=UPDATE, fault=ApiError(error), times=2)

    await stage.click(OMAR, card, APPROVE)

    posts = stage.workspace.posts
    await stage.until(lambda: any("Approved" in post.text for post in posts.replies(HANDOFF, card.ts)[-1:]))
    await stage.quiet()
    stage.server.faults.clear()
    assert [("has been refunded" in post.text) for post in stage.replies(talk)] == [False, True]
    assert stage.refunds(buyer) == 1


async def test_g_another_amount_than_the_one_that_waits_is_never_left_beside_it(stage: Stage) -> None:
    buyer = small(stage)
    talk, card = await ask_for_refund(stage, buyer)

    await stage.say(buyer.user, SUPPORT, "make it 5 instead", talk.root)

    await stage.until(lambda: not buttons(stage.now(card)))
    assert "make it 5 instead" in (await stage.card("handoff", buyer.name)).text
    await stage.quiet()
    assert stage.refunds(buyer) == 0
