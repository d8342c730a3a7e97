"""Says where orders are, for every state that an order can have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agents.action import Action, CallTool, Finish, Outcome, Private
from agents.planner import Run
from agents.rules.intents import OrderWish
from agents.rules.talk import Talk, moment
from agents.rules.which_order import choice_id, not_found, settled, to_people
from hermes_bot.messages.payloads import Choice

OFFER_REFUND = frozenset({"lost"})
ON_ITS_WAY = frozenset({"placed", "paid", "packed", "shipped"})

Order = dict[str, Any]


def plan_status(run: Run, talk: Talk, numbers: Sequence[str], wish: OrderWish) -> Action:
    """Return the call for the first order that was not read yet, and the answer when all were."""
    found: list[Order | None] = []
    for number in numbers:
        call = CallTool(tool="find_order", arguments={"order_id": number})
        seen = run.seen(call)
        if seen is None:
            return call
        if seen.status != "done":
            return to_people(run, "no_identity")
        found.append(seen.result.get("order"))
    return _answer(run, talk, found, wish)


def _answer(run: Run, talk: Talk, found: Sequence[Order | None], wish: OrderWish) -> Finish:
    orders = [order for order in found if order is not None]
    missing = [talk.say("order.not_found")] if len(orders) < len(found) else []
    if not orders:
        return not_found(run, missing[0])
    told_people = {OrderWish.MISSING: "missing", OrderWish.WRONG_GOODS: "wrong_goods"}
    if wish in told_people and any(order["status"] == "delivered" for order in orders):
        return to_people(run, told_people[wish], *(facts_of(talk, order) for order in orders))
    lines = [*(sentence(talk, order) for order in orders), *missing]
    hurries = wish is OrderWish.HURRY and any(order["status"] in ON_ITS_WAY for order in orders)
    if hurries:
        lines.append(talk.say("order.hurry"))
    if wish is OrderWish.TRACKING and not any(order["tracking"] for order in orders):
        lines.append(talk.say("order.no_tracking"))
    return Finish(
        outcome=Outcome.ANSWERED,
        text="\n".join(lines),
        private=details(talk, orders),
        choices=refund_choice(run, talk, orders, OFFER_REFUND),
        memory=settled(run, order=orders[0]["id"]),
    )


def details(talk: Talk, orders: Sequence[Order]) -> Private:
    """Return what the owner alone may see of orders."""
    fields = tuple(field for order in orders for field in fields_of(talk, order))
    return Private(text=talk.say("order.details", order_id=", ".join(order["id"] for order in orders)), fields=fields)


def refund_choice(run: Run, talk: Talk, orders: Sequence[Order], offered: frozenset[str]) -> tuple[Choice, ...]:
    """Return the button that leads to a refund of the one order, where its state is among those."""
    if len(orders) != 1 or orders[0]["status"] not in offered:
        return ()
    return (Choice(id=choice_id(run, "refund:", orders[0]["id"]), label=talk.say("order.refund_choice")),)


def sentence(talk: Talk, order: Order) -> str:
    """Return the order's state in words, without anything private."""
    return talk.say(
        f"order.state.{order['status']}",
        order_id=order["id"],
        placed_at=moment(order["placed_at"]),
        delivered_at=moment(order["delivered_at"]),
    )


def facts_of(talk: Talk, order: Order) -> tuple[str, str]:
    """Return an order in one line for the staff."""
    total = talk.texts.money("en", order["total_cents"], order["currency"])
    days = f"placed {order['placed_at'][:10]}"
    if order["delivered_at"]:
        days += f", delivered {order['delivered_at'][:10]}"
    items = ", ".join(f"{item['quantity']} × {item['name']}" for item in order["items"])
    return f"Order {order['id']}", f"{order['status']}, {days}, {total}: {items}"


def fields_of(talk: Talk, order: Order) -> list[tuple[str, str]]:
    """Return what the owner may see, label and value; what is not known yet is left out."""
    values = {
        "number": order["id"],
        "status": talk.state(order["status"]),
        "placed": talk.day(order["placed_at"]),
        "delivered": talk.day(order["delivered_at"]),
        "items": talk.goods(order["items"]),
        "total": talk.money(order["total_cents"], order["currency"]),
        "tracking": order["tracking"],
        "address": order["address"],
    }
    return [(talk.say(f"order.field.{name}"), value) for name, value in values.items() if value]
