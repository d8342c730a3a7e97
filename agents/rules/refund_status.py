"""Says what became of refunds: paid, on their way, failed, waiting for an approval, or none."""

from __future__ import annotations

from typing import Any

from agents.action import CHOICE_HUMAN, Action, CallTool, Finish, Outcome, Private
from agents.planner import Run
from agents.rules import patterns
from agents.rules.refund_return import plan_return
from agents.rules.talk import Talk, moment
from agents.rules.which_order import choice_id, not_found, order_remembered, orders_named, settled, to_people
from agents.words import plain
from hermes_bot.messages.payloads import Choice

LIST_REFUNDS = CallTool(tool="list_refunds", arguments={})
MOST_TOLD = 3


def plan_refund_status(run: Run, talk: Talk) -> Action:
    """Return the look-up, and then the state of each refund: of the order meant, or else of the latest ones."""
    meant = orders_named(run)[:1] or tuple(filter(None, [order_remembered(run)]))
    call = CallTool(tool="refund_status", arguments={"order_id": meant[0]}) if meant else LIST_REFUNDS
    seen = run.seen(call)
    if seen is None:
        return call
    if seen.status != "done":
        return to_people(run, "no_identity" if seen.code == "unknown_customer" else "tool_refused")
    if not seen.result.get("found", True):
        return not_found(run, talk.say("order.not_found"))
    nothing = meant and not seen.result["refunds"] and not run.memory.get("refunds")
    if nothing and _speaks_of_return(run):
        options = CallTool(tool="order_options", arguments={"order_id": meant[0]})
        opened = run.seen(options)
        if opened is None:
            return options
        if opened.result.get("open_returns"):
            return plan_return(run, talk)
    return _answer(run, talk, seen.result, meant)


def _speaks_of_return(run: Run) -> bool:
    """Return whether the money is asked for of goods that were sent back: it follows the parcel."""
    return bool(patterns.RETURN.search(plain(run.text)))


def _answer(run: Run, talk: Talk, result: dict[str, Any], meant: tuple[str, ...]) -> Finish:
    order_id = str(result.get("order_id", meant[0] if meant else ""))
    asked = {key: "pending" for key, state in run.memory.get("refunds", {}).items() if state == "pending"}
    waiting = [key for key in asked if not order_id or key == order_id]
    lines = [talk.say("refund.still_pending", order_id=key) for key in waiting]
    refunds = [refund for refund in result["refunds"] if refund["amount_cents"]]
    latest = refunds[-MOST_TOLD:] if order_id else refunds[:MOST_TOLD]
    lines += [_sentence(talk, refund, result["payout_days"]) for refund in latest]
    failed = any(refund["status"] == "failed" for refund in latest)
    choices: tuple[Choice, ...] = ()
    if failed:
        choices = (Choice(id=CHOICE_HUMAN, label=talk.say("refund.human_choice")),)
    if not lines:
        lines = [talk.say("refund.status.none_of_order" if order_id else "refund.status.none", order_id=order_id)]
        choices = (_offer(run, talk, order_id),) if order_id else ()
    if not order_id and refunds:  # which orders somebody has is theirs alone to read
        private = Private(text="\n".join(lines), tells=True)
        text = talk.say("refund.status.latest")
        return Finish(outcome=Outcome.ANSWERED, text=text, private=private, choices=choices, memory=settled(run))
    memory = settled(run, order=order_id) if order_id else settled(run)
    return Finish(outcome=Outcome.ANSWERED, text="\n".join(lines), choices=choices, memory=memory)


def _sentence(talk: Talk, refund: dict[str, Any], payout_days: int | None) -> str:
    return talk.say(
        f"refund.status.{refund['status']}",
        order_id=refund["order_id"],
        amount_cents=refund["amount_cents"],
        currency=refund["currency"],
        created_at=moment(refund["created_at"]),
        payout_days=payout_days,
    )


def _offer(run: Run, talk: Talk, order_id: str) -> Choice:
    return Choice(id=choice_id(run, "order:", order_id), label=talk.say("order.refund_choice"))
