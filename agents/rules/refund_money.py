"""Asks for money back: all that is left of an order, an amount, or the price of some of its goods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from agents.action import CHOICE_HUMAN, Action, CallTool, Finish, Outcome
from agents.planner import Observation, Run
from agents.rules.intents import asks_for_money
from agents.rules.refund_part import CHOICE_CONFIRM, Part, part_of
from agents.rules.talk import Talk, moment
from agents.rules.which_order import (
    ARRIVED,
    ask,
    choice_id,
    find_order,
    not_found,
    orders_named,
    settled,
    to_people,
    words_of,
)
from agents.words import only_asks_about_refunds, own_part, says_no, says_yes
from hermes_bot.messages.payloads import Choice


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """What is said about one order. `end` is one of missing, refused, pending, elsewhere, confirm, part.

    `offer` is the part that a yes would mean.
    """

    order_id: str
    text: str
    end: str
    offer: Part | None = None


def plan_refund(run: Run, talk: Talk) -> Action:
    """Return the next step towards a refund, or what becomes of it."""
    if run.memory.get("waiting") == "confirm" and not orders_named(run) and says_no(run.text):
        text = talk.say("refund.left", order_id=run.memory.get("order", ""))
        return Finish(outcome=Outcome.ANSWERED, text=text, memory=settled(run))
    found = find_order(run, talk, "refund", ARRIVED)
    if not isinstance(found, tuple):
        return found
    said: list[_Said] = []
    for order_id in found:
        step = _about(run, talk, order_id)
        if not isinstance(step, _Said):
            return step
        said.append(step)
    return _answer(run, talk, said)


def _wanted(run: Run) -> bool:
    """Return whether the customer has clearly asked for this order's refund, and not only about it."""
    if run.choice or (run.memory.get("waiting") == "confirm" and says_yes(run.text)):
        return True
    own = own_part(run.text)
    if own != run.text and not asks_for_money(own):
        return False  # the wish may be the other's whom they quote
    return bool(orders_named(run)) and not only_asks_about_refunds(run.text)


def _about(run: Run, talk: Talk, order_id: str) -> _Said | Action:
    """Return what is to be said about one order, or the step that finds it out."""
    check = CallTool(tool="refund_eligibility", arguments={"order_id": order_id})
    seen = run.seen(check)
    if seen is None:
        return check
    if seen.status != "done":
        return to_people(run, "no_identity" if seen.code == "unknown_customer" else "tool_refused")
    facts = seen.result
    if facts["code"] == "not_found":
        return _Said(order_id=order_id, text=talk.say("order.not_found"), end="missing")
    earlier = run.memory.get("refunds", {}).get(facts["order_id"], "")
    if earlier in _ASKED_BEFORE:
        return _said(talk, facts, _ASKED_BEFORE[earlier], "pending" if earlier == "pending" else "refused")
    if not facts["allowed"] and facts["code"] != "above_limit":
        return _said(talk, facts, f"refund.refused.{facts['code']}", "refused")
    find = CallTool(tool="find_order", arguments={"order_id": facts["order_id"]})
    found = run.seen(find)
    if found is None:
        return find
    order = found.result.get("order") or {"items": []}
    return _of_part(run, talk, facts, part_of(run, facts, order))


def _of_part(run: Run, talk: Talk, facts: dict[str, Any], part: Part) -> _Said | Action:
    """Return what is said about the part of the order's money that is wanted, or the request for it."""
    if part.problem:
        return _said(talk, facts, f"refund.part.{part.problem}", "part", goods=part.goods)
    wanted = part.cents or facts["open_cents"]
    if wanted > facts["limit_cents"]:
        values = facts | {"open_cents": wanted}
        return _said(talk, values, "refund.refused.above_limit", "refused")
    if not _wanted(run):
        values = facts | {"amount_cents": wanted}
        return replace(_said(talk, values, "refund.confirm", "confirm", goods=part.goods), offer=part)
    return _issue(run, talk, facts, part, wanted)


def _issue(run: Run, talk: Talk, facts: dict[str, Any], part: Part, wanted: int) -> _Said | Action:
    arguments: dict[str, Any] = {
        "order_id": facts["order_id"],
        "amount_cents": wanted,
        "currency": facts["currency"],
        "reason": words_of(run),
    }
    call = CallTool(tool="issue_refund", arguments=arguments | ({"items": list(part.items)} if part.items else {}))
    seen = run.seen(call)
    if seen is None:
        return call
    values = facts | {"amount_cents": wanted}
    if seen.status == "waiting":
        return _said(talk, values, "refund.pending", "pending", goods=part.goods)
    if seen.status == "asked_before":
        return _said(talk, values, "refund.asked_elsewhere", "elsewhere")
    if seen.code == "item_already_refunded":
        return _said(talk, values, "refund.refused.item_already_refunded", "refused", goods=part.goods)
    return to_people(run, "tool_refused", ("The refund tool said", _why_not(seen)))


def _said(talk: Talk, facts: dict[str, Any], key: str, end: str, *, goods: str = "") -> _Said:
    values = facts | {"window_until": moment(facts["window_until"]), "goods": goods}
    return _Said(order_id=facts["order_id"], text=talk.say(key, **values), end=end)


def _answer(run: Run, talk: Talk, said: Sequence[_Said]) -> Finish:
    text = "\n".join(dict.fromkeys(part.text for part in said))
    ends = {part.end for part in said}
    if ends == {"missing"}:
        return not_found(run, text)
    known = [part for part in said if part.end != "missing"]
    refunds = dict(run.memory.get("refunds", {}))
    refunds |= {part.order_id: "pending" for part in said if part.end == "pending"}
    if "part" in ends:
        return ask(run, text, "part", order=known[0].order_id, refunds=refunds)
    memory = settled(run, order=known[0].order_id, refunds=refunds, offers=_offers(said))
    if "confirm" not in ends:
        return Finish(outcome=Outcome.ANSWERED, text=text, choices=_human(talk, ends), memory=memory)
    asked = next(part.order_id for part in said if part.end == "confirm")
    choices = (Choice(id=choice_id(run, CHOICE_CONFIRM, asked), label=talk.say("refund.confirm_choice")),)
    memory |= {"waiting": "confirm", "wish": "refund", "order": asked, "words": words_of(run)}
    return Finish(outcome=Outcome.ASK_CUSTOMER, text=text, choices=choices, memory=memory)


def _offers(said: Sequence[_Said]) -> dict[str, dict[str, Any]]:
    """Return what a yes would mean, by order: a button may be pressed long after it was offered."""
    return {
        part.order_id: {"cents": part.offer.cents, "items": list(part.offer.items), "goods": part.offer.goods}
        for part in said
        if part.offer is not None
    }


def _human(talk: Talk, ends: set[str]) -> tuple[Choice, ...]:
    if "refused" not in ends:
        return ()
    return (Choice(id=CHOICE_HUMAN, label=talk.say("refund.human_choice")),)


_ASKED_BEFORE = {"pending": "refund.still_pending", "rejected": "refund.declined_before"}


def _why_not(seen: Observation) -> str:
    return seen.code or "; ".join(seen.problems) or seen.status
