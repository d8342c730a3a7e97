"""The rules planner of the order agent: where an order is, for every state that an order can have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agents.action import Action, CallTool, Delegate, Finish, Outcome, Private
from agents.planner import Run
from agents.rules.which_order import (
    CHOICE_ORDER,
    ask_which,
    moment,
    not_found,
    only_order,
    order_remembered,
    orders_named,
    settled,
    to_people,
)
from agents.texts import Texts
from agents.words import wish_for_people
from hermes_bot.messages.payloads import Choice

CHOICE_REFUND = "refund:"
TICKET_REFUND = "ticket.refund"
OFFER_REFUND = frozenset({"lost"})

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
        wish = "" if run.choice else wish_for_people(run.text)
        if wish:
            return to_people(run, wish)
        if not run.identified:
            return to_people(run, "no_identity")
        numbers = orders_named(run) or tuple(filter(None, [order_remembered(run) or only_order(run)]))
        return self._look_up(run, numbers) if numbers else ask_which(run, self._texts, "order")

    def _look_up(self, run: Run, numbers: Sequence[str]) -> Action:
        """Return the call for the first order that was not read yet, and the answer when all were."""
        found: list[Order | None] = []
        for number in numbers:
            call = CallTool(tool="find_order", arguments={"order_id": number})
            seen = run.seen(call)
            if seen is None:
                return call
            if seen.status == "refused":
                return to_people(run, "no_identity")
            found.append(seen.result.get("order"))
        return self._answer(run, numbers, found)

    def _answer(self, run: Run, numbers: Sequence[str], found: Sequence[Order | None]) -> Finish:
        text = "\n".join(self._sentence(run, *pair) for pair in zip(numbers, found, strict=True))
        orders = [order for order in found if order is not None]
        if not orders:
            return not_found(run, text)
        fields = tuple(field for order in orders for field in self._fields(run.language, order))
        ids = ", ".join(order["id"] for order in orders)
        private = Private(text=self._texts.render(run.language, "order.details", order_id=ids), fields=fields)
        memory = settled(run, order=orders[0]["id"])
        choices = self._choices(run, orders)
        return Finish(outcome=Outcome.ANSWERED, text=text, private=private, choices=choices, memory=memory)

    def _choices(self, run: Run, orders: Sequence[Order]) -> tuple[Choice, ...]:
        if len(orders) != 1 or orders[0]["status"] not in OFFER_REFUND:
            return ()
        label = self._texts.render(run.language, "order.refund_choice")
        return (Choice(id=f"{CHOICE_REFUND}{orders[0]['id']}", label=label),)

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
