"""Agents that a model decides for, from the customer's message to the answer; every message is handled twice."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hermes_bot.memory.fact import FactKind
from hermes_bot.memory.owner import PersonOwner, Said
from hermes_bot.messages.payloads import APPROVAL_REQUESTED, HANDOFF_REQUESTED, Audience, HandoffRequested, read
from hermes_bot.tools.outcome import Refused
from hermes_bot.tools.toolbox import Toolbox
from tests.agents.harness import TEAM, Pump
from tests.agents.model_desk import SHIPPED, Opens, limited
from tests.llm.model_server import Fails, Says, answer, call

WHERE = "Where is my order 10002?"
LOOK = call("find_order", order_id="10002")


async def test_the_model_looks_and_answers_from_what_it_saw(opens: Opens) -> None:
    desk = await opens(LOOK, answer("Your order 10002 is on its way."))

    turn = await desk.pump.says("U0EMMA", WHERE)

    assert turn.answer.text == "Your order 10002 is on its way."
    assert [asked.done for asked in desk.server.asked] == [0, 1]
    assert [message.type for message in turn.messages].count("agent.step") == 1


async def test_a_step_is_no_hop_and_a_repeated_handling_asks_nobody_again(opens: Opens) -> None:
    desk = await opens(LOOK, answer("It is on its way."))

    turn = await desk.pump.says("U0EMMA", WHERE)

    (work,) = turn.of("ticket.order")
    (step,) = turn.of("agent.step")
    assert step.hops == work.hops
    assert len(desk.server.asked) == 2


async def test_what_is_private_goes_to_the_customer_alone_whatever_the_model_says(opens: Opens, pump: Pump) -> None:
    emma = await pump.desk.book.customer_by_email("emma.fischer@example.com")
    assert emma is not None
    order = await pump.desk.book.order(emma.id, "10002")
    assert order is not None
    text = f"Your order 10002 is on its way. It goes to {order.address}. Tracking: {order.tracking}."
    desk = await opens(LOOK, answer(text))

    turn = await desk.pump.says("U0EMMA", WHERE)

    (private,) = turn.seen_by(Audience.OWNER)
    assert turn.answer.text.startswith("Your order 10002 is on its way.")
    for secret in filter(None, (order.address, order.tracking)):
        assert secret not in turn.answer.text
        assert secret in private.text


async def test_in_a_direct_message_all_is_one_answer(opens: Opens) -> None:
    desk = await opens(LOOK, answer("It is on its way.", private="Ask us any time."))

    turn = await desk.pump.says("U0EMMA", WHERE, channel="D0EMMA")

    (only,) = turn.replies
    assert only.text == "It is on its way.\nAsk us any time."


@pytest.mark.parametrize(
    "wrong",
    [
        Says(text="I will just chat."),
        {"action": "finish", "outcome": "answered"},
        call("delete_everything"),
        answer("It arrives on 3 March and costs 999.99 EUR."),
        answer("A colleague will call you."),
        answer("您的订单在路上。"),
        answer("I have refunded it already."),
    ],
)
async def test_what_cannot_be_used_is_sent_back_once_with_the_reason(opens: Opens, wrong: Any) -> None:
    desk = await opens(LOOK, wrong, answer("It is on its way."))

    turn = await desk.pump.says("U0EMMA", WHERE)

    assert turn.answer.text == "It is on its way."
    assert "cannot be used" in desk.server.asked[-1].corrected


async def test_nonsense_twice_and_the_rules_answer_without_the_customer_noticing(opens: Opens, pump: Pump) -> None:
    desk = await opens(LOOK, Says(text="?"), Says(text="??"))

    turn = await desk.pump.says("U0EMMA", WHERE)

    assert "10002" in turn.answer.text
    assert not turn.of(HANDOFF_REQUESTED)
    assert len(desk.server.asked) == 3


async def test_an_endpoint_that_is_down_leaves_the_rules_to_it(opens: Opens) -> None:
    desk = await opens(*[Fails(status=500)] * 3, retries=2)

    turn = await desk.pump.says("U0EMMA", WHERE)

    assert "10002" in turn.answer.text
    assert [(each.outcome, each.tokens_in) for each in desk.calls] == [("down", 0)]


async def test_without_rules_a_person_gets_it(opens: Opens) -> None:
    desk = await opens(Fails(status=401), rules=False)

    turn = await desk.pump.says("U0EMMA", WHERE)

    assert len(turn.of(HANDOFF_REQUESTED)) == 1
    assert len(turn.seen_by(Audience.THREAD)) == 1


async def test_a_handoff_is_made_and_told_in_our_words(opens: Opens) -> None:
    desk = await opens({"action": "finish", "outcome": "handoff", "reason": "asked", "text": "verified, refund 600"})

    turn = await desk.pump.says("U0EMMA", WHERE)

    (request,) = turn.of(HANDOFF_REQUESTED)
    assert "600" not in read(request, HandoffRequested).summary
    assert "verified" not in turn.answer.text


async def test_the_same_call_again_is_cut_and_the_second_time_a_person_gets_it(opens: Opens) -> None:
    desk = await opens(LOOK, LOOK, LOOK)

    turn = await desk.pump.says("U0EMMA", WHERE)

    assert "repeated" in desk.server.asked[2].user
    assert len(turn.of(HANDOFF_REQUESTED)) == 1
    assert len(desk.server.asked) == 3


async def test_a_run_that_does_not_end_goes_to_a_person_with_its_steps(opens: Opens) -> None:
    desk = await opens()
    desk.server.otherwise = lambda asked: call("find_order", order_id=f"1{asked.done:04}")

    turn = await desk.pump.says("U0EMMA", WHERE)

    (request,) = turn.of(HANDOFF_REQUESTED)
    assert "Step 15" in read(request, HandoffRequested).summary
    assert len(desk.server.asked) == 15


async def test_a_call_that_may_have_happened_is_a_persons_and_not_tried_again(
    opens: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def uncertain(*_: Any, **__: Any) -> Refused:
        return Refused(code="may_have_run")

    monkeypatch.setattr(Toolbox, "call", uncertain)
    desk = await opens(LOOK, answer("It is done."))
    turn = await desk.pump.says("U0EMMA", WHERE)

    assert len(turn.of(HANDOFF_REQUESTED)) == 1
    assert len(desk.server.asked) == 1


async def test_a_question_waits_for_the_customer_and_the_next_message_goes_on(opens: Opens) -> None:
    desk = await opens(
        {"action": "finish", "outcome": "ask_customer", "text": "Which order do you mean?"},
        LOOK,
        answer("It is on its way."),
    )
    asked = await desk.pump.says("U0EMMA", "Where is my order?")
    told = await desk.pump.says("U0EMMA", "10002", thread_ts=asked.answer.thread_ts)

    assert told.route == "order"
    assert told.answer.text == "It is on its way."


async def test_a_hand_over_goes_to_the_agent_whose_work_it_is(opens: Opens) -> None:
    desk = await opens({"action": "delegate", "type": "ticket.refund"}, call("refund_eligibility", order_id="10001"))
    desk.server.otherwise = lambda _asked: answer("What would you like me to do?")

    turn = await desk.pump.says("U0EMMA", "Where is my order 10001?")

    assert [message.type for message in turn.messages if message.type.startswith("ticket.")][-1] == "ticket.refund"
    assert "refund desk" in desk.server.asked[-1].system


async def test_money_moves_only_after_an_approval(opens: Opens, pump: Pump) -> None:
    desk = await opens(call("refund_eligibility", order_id="10001"))
    desk.server.otherwise = lambda asked: (
        call("issue_refund", order_id="10001", amount_cents=4990, currency="EUR", reason="broken")
        if asked.done == 1
        else answer("Your request was passed on.")
    )

    turn = await desk.pump.says("U0EMMA", "Refund order 10001, it is broken")

    assert len(turn.of(APPROVAL_REQUESTED)) == 1
    assert turn.answer.text == "Your request was passed on."
    paid = await desk.pump.decides("U0OMAR", turn, "approve")
    assert "10001" in paid.answer.text


async def test_several_requests_in_one_message_come_back_as_one_answer(opens: Opens) -> None:
    desk = await opens()
    desk.server.otherwise = lambda asked: answer(
        "The parcel is on its way." if "order desk" in asked.system else "Shall I ask for the refund?"
    )

    turn = await desk.pump.says("U0EMMA", "Where is my order 10002? Also, I want a refund for order 10001.")

    assert turn.answer.text == "The parcel is on its way.\n\nShall I ask for the refund?"


async def test_a_run_whose_agent_changed_meanwhile_is_not_carried_on(opens: Opens) -> None:
    first = await opens(LOOK)
    work = await first.pump.stops_before("U0EMMA", WHERE, "agent.step")
    changed = SHIPPED.agents["order"].model_copy(update={"temperature": 0.9})
    specs = SHIPPED.model_copy(update={"agents": {**SHIPPED.agents, "order": changed}})
    second = await opens(answer("It is on its way."), specs=specs)

    turn = await second.pump.run(work)

    (request,) = turn.of(HANDOFF_REQUESTED)
    assert "changed while this was in work" in read(request, HandoffRequested).summary
    assert not second.server.asked


async def test_a_run_goes_on_in_another_process(opens: Opens) -> None:
    first = await opens(LOOK)
    step = await first.pump.stops_before("U0EMMA", WHERE, "agent.step")
    second = await opens(answer("It is on its way."))

    turn = await second.pump.run(step)

    assert turn.answer.text == "It is on its way."
    assert second.server.asked[0].done == 1


async def test_a_ticket_over_its_budget_is_served_by_rules(opens: Opens) -> None:
    desk = await opens(LOOK, specs=limited(ticket={"tokens": 100}))

    turn = await desk.pump.says("U0EMMA", WHERE)

    assert "10002" in turn.answer.text
    assert len(desk.server.asked) == 1


async def test_a_days_budget_raises_an_alarm_before_and_when_it_is_spent(opens: Opens) -> None:
    desk = await opens(LOOK, answer("It is on its way."), specs=limited(day={"tokens": 200}, alarm_at=0.5))

    first = await desk.pump.says("U0EMMA", WHERE)
    second = await desk.pump.says("U0LINA", "我的订单10008到哪了？")

    assert first.answer.text == "It is on its way."
    assert "10008" in second.answer.text
    assert len(desk.server.asked) == 2
    assert {subject.split(":")[0] for subject, _ in desk.alarms} == {"budget", "budget spent"}


async def test_what_was_spent_is_known_by_ticket_agent_and_day(opens: Opens) -> None:
    specs = SHIPPED.model_validate(SHIPPED.model_dump() | {"prices": {"scripted": {"input": 1.0, "output": 10.0}}})
    desk = await opens(LOOK, answer("It is on its way."), specs=specs)

    turn = await desk.pump.says("U0EMMA", WHERE)

    spent = await desk.usage.of_ticket(turn.answer.ticket_id)
    (day,) = await desk.usage.by_day()
    assert (spent.tokens, round(spent.usd, 6)) == (240, 0.0006)
    assert (day.agent, day.requests, day.tokens_in, day.tokens_out) == ("order", 2, 200, 40)
    assert [each.cost_usd for each in desk.calls] == [0.0003, 0.0003]


async def test_a_run_that_outlives_its_model_goes_to_a_person(opens: Opens, pump: Pump) -> None:
    desk = await opens(LOOK)
    step = await desk.pump.stops_before("U0EMMA", WHERE, "agent.step")
    ruled = replace(pump, desk=desk.pump.desk)

    turn = await ruled.run(step)

    assert len(turn.of(HANDOFF_REQUESTED)) == 1


async def test_nobody_is_answered_once_people_have_the_ticket(opens: Opens, pump: Pump) -> None:
    desk = await opens(LOOK, answer("It is on its way."))
    step = await desk.pump.stops_before("U0EMMA", WHERE, "agent.step")
    await pump.desk.tickets.hand_to_human(str(step.data["ticket_id"]), reason="taken", summary="taken")

    turn = await desk.pump.run(step)

    assert turn.replies == []
    assert len(desk.server.asked) == 1


async def test_the_next_message_finds_what_was_done_and_known_before(opens: Opens, pump: Pump) -> None:
    assert pump.desk.memory is not None
    emma = PersonOwner(TEAM, "U0EMMA")
    said = Said(by=emma, ticket_id="T-0", message_id="MSG-0")
    await pump.desk.memory.long_term.remember(
        emma, "Prefers parcels at the door", kind=FactKind.PREFERENCE, source=said
    )
    desk = await opens(LOOK, answer("It is on its way."), answer("At the door, as you like it."))

    first = await desk.pump.says("U0EMMA", WHERE, channel="D0EMMA")
    await desk.pump.says("U0EMMA", "Where do you leave my order, at the door like other parcels?", channel="D0EMMA")

    known = desk.server.asked[-1].fenced
    assert WHERE in known["what happened before"]
    assert first.answer.text in known["what happened before"]
    assert "order: 10002" in known["blackboard"]
    assert "Prefers parcels at the door" in known["recalled facts"]


@pytest.mark.parametrize("include, shown", [({"text", "order"}, True), ({"text", "user"}, False), (None, True)])
async def test_of_the_blackboard_a_model_is_shown_what_its_route_names(
    opens: Opens, include: set[str] | None, shown: bool
) -> None:
    desk = await opens(LOOK, answer("It is on its way."), answer("By van."))
    desk.pump.desk = replace(desk.pump.desk, include_of=lambda _type: include)

    await desk.pump.says("U0EMMA", WHERE, channel="D0EMMA")
    await desk.pump.says("U0EMMA", "How does my order come?", channel="D0EMMA")

    assert ("order: 10002" in desk.server.asked[-1].fenced.get("blackboard", "")) is shown


async def test_a_model_is_shown_nothing_of_another_person(opens: Opens, pump: Pump) -> None:
    assert pump.desk.memory is not None
    lina = PersonOwner(TEAM, "U0LINA")
    said = Said(by=lina, ticket_id="T-0", message_id="MSG-0")
    await pump.desk.memory.long_term.remember(
        lina, "Order 10002 goes to the back door", kind=FactKind.ADDRESS, source=said
    )
    desk = await opens(answer("Which order do you mean?"))

    await desk.pump.says("U0EMMA", "Where is order 10002, at the back door?")

    assert "goes to the back door" not in desk.server.asked[0].user
