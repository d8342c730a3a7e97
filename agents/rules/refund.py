"""The rules planner of the refund agent: what the policy says, and the request to pay money back."""

from __future__ import annotations

from dataclasses import replace

from agents.action import Action, Delegate
from agents.planner import Run
from agents.rules.intents import OrderWish, RefundWish, asks_for_money, order_wish, refund_wish, rule_asked
from agents.rules.refund_matters import plan_matter
from agents.rules.refund_money import plan_refund
from agents.rules.refund_part import wants_other_part
from agents.rules.refund_return import plan_return
from agents.rules.refund_status import plan_refund_status
from agents.rules.rule_answers import answer_rule
from agents.rules.taken_back import plan_taken_back, waits_for_approval
from agents.rules.talk import Talk
from agents.rules.which_order import CHOICE_ORDER, order_remembered, orders_named, to_people
from agents.texts import Texts
from agents.words import says_no, says_yes
from hermes_bot.messages.payloads import TICKET_ORDER

CHOICE_RETURN = "return:"
_AT_WORK = frozenset({"confirm", "confirm_return", "part"})


class RefundPlanner:
    """Refunds whole and in part, returns, what became of earlier refunds, and what only a person decides."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts

    async def plan(self, run: Run) -> Action:
        """Return the next action."""
        talk = Talk(texts=self._texts, run=run)
        named = bool(orders_named(run))
        in_talk = bool(order_remembered(run))
        rule = None if named or run.choice else rule_asked(run.text, in_talk=in_talk, agent="refund")
        if rule is not None and not run.memory.get("waiting"):
            return answer_rule(run, talk, rule)
        if not run.identified:
            return to_people(run, "no_identity")
        changes = waits_for_approval(run) and wants_other_part(run.text)
        back = plan_taken_back(run, talk) if changes or refund_wish(run.text) is None else None
        if back is not None:
            return back
        if not run.choice and refund_wish(run.text) is None and order_wish(run.text) is OrderWish.WRONG_GOODS:
            return Delegate(type=TICKET_ORDER)
        wish = _wish(run)
        run = replace(run, memory=run.memory | {"wish": wish.value})
        talk = replace(talk, run=run)
        if wish in (RefundWish.DISPUTE, RefundWish.EXCHANGE):
            return plan_matter(run, talk, wish)
        if wish is RefundWish.STATUS:
            return plan_refund_status(run, talk)
        if wish is RefundWish.RETURN:
            return plan_return(run, talk)
        return plan_refund(run, talk)


def _wish(run: Run) -> RefundWish:
    """Return what the customer wants, from this text or from the one before the question that they answer."""
    waiting = run.memory.get("waiting")
    before = RefundWish(run.memory["wish"]) if waiting and run.memory.get("wish") in set(RefundWish) else None
    if run.choice.startswith(CHOICE_RETURN):
        return RefundWish.RETURN
    if run.choice:
        return before if before is not None and run.choice.startswith(CHOICE_ORDER) else RefundWish.REFUND
    said = refund_wish(run.text)
    if before is RefundWish.RETURN and said is RefundWish.REFUND and not asks_for_money(run.text):
        return before
    if before is not None and waiting in _AT_WORK and (says_yes(run.text) or says_no(run.text)):
        return before
    return said or before or RefundWish.REFUND
