"""Opens returns: what comes back, until when it must be sent, and when the money follows."""

from __future__ import annotations

from typing import Any

from agents.action import CHOICE_HUMAN, Action, CallTool, Finish, Outcome
from agents.planner import Run
from agents.rules.goods import goods_in
from agents.rules.intents import only_asks
from agents.rules.refund_money import plan_refund
from agents.rules.talk import Talk, moment
from agents.rules.which_order import (
    ARRIVED,
    choice_id,
    find_order,
    not_found,
    orders_named,
    settled,
    to_people,
    words_of,
)
from agents.words import says_no, says_yes
from hermes_bot.messages.payloads import Choice

CHOICE_RETURN = "return:"
BACK_ALREADY = frozenset({"returned", "lost"})  # what is left to do there is the refund
ON_ITS_WAY = frozenset({"placed", "paid", "packed", "shipped"})


def plan_return(run: Run, talk: Talk) -> Action:
    """Return the next step towards a return, or what becomes of it. One order at a time."""
    if run.memory.get("waiting") == "confirm_return" and not orders_named(run) and says_no(run.text):
        text = talk.say("refund.left", order_id=run.memory.get("order", ""))
        return Finish(outcome=Outcome.ANSWERED, text=text, memory=settled(run))
    found = find_order(run, talk, "refund", ARRIVED)
    if not isinstance(found, tuple):
        return found
    check = CallTool(tool="order_options", arguments={"order_id": found[0]})
    seen = run.seen(check)
    if seen is None:
        return check
    if seen.status != "done":
        return to_people(run, "no_identity")
    facts = seen.result
    if not facts["found"]:
        return not_found(run, talk.say("order.not_found"))
    if facts["status"] in BACK_ALREADY:
        return plan_refund(run, talk)
    if facts["open_returns"]:
        return _told(run, talk, facts, facts["open_returns"][-1])
    if facts["return"] != "allowed":
        return _refused(run, talk, facts)
    if not _wanted(run):
        return _confirm(run, talk, facts)
    return _open(run, talk, facts)


def _wanted(run: Run) -> bool:
    if run.choice.startswith(CHOICE_RETURN) or (run.memory.get("waiting") == "confirm_return" and says_yes(run.text)):
        return True
    return bool(orders_named(run)) and not only_asks(words_of(run) or run.text)


def _confirm(run: Run, talk: Talk, facts: dict[str, Any]) -> Finish:
    order_id = str(facts["order_id"])
    text = talk.say(
        "refund.returns.confirm",
        order_id=order_id,
        return_days=facts["return_days"],
        return_until=moment(facts["return_until"]),
    )
    choice = Choice(id=choice_id(run, CHOICE_RETURN, order_id), label=talk.say("refund.returns.confirm_choice"))
    kept = {"waiting": "confirm_return", "wish": "return", "order": order_id, "words": words_of(run)}
    memory = settled(run) | kept
    return Finish(outcome=Outcome.ASK_CUSTOMER, text=text, choices=(choice,), memory=memory)


def _open(run: Run, talk: Talk, facts: dict[str, Any]) -> Action:
    order_id = str(facts["order_id"])
    find = CallTool(tool="find_order", arguments={"order_id": order_id})
    found = run.seen(find)
    if found is None:
        return find
    order = found.result.get("order") or {"items": []}
    goods = goods_in(f"{words_of(run)} {run.text}", order["items"])
    call = CallTool(tool="open_return", arguments={"order_id": order_id, "items": [wanted.written for wanted in goods]})
    seen = run.seen(call)
    if seen is None:
        return call
    if seen.status == "done":
        return _told(run, talk, facts, seen.result)
    items = ", ".join(wanted.written for wanted in goods) or "all"
    reason = "return" if seen.code == "not_supported" else "tool_refused"
    return to_people(run, reason, (f"Order {order_id}", facts["status"]), ("Goods that come back", items))


def _told(run: Run, talk: Talk, facts: dict[str, Any], opened: dict[str, Any]) -> Finish:
    """Return what there is to know about an open return, the same words whether it was opened now or before."""
    text = talk.say(
        "refund.returns.open",
        order_id=facts["order_id"],
        goods=talk.goods(opened["items"]),
        opened_at=moment(opened["opened_at"]),
        send_back_by=moment(opened["send_back_by"]),
    )
    return Finish(outcome=Outcome.ANSWERED, text=text, memory=settled(run, order=facts["order_id"]))


def _refused(run: Run, talk: Talk, facts: dict[str, Any]) -> Finish:
    """Return why this order cannot be sent back, and who may be asked."""
    code = facts["return"]
    if code == "state_not_covered" and facts["status"] in ON_ITS_WAY:
        code = "not_delivered"
    text = talk.say(
        f"refund.returns.{code}",
        order_id=facts["order_id"],
        return_days=facts["return_days"],
        return_until=moment(facts["return_until"]),
    )
    human = Choice(id=CHOICE_HUMAN, label=talk.say("refund.human_choice"))
    memory = settled(run, order=facts["order_id"])
    return Finish(outcome=Outcome.ANSWERED, text=text, choices=(human,), memory=memory)
