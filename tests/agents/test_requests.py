"""Several requests in one message: both are served and answered in one, or a person gets the whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agents.requests import clauses_of, may_hold_several
from hermes_bot.messages.payloads import APPROVAL_REQUESTED, HANDOFF_REQUESTED, Audience, HandoffRequested, read
from hermes_bot.tools.order_number import order_numbers_in
from tests.agents.harness import Pump, Turn

BOTH = [
    "Cancel my order 10002. Also, I want a refund for order 10001.",
    "Where is my order 10002? Also, I want a refund for order 10001.",
    "I want a refund for order 10001. Where is my order 10002?",
    "Please track my order 10002, and I want a refund for order 10001",
    "1. Where is my order 10002?\n2. Please refund order 10001",
    "我的订单10002到哪了？另外订单10001我要退款",
    "订单10001帮我退款，还有订单10002什么时候发货",
]
ONE = [
    "refund my order 10001",
    "I want a refund for my order 10001",
    "My order 10001 came yesterday. It is broken. I want my money back.",
    "我的订单10001要退款",
    "订单10001收到了，坏的，我要退款",
    "退款，订单号10001",
    "Please refund order 10001, my order is broken",
]


def agents_of(turn: Turn) -> list[str]:
    """Return the agents that got work, in order."""
    return [message.type.removeprefix("ticket.") for message in turn.messages if message.type.startswith("ticket.")][1:]


@pytest.mark.parametrize("text", BOTH)
async def test_both_requests_are_served_and_come_back_as_one_answer(pump: Pump, text: str) -> None:
    turn = await pump.says("U0EMMA", text)

    assert sorted(agents_of(turn)) == ["order", "refund"]
    assert len(turn.seen_by(Audience.THREAD)) == 1
    assert {"10001", "10002"} <= set(order_numbers_in(turn.answer.text.replace("#", " ")))
    assert not turn.of(HANDOFF_REQUESTED)


@pytest.mark.parametrize("text", ONE)
async def test_a_refund_of_an_order_is_one_request(pump: Pump, text: str) -> None:
    turn = await pump.says("U0EMMA", text)

    assert agents_of(turn) == ["refund"]
    assert len(turn.seen_by(Audience.THREAD)) == 1


async def test_the_card_for_the_refund_is_asked_for_beside_the_one_answer(pump: Pump) -> None:
    turn = await pump.says("U0EMMA", BOTH[0], channel="D0EMMA")

    assert len(turn.of(APPROVAL_REQUESTED)) == 1
    assert len(turn.replies) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Where is my order 10002? Also, I want to talk to a human being about it, connect me with an agent",
        "Refund order 10001. Actually no, don't refund it.",
        "订单10001我要退款。算了，不退了",
        "我要退款，订单10001。另外请转人工客服",
    ],
)
async def test_what_conflicts_goes_to_one_person_whole(pump: Pump, text: str) -> None:
    turn = await pump.says("U0EMMA", text)

    (request,) = turn.of(HANDOFF_REQUESTED)
    assert agents_of(turn) == ["handoff"]
    assert len(turn.replies) == 1
    assert text[:20] in read(request, HandoffRequested).summary


async def test_a_part_that_needs_a_person_takes_the_whole_along_with_the_answer_so_far(pump: Pump) -> None:
    turn = await pump.says("U0NOBODY", BOTH[0])

    assert len(turn.seen_by(Audience.THREAD)) == 1
    assert BOTH[0] in read(turn.of(HANDOFF_REQUESTED)[0], HandoffRequested).summary


async def test_an_answer_goes_to_the_one_of_both_who_asked(pump: Pump) -> None:
    await pump.says("U0EMMA", "I want my money back. Also, where is my order 10002?", channel="D0EMMA")
    turn = await pump.says("U0EMMA", "10001", channel="D0EMMA")

    assert turn.route == "refund"


@pytest.mark.parametrize("text", ["", "a" * 5000, "!" * 3000, "also " * 400, "。" * 2000])
def test_any_text_has_few_clauses(text: str) -> None:
    assert len(clauses_of(text)) <= 8


@pytest.mark.shared
def test_real_single_requests_are_hardly_ever_parted(shared_dir: Path) -> None:
    lines = (shared_dir / "data" / "routing_dev.jsonl").read_text(encoding="utf-8").splitlines()
    parted = [text for text in (json.loads(line)["text"] for line in lines) if may_hold_several(clauses_of(text))]

    assert len(parted) <= 0.01 * len(lines)
