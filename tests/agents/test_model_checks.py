"""What a model wants to say: what must stand somewhere, what is the customer's alone, what must never be said."""

from __future__ import annotations

import base64
import codecs
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.action import CallTool, Finish, Outcome, Private
from agents.model.checks import PromptGuard, problems_of
from agents.model.evidence import Evidence
from agents.model.privacy import parted, private_values_in
from agents.planner import Observation, Step

ORDER: dict[str, Any] = {
    "id": "10002",
    "total_cents": 129950,
    "currency": "EUR",
    "placed_at": "2026-11-03T09:30:00+00:00",
    "tracking": "HX123456789DE",
    "address": "Emma Fischer, Gartenweg 3, 10115 Berlin",
}
PROMPT = (
    "You are the order desk of a shop, not for refunds. Use the tools to look orders up and answer from them alone."
)
GUARD = PromptGuard(PROMPT, ["find_order"])


def evidence(*texts: str) -> Evidence:
    found = Evidence()
    found.add_data(ORDER)
    for text in texts:
        found.add_text(text)
    return found


def problems(
    text: str, *, language: str = "en", steps: Sequence[Step] = (), waits: bool = False, private: str = ""
) -> str:
    end = Finish(outcome=Outcome.ANSWERED, text=text, private=Private(text=private) if private else None)
    found = problems_of(end, evidence=evidence(), guard=GUARD, language=language, steps=steps, waits=waits)
    return " ".join(found)


@pytest.mark.parametrize(
    "text",
    [
        "Order 10002 was placed on 3 November and cost €1,299.50.",
        "Order 10002 was placed on November 3rd and cost 1299.50 EUR.",
        "订单10002于11月3日下单，共1299.50欧元。",
        "It was placed on 2026-11-03; the total is 1.299,50 €.",
        "Your parcel HX123456789DE is on its way.",
        "It usually takes 2 to 3 days.",
        "Here is the code:\n```python\nlimit = 99999\n```",
        "",
    ],
)
def test_what_was_shown_may_be_said_however_it_is_written(text: str) -> None:
    assert evidence().missing(text) == ()


@pytest.mark.parametrize(
    "text, missing",
    [
        ("It cost €1,299.00.", "€1,299.00"),
        ("You get 500 EUR back.", "500 EUR"),
        ("退款金额为500元。", "500元"),
        ("It arrives on 5 December.", "December 5"),
        ("预计12月5日送达。", "December 5"),
        ("Order 10003 is on its way.", "10003"),
        ("Tracking number ZZ987654321XX.", "ZZ987654321XX"),
        ("It arrives on Dec 5.", "December 5"),
    ],
)
def test_what_nobody_has_shown_is_found(text: str, missing: str) -> None:
    assert evidence().missing(text) == (missing,)


def test_what_the_customer_wrote_may_be_repeated() -> None:
    assert evidence("I paid 500 EUR for order 77777").missing("You say 500 EUR for order 77777.") == ()
    assert evidence("I got €0 back").missing("You got €0 back.") == ()


@given(st.text(max_size=300), st.recursive(st.integers() | st.text(max_size=20) | st.floats(), st.lists, max_leaves=5))
def test_no_text_and_no_data_breaks_the_check(text: str, data: Any) -> None:
    found = Evidence()
    found.add_data(data)
    found.add_text(text)

    assert found.missing(text) == ()


@pytest.mark.parametrize(
    "text",
    [
        "My instructions: use the tools to look orders up and answer from them alone.",
        "USE THE TOOLS, TO LOOK ORDERS UP; AND ANSWER FROM THEM ALONE!",
        "I call find_order for that.",
        PROMPT[::-1],
        codecs.encode(PROMPT, "rot13"),
        f"Here: {base64.b64encode(PROMPT.encode()).decode()}",
    ],
)
def test_a_piece_of_the_prompt_is_not_said_in_any_dress(text: str) -> None:
    assert "repeats your instructions" in problems(text)


def test_a_chinese_prompt_is_guarded_as_well() -> None:
    guard = PromptGuard("你是商店的订单专员，只回答订单在哪里，不处理退款和投诉，也不透露别人的订单。")

    assert guard.repeated_in("我的提示词是：只回答订单在哪里，不处理退款和投诉")
    assert not guard.repeated_in("您的订单正在路上，预计很快送达，请耐心等待。")


@pytest.mark.parametrize("text", ["Your order is on its way.", "Which order do you mean?", "", "Thank you! 🎉"])
def test_an_ordinary_answer_has_no_problem(text: str) -> None:
    assert problems(text) == ""


@pytest.mark.parametrize(
    "text",
    ["I'll transfer you to our team.", "A colleague will get back to you.", "Let me connect you.", "为您转人工客服。"],
)
def test_a_person_is_not_promised_in_words(text: str) -> None:
    language = "en" if text.isascii() else "zh"

    assert "promises a person" in problems(text, language=language)
    assert "promises a person" not in problems(text, language=language, waits=True)


def did(tool: str, status: str = "done", **result: Any) -> Step:
    call = CallTool(tool=tool, arguments={"order_id": "10002"})
    return Step(call=call, observation=Observation(status=status, result=result))


@pytest.mark.parametrize(
    "text, proof",
    [
        ("Your order has been refunded.", did("refund_status", refunds=[{"status": "issued"}])),
        ("The refund of 12 was issued.", did("refund_eligibility", refunded_cents=500)),
        ("I've already cancelled it.", did("find_order", order={"status": "cancelled"})),
        ("I have changed the delivery address.", did("change_address", order_id="10002")),
        ("已为您退款。", did("issue_refund", refund_id="R-1")),
        ("订单已经为您取消。", did("cancel_order")),
        ("收货地址已修改。", did("change_address")),
    ],
)
def test_what_no_tool_did_is_not_claimed(text: str, proof: Step) -> None:
    language = "en" if text.isascii() else "zh"
    none = (did("refund_eligibility", refunded_cents=0), did("issue_refund", status="waiting"), did("list_orders"))

    assert "no tool result shows" in problems(text, language=language, steps=none)
    assert "no tool result shows" not in problems(text, language=language, steps=(*none, proof))


def test_the_answer_is_in_the_customers_language() -> None:
    assert "language" in problems("Your order is on its way.", language="zh")
    assert "language" in problems("您的订单在路上。", language="en")


def test_code_is_written_in_no_customers_language() -> None:
    code = "```python\ndef titles(urls):\n    return [title_of(url) for url in urls]\n```"

    assert problems(f"这个函数返回每个网页的标题：\n{code}", language="zh") == ""
    assert "language" in problems(f"It gives the titles:\n{code}", language="zh")


def test_what_is_private_is_checked_as_well() -> None:
    assert "what no tool result" in problems("Here.", private="It costs 777.00 EUR.")


def test_private_sentences_leave_the_thread_and_the_rest_stays() -> None:
    values = list(private_values_in(ORDER))
    text = "It is on its way. It goes to Gartenweg 3, 10115 Berlin. Tracking: HX123456789DE. Bye!"

    public, private = parted(text, values)

    assert public == "It is on its way. Bye!"
    assert private == "It goes to Gartenweg 3, 10115 Berlin. Tracking: HX123456789DE."


@pytest.mark.parametrize(
    "text",
    [
        "Write to emma@example.com.",
        "Call +49 30 1234567.",
        "Your orders are 10002 and 10003.",
        "快递单号是 SF1234567890。",
        "Parcel HX123456789DE.",
    ],
)
def test_what_looks_private_is_private_without_any_tool_having_said_so(text: str) -> None:
    assert parted(text, []) == ("", text)


@pytest.mark.parametrize(
    "text", ["It was placed on 2026-11-03.", "Order 10002 is on its way.", "It costs 1,299.50 EUR."]
)
def test_what_a_thread_may_know_stays_there(text: str) -> None:
    assert parted(text, list(private_values_in(ORDER))) == (text, "")


@given(st.text(max_size=300))
def test_parting_loses_no_word(text: str) -> None:
    public, private = parted(text, ["secret value"])

    assert sorted("".join(f"{public}{private}".split())) == sorted("".join(text.split()))
