"""The rules planner of the order agent: where an order is, and what can still be done with it."""

from __future__ import annotations

from dataclasses import replace

from agents.action import Action, Delegate
from agents.planner import Run
from agents.requests import asks_where
from agents.rules.intents import OrderWish, leaning, order_wish, rule_asked
from agents.rules.order_address import plan_address
from agents.rules.order_cancel import plan_cancel
from agents.rules.order_invoice import plan_invoice
from agents.rules.order_list import plan_list
from agents.rules.order_status import plan_status
from agents.rules.rule_answers import answer_rule
from agents.rules.taken_back import plan_taken_back
from agents.rules.talk import Talk
from agents.rules.which_order import CHOICE_ORDER, OPEN, find_order, order_remembered, orders_named, to_people
from agents.texts import Texts
from agents.words import says_no, says_yes
from hermes_bot.messages.payloads import TICKET_REFUND

CHOICE_REFUND = "refund:"
_FITTING = {OrderWish.CANCEL: OPEN, OrderWish.ADDRESS: OPEN, OrderWish.MODIFY: OPEN}


class OrderPlanner:
    """Status, cancellation, address and invoice of the customer's own orders."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts

    async def plan(self, run: Run) -> Action:
        """Return the next action."""
        if run.choice.startswith(CHOICE_REFUND):
            order_id = run.choice.removeprefix(CHOICE_REFUND)
            return Delegate(type=TICKET_REFUND, choice=f"{CHOICE_ORDER}{order_id}")
        if not run.choice and leaning(run.text) == "refund":
            return Delegate(type=TICKET_REFUND)
        talk = Talk(texts=self._texts, run=run)
        named = bool(orders_named(run))
        rule = None if named or run.choice else rule_asked(run.text, in_talk=bool(order_remembered(run)), agent="order")
        if rule is not None and not run.memory.get("waiting"):
            return answer_rule(run, talk, rule)
        if not run.identified:
            return to_people(run, "no_identity")
        back = None if order_wish(run.text) or asks_where(run.text) else plan_taken_back(run, talk)
        if back is not None:
            return back
        wish = _wish(run)
        run = replace(run, memory=run.memory | {"wish": wish.value})
        talk = replace(talk, run=run)
        if wish is OrderWish.LIST and not named:
            return plan_list(run, talk)
        if wish is OrderWish.ADDRESS:
            return plan_address(run, talk)
        found = find_order(run, talk, "order", _FITTING.get(wish, frozenset()))
        if not isinstance(found, tuple):
            return found
        if wish is OrderWish.MODIFY:
            return to_people(run, "modify", *(("Order", number) for number in found))
        if wish is OrderWish.CANCEL:
            return plan_cancel(run, talk, found)
        if wish is OrderWish.INVOICE:
            return plan_invoice(run, talk, found)
        return plan_status(run, talk, found, wish)


def _wish(run: Run) -> OrderWish:
    """Return what the customer wants, from this text or from the one before the question that they answer."""
    said = None if run.choice else order_wish(run.text)
    kind = run.choice.partition(":")[0]
    if kind in ("cancel", "address"):
        return OrderWish(kind)
    waiting = run.memory.get("waiting")
    before = OrderWish(run.memory["wish"]) if waiting and run.memory.get("wish") in set(OrderWish) else None
    if waiting in ("cancel", "address", "confirm_address") and not run.choice:
        answers = says_yes(run.text) or says_no(run.text) or waiting == "address"
        if before is not None and (answers or said is None):
            return before
    return said or before or OrderWish.STATUS
