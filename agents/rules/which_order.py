"""Finds out which order a message is about: a button, the text, the goods, the conversation, or a question."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from agents.action import Action, CallTool, Finish, Outcome, Private
from agents.planner import Run
from agents.requests import asks_where, clauses_of
from agents.rules.goods import names_goods
from agents.rules.talk import Talk, moment
from hermes_bot.messages.payloads import Audience, Choice
from hermes_bot.tools.order_number import order_numbers_in

MOST_ORDERS = 3
MOST_QUESTIONS = 2
MOST_OFFERED = 5
WORDS_CHARACTERS = 300
CHOICE_ORDER = "order:"
LIST_ORDERS = CallTool(tool="list_orders", arguments={"limit": 20})

OPEN = frozenset({"placed", "paid", "packed"})
ARRIVED = frozenset({"delivered", "returned", "lost"})
EVERY: frozenset[str] = frozenset()

_ANOTHER = re.compile(r"\b(?:other|another|different|else)\b|另外|另一|别的|其他|其它|那几单|那两单", re.IGNORECASE)


def orders_named(run: Run) -> tuple[str, ...]:
    """Return the order that was chosen, or the numbers in the text, at most `MOST_ORDERS`."""
    if run.choice:
        kind, colon, order_id = run.choice.rpartition(":")
        return (order_id,) if colon and kind else ()
    return order_numbers_in(run.text)[:MOST_ORDERS]


def orders_apart(run: Run, wants: Callable[[str], bool]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the orders named for what the message wants, and those in a clause that asks something else.

    "Where is 10001? And cancel 10002": the first is not to be cancelled.
    """
    named = orders_named(run)
    clauses = () if run.choice else clauses_of(run.text)
    wanted = {number for clause in clauses if wants(clause.text) for number in clause.orders}
    asked = {number for clause in clauses if asks_where(clause.text) for number in clause.orders} - wanted
    return tuple(each for each in named if each not in asked), tuple(each for each in named if each in asked)


def order_remembered(run: Run) -> str:
    """Return the order that the conversation is about, empty where there is none or another one is meant.

    That is also the one that the customer named last in the thread, before they called us.
    """
    if _ANOTHER.search(run.text):
        return ""
    return str(run.memory.get("order") or run.board.get("order") or _order_before(run))


def _order_before(run: Run) -> str:
    named = [order_numbers_in(line.words) for line in run.thread if line.own]
    latest = next((numbers for numbers in reversed(named) if numbers), ())
    return latest[0] if len(latest) == 1 else ""


def listed(run: Run) -> list[dict[str, Any]]:
    """Return the customer's latest orders, where they were read."""
    seen = run.seen(LIST_ORDERS)
    return list(seen.result.get("orders", [])) if seen else []


def find_order(run: Run, talk: Talk, topic: str, fitting: frozenset[str] = EVERY) -> tuple[str, ...] | Action:
    """Return the orders that the message is about, or the next step towards them.

    Whoever names no number means the order whose goods they name, the one spoken of before, or the only one that fits.
    """
    named = orders_named(run)
    if named:
        return named
    if run.seen(LIST_ORDERS) is None:
        return LIST_ORDERS
    orders = listed(run)
    by_goods = _by_goods(run, orders)
    remembered = order_remembered(run)
    for some in (by_goods, _fitting(by_goods, fitting)):
        if len(some) == 1:
            return (str(some[0]["id"]),)
    if remembered:
        return (remembered,)
    for some in (orders, _fitting(orders, fitting)):
        if len(some) == 1 and not _ANOTHER.search(run.text):
            return (str(some[0]["id"]),)
    return ask_which(run, talk, topic, fitting)


def ask_which(run: Run, talk: Talk, topic: str, fitting: frozenset[str] = EVERY) -> Action:
    """Return the next step towards an order: read the list, then offer it; after two questions a person.

    Offered are the orders with the goods that were named, or those in the states `fitting`, else the latest.
    """
    asked = int(run.memory.get("asked", 0))
    if asked >= MOST_QUESTIONS:
        return to_people(run, "unclear_twice")
    seen = run.seen(LIST_ORDERS)
    if seen is None:
        return LIST_ORDERS
    if seen.status == "refused":
        return to_people(run, "no_identity")
    orders = listed(run)
    if not orders:
        return Finish(outcome=Outcome.ANSWERED, text=talk.say("order.none"), memory=run.memory)
    by_goods = _by_goods(run, orders)
    offered = (_fitting(by_goods, fitting) or by_goods or _fitting(orders, fitting) or orders)[:MOST_OFFERED]
    private = Private(
        text=talk.say(f"{topic}.pick"),
        audience=Audience.EPHEMERAL,
        choices=tuple(_choice(run, talk, order) for order in offered),
    )
    return Finish(
        outcome=Outcome.ASK_CUSTOMER,
        text=talk.say(f"{topic}.which_listed"),
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


def ask(run: Run, text: str, slot: str, *, private: Private | None = None, **kept: Any) -> Finish:
    """Return a question for something besides the order; after two questions a person."""
    asked = int(run.memory.get("asked", 0))
    if asked >= MOST_QUESTIONS:
        return to_people(run, "unclear_twice")
    memory = run.memory | {"waiting": slot, "asked": asked + 1, "words": words_of(run)} | kept
    return Finish(outcome=Outcome.ASK_CUSTOMER, text=text, private=private, memory=memory)


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


_QUESTIONS = frozenset({"waiting", "asked", "misses", "wish", "words", "delegated_to", "address", "items"})


def settled(run: Run, **kept: Any) -> dict[str, Any]:
    """Return the memory with no question open."""
    return {key: value for key, value in run.memory.items() if key not in _QUESTIONS} | kept


def choice_id(run: Run, kind: str, order_id: str) -> str:
    """Return the id of a button, which names the agent that offers it."""
    return f"{run.agent}/{kind}{order_id}"


def is_private(run: Run) -> bool:
    """Return whether nobody but the customer reads the conversation."""
    return run.ticket is not None and run.ticket.direct


def _by_goods(run: Run, orders: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the orders whose goods the customer names: now, or else in the thread before they called us."""
    for words in (f"{run.text} {words_of(run)}", " ".join(line.words for line in run.thread if line.own)):
        named = [order for order in orders if names_goods(words, order["items"])]
        if named:
            return named
    return []


def _fitting(orders: Sequence[dict[str, Any]], states: frozenset[str]) -> list[dict[str, Any]]:
    return [order for order in orders if order["status"] in states]


def _choice(run: Run, talk: Talk, order: dict[str, Any]) -> Choice:
    label = talk.say("order.choice", order_id=order["id"], placed_at=moment(order["placed_at"]))
    return Choice(id=choice_id(run, CHOICE_ORDER, order["id"]), label=label)
