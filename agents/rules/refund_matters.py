"""What a person decides: a charge that the customer does not accept, other goods instead. With all the facts."""

from __future__ import annotations

from typing import Any

from agents.action import Action, CallTool, Finish, Outcome
from agents.planner import Run
from agents.rules.intents import RefundWish
from agents.rules.order_status import facts_of
from agents.rules.refund_return import plan_return
from agents.rules.refund_status import plan_refund_status
from agents.rules.rule_answers import POLICY
from agents.rules.talk import Talk
from agents.rules.which_order import ARRIVED, EVERY, LIST_ORDERS, find_order, listed, to_people

MOST_ALIKE = 5


def plan_matter(run: Run, talk: Talk, wish: RefundWish) -> Action:
    """Return the next look-up, one question for the order, and then the facts for a person.

    A matter that the policy does not leave to people is served as what comes nearest: a return, or earlier refunds.
    """
    seen = run.seen(POLICY)
    if seen is None:
        return POLICY
    if wish.value not in seen.result.get("to_people", ()):
        return plan_return(run, talk) if wish is RefundWish.EXCHANGE else plan_refund_status(run, talk)
    found = find_order(run, talk, "order", ARRIVED if wish is RefundWish.EXCHANGE else EVERY)
    if isinstance(found, CallTool):
        return found
    if isinstance(found, tuple):
        return _with_facts(run, talk, found, wish)
    asked_before = run.memory.get("asked", 0) or run.memory.get("misses", 0)
    asks = isinstance(found, Finish) and found.outcome is Outcome.ASK_CUSTOMER
    return found if asks and not asked_before else to_people(run, wish.value)


def _with_facts(run: Run, talk: Talk, numbers: tuple[str, ...], wish: RefundWish) -> Action:
    """Return the look-ups of these orders and their refunds, and then everything for a person."""
    known: list[tuple[str, str]] = []
    for number in numbers:
        find = CallTool(tool="find_order", arguments={"order_id": number})
        status = CallTool(tool="refund_status", arguments={"order_id": number})
        found, refunds = run.seen(find), run.seen(status)
        if found is None:
            return find
        if refunds is None:
            return status
        order = found.result.get("order")
        if order is None:
            known.append((f"Order {number}", "not the customer's, or not there"))
            continue
        known.append(facts_of(talk, order))
        known += [_refund_fact(talk, each) for each in refunds.result.get("refunds", ())]
    if wish is RefundWish.DISPUTE and run.seen(LIST_ORDERS) is None:
        return LIST_ORDERS
    return to_people(run, wish.value, *known, *(_alike(run, talk, numbers) if wish is RefundWish.DISPUTE else ()))


def _alike(run: Run, talk: Talk, numbers: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the other orders of the same total: the one that the customer may have been charged for twice."""
    orders = listed(run)
    totals = {(order["total_cents"], order["currency"]) for order in orders if order["id"] in numbers}
    others = [order for order in orders if (order["total_cents"], order["currency"]) in totals]
    alike = [order for order in others if order["id"] not in numbers][:MOST_ALIKE]
    return [("Same total, " + label.lower(), value) for label, value in (facts_of(talk, order) for order in alike)]


def _refund_fact(talk: Talk, refund: dict[str, Any]) -> tuple[str, str]:
    amount = talk.texts.money("en", refund["amount_cents"], refund["currency"])
    return f"Refund of order {refund['order_id']}", f"{amount}, {refund['status']}, {refund['created_at'][:10]}"
