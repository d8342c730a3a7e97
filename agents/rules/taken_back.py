"""What is said to a customer who does not want a refund or a cancellation, or does not want it any more."""

from __future__ import annotations

from agents.action import Action, Delegate, Finish, Outcome
from agents.planner import Run
from agents.requests import asks_where
from agents.rules.intents import order_wish, takes_back
from agents.rules.refund_part import wants_other_part
from agents.rules.talk import Talk
from agents.rules.which_order import order_remembered, orders_named, settled, to_people
from hermes_bot.messages.payloads import TICKET_ORDER
from hermes_bot.tickets.ticket import TicketStatus


def waits_for_approval(run: Run) -> bool:
    """Return whether somebody has been asked to allow something on this ticket."""
    return run.ticket is not None and run.ticket.status is TicketStatus.WAITING_APPROVAL


def plan_taken_back(run: Run, talk: Talk) -> Action | None:
    """Return what becomes of a wish that is taken back; None where the text does not do so.

    What a person has been asked to approve is withdrawn, and a person gets these words: it may have been paid by then.
    So it is where another amount is wanted than the one that waits.
    """
    if run.choice:
        return None
    back = takes_back(run.text)
    if waits_for_approval(run) and (back or _changes_it(run)):
        return to_people(run, "taken_back" if back else "amount_changed", ("The customer now writes", run.text[:300]))
    if not back:
        return None
    if run.agent == "refund" and (asks_where(run.text) or order_wish(run.text) is not None):
        return Delegate(type=TICKET_ORDER)
    number = next(iter(orders_named(run)), "") or order_remembered(run)
    text = talk.say("refund.left", order_id=number) if number else talk.say("refund.nothing_changed")
    return Finish(outcome=Outcome.ANSWERED, text=text, memory=settled(run))


def _changes_it(run: Run) -> bool:
    named = orders_named(run)
    waiting = [order for order, state in run.memory.get("refunds", {}).items() if state == "pending"]
    return run.agent == "refund" and wants_other_part(run.text) and (not named or bool({*named} & {*waiting}))
