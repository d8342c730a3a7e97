"""Lists the customer's latest orders, for their eyes alone."""

from __future__ import annotations

from agents.action import Action, Finish, Outcome, Private
from agents.planner import Run
from agents.rules.talk import Talk, moment
from agents.rules.which_order import LIST_ORDERS, listed, settled, to_people

MOST_LISTED = 10


def plan_list(run: Run, talk: Talk) -> Action:
    """Return the look at the list, and then the list."""
    seen = run.seen(LIST_ORDERS)
    if seen is None:
        return LIST_ORDERS
    if seen.status != "done":
        return to_people(run, "no_identity")
    orders = listed(run)[:MOST_LISTED]
    if not orders:
        return Finish(outcome=Outcome.ANSWERED, text=talk.say("order.none"), memory=settled(run))
    fields = tuple(
        (
            talk.say("order.choice", order_id=order["id"], placed_at=moment(order["placed_at"])),
            f"{talk.state(order['status'])} · {talk.money(order['total_cents'], order['currency'])}",
        )
        for order in orders
    )
    private = Private(text=talk.say("order.list_private"), fields=fields)
    return Finish(outcome=Outcome.ANSWERED, text=talk.say("order.list"), private=private, memory=settled(run))
