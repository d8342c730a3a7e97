"""Finds out which order a message is about: from a button, the text, the conversation, or by asking."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from agents.action import Action, CallTool, Finish, Outcome, Private
from agents.planner import Run
from agents.texts import Texts
from hermes_bot.messages.payloads import Audience, Choice
from hermes_bot.tools.order_number import order_numbers_in

MOST_ORDERS = 3
MOST_QUESTIONS = 2
WORDS_CHARACTERS = 300
CHOICE_ORDER = "order:"
LIST_ORDERS = CallTool(tool="list_orders", arguments={})

_ANOTHER = re.compile(r"\b(?:other|another|different|else)\b|另外|另一|别的|其他|其它|那几单|那两单", re.IGNORECASE)


def orders_named(run: Run) -> tuple[str, ...]:
    """Return the order that was chosen, or the numbers in the text, at most `MOST_ORDERS`."""
    if run.choice:
        return (run.choice.removeprefix(CHOICE_ORDER),) if run.choice.startswith(CHOICE_ORDER) else ()
    return order_numbers_in(run.text)[:MOST_ORDERS]


def order_remembered(run: Run) -> str:
    """Return the order that the conversation is about, empty where there is none or another one is meant."""
    if _ANOTHER.search(run.text):
        return ""
    return str(run.memory.get("order") or run.board.get("order") or "")


def only_order(run: Run) -> str:
    """Return the customer's order where the list that was read shows exactly one."""
    seen = run.seen(LIST_ORDERS)
    orders = seen.result.get("orders", []) if seen else []
    return str(orders[0]["id"]) if len(orders) == 1 else ""


def ask_which(run: Run, texts: Texts, topic: str) -> Action:
    """Return the next step towards an order: read the list, then offer it; after two questions a person."""
    asked = int(run.memory.get("asked", 0))
    if asked >= MOST_QUESTIONS:
        return to_people(run, "unclear_twice")
    seen = run.seen(LIST_ORDERS)
    if seen is None:
        return LIST_ORDERS
    if seen.status == "refused":
        return to_people(run, "no_identity")
    orders: list[dict[str, Any]] = seen.result.get("orders", [])
    if not orders:
        return Finish(outcome=Outcome.ANSWERED, text=texts.render(run.language, "order.none"), memory=run.memory)
    private = Private(
        text=texts.render(run.language, f"{topic}.pick"),
        audience=Audience.EPHEMERAL,
        choices=tuple(_choice(run, texts, order) for order in orders),
    )
    return Finish(
        outcome=Outcome.ASK_CUSTOMER,
        text=texts.render(run.language, f"{topic}.which_listed"),
        private=private,
        memory=run.memory | {"waiting": "order", "asked": asked + 1, "words": words_of(run)},
    )


def not_found(run: Run, text: str) -> Finish:
    """Return a question after orders that are not the customer's; the second time in a row a person."""
    misses = int(run.memory.get("misses", 0)) + 1
    if misses >= MOST_QUESTIONS:
        return to_people(run, "not_found")
    memory = run.memory | {"waiting": "order", "misses": misses, "words": words_of(run)}
    return Finish(outcome=Outcome.ASK_CUSTOMER, text=text, memory=memory)


def words_of(run: Run) -> str:
    """Return the customer's own words for what they want: the first of those that led to the questions so far."""
    before = str(run.memory.get("words", "")) if run.memory.get("waiting") else ""
    return before or ("" if run.choice else run.text.strip()[:WORDS_CHARACTERS])


def to_people(run: Run, reason: str, *known: tuple[str, str]) -> Finish:
    """Return the end that hands the ticket over, with the orders that the customer spoke of."""
    orders = orders_named(run) or tuple(filter(None, [order_remembered(run)]))
    spoken = (("Orders named", ", ".join(orders)),) if orders else ()
    memory = {key: value for key, value in run.memory.items() if key not in _QUESTIONS}
    return Finish(outcome=Outcome.HANDOFF, reason=reason, known=(*spoken, *known), memory=memory)


_QUESTIONS = frozenset({"waiting", "asked", "misses", "wish", "words", "delegated_to"})


def settled(run: Run, **kept: Any) -> dict[str, Any]:
    """Return the memory with no question open."""
    return {key: value for key, value in run.memory.items() if key not in _QUESTIONS} | kept


def moment(written: object) -> datetime | None:
    """Return the time that a tool wrote, None where it wrote none."""
    return datetime.fromisoformat(written) if isinstance(written, str) else None


def choice_id(run: Run, kind: str, order_id: str) -> str:
    """Return the id of a button, which names the agent that offers it."""
    return f"{run.agent}/{kind}{order_id}"


def _choice(run: Run, texts: Texts, order: dict[str, Any]) -> Choice:
    label = texts.render(run.language, "order.choice", order_id=order["id"], placed_at=moment(order["placed_at"]))
    return Choice(id=choice_id(run, CHOICE_ORDER, order["id"]), label=label)
