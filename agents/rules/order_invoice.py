"""Gives the customer the invoice of an order, as text and for their eyes alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agents.action import CHOICE_HUMAN, Action, CallTool, Finish, Outcome, Private
from agents.planner import Run
from agents.rules.talk import Talk
from agents.rules.which_order import not_found, settled, to_people
from hermes_bot.messages.payloads import Choice


def plan_invoice(run: Run, talk: Talk, numbers: Sequence[str]) -> Action:
    """Return the call for the invoice of the first order, and then the invoice."""
    call = CallTool(tool="order_invoice", arguments={"order_id": numbers[0]})
    seen = run.seen(call)
    if seen is None:
        return call
    if seen.code == "not_found":
        return not_found(run, talk.say("order.not_found"))
    if seen.status == "refused" and seen.code in ("state_not_covered", "already_cancelled"):
        human = Choice(id=CHOICE_HUMAN, label=talk.say("refund.human_choice"))
        text = talk.say("order.no_invoice")
        return Finish(outcome=Outcome.ANSWERED, text=text, choices=(human,), memory=settled(run))
    if seen.status != "done":
        return to_people(run, "no_identity" if seen.code == "unknown_customer" else "tool_refused")
    order = seen.result["order"]
    private = Private(
        text=talk.say("order.invoice_private", order_id=order["id"]), fields=_fields(talk, seen.result), tells=True
    )
    text = talk.say("order.invoice", order_id=order["id"])
    return Finish(outcome=Outcome.ANSWERED, text=text, private=private, memory=settled(run, order=order["id"]))


def _fields(talk: Talk, invoice: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    order = invoice["order"]
    currency = order["currency"]
    lines = "\n".join(
        talk.say(
            "order.invoice_line",
            quantity=item["quantity"],
            name=item["name"],
            price_cents=item["price_cents"],
            line_cents=item["quantity"] * item["price_cents"],
            currency=currency,
        )
        for item in order["items"]
    )
    refunded = invoice["refunded_cents"]
    values = {
        "number": order["id"],
        "placed": talk.day(order["placed_at"]),
        "customer": invoice["customer"],
        "address": order["address"],
        "items": lines,
        "total": talk.money(order["total_cents"], currency),
        "refunded": talk.money(refunded, currency) if refunded else "",
    }
    return tuple((talk.say(f"order.field.{name}"), value) for name, value in values.items() if value)
