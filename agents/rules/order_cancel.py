"""Cancels orders that have not been shipped: asks the policy, the customer where it is not clear, and a person."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agents.action import CHOICE_HUMAN, Action, CallTool, Finish, Outcome
from agents.planner import Run
from agents.rules.intents import OrderWish, only_asks, order_wish
from agents.rules.order_status import refund_choice, sentence
from agents.rules.talk import Talk
from agents.rules.which_order import choice_id, not_found, orders_apart, orders_named, settled, to_people, words_of
from agents.words import says_no, says_yes
from hermes_bot.messages.payloads import Choice

CHOICE_CANCEL = "cancel:"
_TOO = re.compile(r"\b(?:and|too|also|as well|both|plus)\b|也|还有|以及|和", re.IGNORECASE)
_REFUSED = {"shipped": "sent", "lost": "sent", "delivered": "arrived", "returned": "arrived"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """What is said about one order. `end` is one of missing, told, refused, pending, confirm."""

    order_id: str
    text: str
    end: str
    status: str = ""


def plan_cancel(run: Run, talk: Talk, numbers: Sequence[str]) -> Action:
    """Return the next step, or what becomes of the orders."""
    if run.memory.get("waiting") == "cancel" and not orders_named(run) and says_no(run.text):
        text = talk.say("refund.left", order_id=run.memory.get("order", ""))
        return Finish(outcome=Outcome.ANSWERED, text=text, memory=settled(run))
    parts: list[_Part] = []
    _, only_asked = orders_apart(run, lambda words: order_wish(words) is OrderWish.CANCEL)
    for number in (*_agreed_beside(run, numbers), *numbers):
        step = _where(run, talk, number) if number in only_asked else _about(run, talk, number)
        if not isinstance(step, _Part):
            return step
        parts.append(step)
    return _answer(run, talk, parts)


def _agreed_beside(run: Run, numbers: Sequence[str]) -> tuple[str, ...]:
    """Return the order that was offered, where the customer says yes to it and adds others: "yes, and 10587 too"."""
    offered = str(run.memory.get("order", ""))
    yes = run.memory.get("waiting") == "cancel" and not run.choice and says_yes(run.text)
    return (offered,) if yes and offered and offered not in numbers and _TOO.search(run.text) else ()


def _wanted(run: Run) -> bool:
    """Return whether the customer has clearly asked to cancel this very order, and not only whether they can."""
    if run.choice.startswith(CHOICE_CANCEL) or (run.memory.get("waiting") == "cancel" and says_yes(run.text)):
        return True
    return bool(orders_named(run)) and not only_asks(words_of(run) or run.text)


def _about(run: Run, talk: Talk, number: str) -> _Part | Action:
    check = CallTool(tool="order_options", arguments={"order_id": number})
    seen = run.seen(check)
    if seen is None:
        return check
    if seen.status != "done":
        return to_people(run, "no_identity")
    facts = seen.result
    if not facts["found"]:
        return _Part(order_id=number, text=talk.say("order.not_found"), end="missing")
    code, order_id = facts["cancel"], str(facts["order_id"])
    earlier = run.memory.get("cancels", {}).get(order_id, "")
    if earlier and code != "already_cancelled":
        return _Part(order_id=order_id, text=talk.say(f"order.cancel.{earlier}", order_id=order_id), end="told")
    if code == "already_cancelled":
        return _Part(order_id=order_id, text=talk.say("order.state.cancelled", order_id=order_id), end="told")
    if code == "state_not_covered":
        key = f"order.cancel.{_REFUSED.get(facts['status'], 'not_possible')}"
        text = talk.say(key, order_id=order_id, status=talk.state(facts["status"]))
        return _Part(order_id=order_id, text=text, end="refused", status=facts["status"])
    if code != "allowed":
        return to_people(run, "cancel", (f"Order {order_id}", facts["status"]), ("Policy", code))
    if not _wanted(run):
        return _Part(order_id=order_id, text=_text(talk, "order.cancel.confirm", facts), end="confirm")
    return _ask(run, talk, facts)


def _where(run: Run, talk: Talk, number: str) -> _Part | Action:
    """Return where an order is that is asked about beside those to cancel."""
    find = CallTool(tool="find_order", arguments={"order_id": number})
    seen = run.seen(find)
    if seen is None:
        return find
    order = seen.result.get("order")
    if order is None:
        return _Part(order_id=number, text=talk.say("order.not_found"), end="missing")
    return _Part(order_id=str(order["id"]), text=sentence(talk, order), end="told")


def _ask(run: Run, talk: Talk, facts: dict[str, Any]) -> _Part | Action:
    order_id = str(facts["order_id"])
    call = CallTool(tool="cancel_order", arguments={"order_id": order_id, "reason": words_of(run)})
    seen = run.seen(call)
    if seen is None:
        return call
    if seen.status == "waiting":
        return _Part(order_id=order_id, text=_text(talk, "order.cancel.asked", facts), end="pending")
    if seen.status == "asked_before":
        return _Part(order_id=order_id, text=talk.say("order.cancel.asked_elsewhere", order_id=order_id), end="told")
    why = seen.code or "; ".join(seen.problems) or seen.status
    return to_people(run, "tool_refused", (f"Order {order_id}", facts["status"]), ("The tool said", why))


def _text(talk: Talk, key: str, facts: dict[str, Any]) -> str:
    return talk.say(key, order_id=facts["order_id"], amount_cents=facts["cancel_cents"], currency=facts["currency"])


def _answer(run: Run, talk: Talk, parts: Sequence[_Part]) -> Finish:
    text = "\n".join(dict.fromkeys(part.text for part in parts))
    ends = {part.end for part in parts}
    if ends == {"missing"}:
        return not_found(run, text)
    known = [part for part in parts if part.end != "missing"]
    cancels = dict(run.memory.get("cancels", {})) | {
        part.order_id: "pending" for part in parts if part.end == "pending"
    }
    memory = settled(run, order=known[0].order_id, cancels=cancels)
    asked = next((part.order_id for part in parts if part.end == "confirm"), "")
    if asked:
        choice = Choice(id=choice_id(run, CHOICE_CANCEL, asked), label=talk.say("order.cancel.confirm_choice"))
        memory |= {"waiting": "cancel", "wish": "cancel", "order": asked, "words": words_of(run)}
        return Finish(outcome=Outcome.ASK_CUSTOMER, text=text, choices=(choice,), memory=memory)
    return Finish(outcome=Outcome.ANSWERED, text=text, choices=_way_on(run, talk, known), memory=memory)


def _way_on(run: Run, talk: Talk, parts: Sequence[_Part]) -> tuple[Choice, ...]:
    """Return what can be done about an order that cannot be cancelled."""
    refused = [part for part in parts if part.end == "refused"]
    if not refused:
        return ()
    orders = [{"id": part.order_id, "status": part.status} for part in refused]
    offered = refund_choice(run, talk, orders, frozenset({"delivered", "returned", "lost"}))
    return (*offered, Choice(id=CHOICE_HUMAN, label=talk.say("refund.human_choice")))
