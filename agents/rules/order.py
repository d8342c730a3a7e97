"""The rules planner of the order agent: where an order is, for every state that an order can have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from agents.action import Action, CallTool, Delegate, Finish, Outcome, Private
from agents.planner import Run
from agents.rules.which_order import (
    CHOICE_ORDER,
    ask_which,
    choice_id,
    moment,
    not_found,
    only_order,
    order_remembered,
    orders_named,
    settled,
    to_people,
)
from agents.texts import Texts
from agents.words import is_bare, wish_for_people
from hermes_bot.messages.payloads import TICKET_REFUND, Choice

CHOICE_REFUND = "refund:"
OFFER_REFUND = frozenset({"lost"})
ARRIVED = frozenset({"delivered", "returned"})
STILL_OPEN = frozenset({"placed", "paid", "packed", "shipped", "unknown"})  # somebody may still change these

Order = dict[str, Any]


class OrderPlanner:
    """Status and delivery of the customer's own orders; changes to an order go to people."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts

    async def plan(self, run: Run) -> Action:
        """Return the next action."""
        if run.choice.startswith(CHOICE_REFUND):
            order_id = run.choice.removeprefix(CHOICE_REFUND)
            return Delegate(type=TICKET_REFUND, choice=f"{CHOICE_ORDER}{order_id}")
        if not run.identified:
            return to_people(run, "no_identity")
        wish = _wish(run)
        run = replace(run, memory=run.memory | {"wish": wish})
        numbers = orders_named(run) or tuple(filter(None, [order_remembered(run) or only_order(run)]))
        return self._look_up(run, numbers, wish) if numbers else ask_which(run, self._texts, "order")

    def _look_up(self, run: Run, numbers: Sequence[str], wish: str) -> Action:
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
        return self._answer(run, numbers, found, wish)

    def _answer(self, run: Run, numbers: Sequence[str], found: Sequence[Order | None], wish: str) -> Finish:
        text = "\n".join(self._sentence(run, *pair) for pair in zip(numbers, found, strict=True))
        orders = [order for order in found if order is not None]
        if not orders:
            return not_found(run, text)
        if wish and any(order["status"] in STILL_OPEN for order in orders):
            return to_people(run, wish, *((f"Order {order['id']}", order["status"]) for order in orders))
        fields = tuple(field for order in orders for field in self._fields(run.language, order))
        ids = ", ".join(order["id"] for order in orders)
        private = Private(text=self._texts.render(run.language, "order.details", order_id=ids), fields=fields)
        memory = settled(run, order=orders[0]["id"])
        choices = self._choices(run, orders, offered=OFFER_REFUND | (ARRIVED if wish == "cancel" else frozenset()))
        return Finish(outcome=Outcome.ANSWERED, text=text, private=private, choices=choices, memory=memory)

    def _choices(self, run: Run, orders: Sequence[Order], *, offered: frozenset[str]) -> tuple[Choice, ...]:
        if len(orders) != 1 or orders[0]["status"] not in offered:
            return ()
        label = self._texts.render(run.language, "order.refund_choice")
        return (Choice(id=choice_id(run, CHOICE_REFUND, orders[0]["id"]), label=label),)

    def _sentence(self, run: Run, number: str, order: Order | None) -> str:
        if order is None:
            return self._texts.render(run.language, "order.not_found", order_id=number)
        return self._texts.render(
            run.language,
            f"order.state.{order['status']}",
            order_id=order["id"],
            placed_at=moment(order["placed_at"]),
            delivered_at=moment(order["delivered_at"]),
        )

    def _fields(self, language: str, order: Order) -> list[tuple[str, str]]:
        """Return what the owner may see, label and value; what is not known yet is left out."""
        values = {
            "number": order["id"],
            "status": self._texts.render(language, f"order.status.{order['status']}"),
            "placed": self._texts.day(language, moment(order["placed_at"])),
            "delivered": self._texts.day(language, moment(order["delivered_at"])),
            "items": "\n".join(
                self._texts.render(language, "order.item", quantity=item["quantity"], name=item["name"])
                for item in order["items"]
            ),
            "total": self._texts.money(language, order["total_cents"], order["currency"]),
            "tracking": order["tracking"],
            "address": order["address"],
        }
        return [(self._texts.render(language, f"order.field.{name}"), value) for name, value in values.items() if value]


def _wish(run: Run) -> str:
    """Return the change that the customer wants, from this text or from the one before the question they answer."""
    asked = run.memory.get("waiting") == "order" and (run.choice or is_bare(run.text))
    return str(run.memory.get("wish", "")) if asked else "" if run.choice else wish_for_people(run.text)
