"""Changes the delivery address of an order that has not been shipped. No address ever stands in a channel's thread."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from agents.action import CHOICE_HUMAN, Action, CallTool, Finish, Outcome, Private
from agents.planner import Observation, Run
from agents.rules.address import Read, address_given, address_in
from agents.rules.talk import Talk
from agents.rules.which_order import (
    OPEN,
    ask,
    choice_id,
    find_order,
    is_private,
    not_found,
    settled,
    to_people,
)
from agents.words import says_no, says_yes
from hermes_bot.messages.payloads import Choice

CHOICE_ADDRESS = "address:"


def plan_address(run: Run, talk: Talk) -> Action:
    """Return the next step towards the new address, or what became of it."""
    waiting = run.memory.get("waiting")
    order_id = str(run.memory.get("order", ""))
    declines = waiting == "confirm_address" or (waiting == "address" and not run.choice and not address_given(run.text))
    if declines and says_no(run.text):
        text = talk.say("refund.left", order_id=order_id)
        return Finish(outcome=Outcome.ANSWERED, text=text, memory=settled(run))
    address = str(run.memory.get("address", ""))
    if run.choice.startswith(CHOICE_ADDRESS) or (waiting == "confirm_address" and says_yes(run.text)):
        chosen = run.choice.removeprefix(CHOICE_ADDRESS) or order_id
        return _change(run, talk, chosen, address) if address and chosen == order_id else to_people(run, "address")
    if waiting == "address" and not run.choice:
        return _with_address(run, talk, order_id, address_given(run.text))
    read = Read(rest=run.text) if run.choice else address_in(run.text)
    asked = replace(run, text=read.rest)
    found = find_order(asked, replace(talk, run=asked), "order", OPEN)
    if not isinstance(found, tuple):
        return _kept(found, read.address)
    return _with_address(run, talk, found[0], read.address or address)


def _kept(action: Action, address: str) -> Action:
    """Return the question for the order, with the address that was given already."""
    if not isinstance(action, Finish) or not address or action.outcome is not Outcome.ASK_CUSTOMER:
        return action
    return replace(action, memory=action.memory | {"address": address})


def _with_address(run: Run, talk: Talk, number: str, address: str) -> Action:
    """Return the next step for this order: may it be changed, and is the address known."""
    check = CallTool(tool="order_options", arguments={"order_id": number})
    seen = run.seen(check)
    if seen is None:
        return check
    if seen.status != "done":
        return to_people(run, "no_identity")
    facts = seen.result
    if not facts["found"]:
        return not_found(run, talk.say("order.not_found"))
    order_id = str(facts["order_id"])
    if facts["address"] != "allowed":
        return _too_late(run, talk, order_id, facts["status"])
    if address:
        return _confirm(run, talk, order_id, address)
    if not is_private(run):
        return _only_in_private(run, talk, order_id)
    again = run.memory.get("waiting") == "address"
    text = talk.say("order.address.unclear" if again else "order.address.ask", order_id=order_id)
    return ask(run, text, "address", order=order_id)


def _confirm(run: Run, talk: Talk, order_id: str, address: str) -> Finish:
    choice = Choice(id=choice_id(run, CHOICE_ADDRESS, order_id), label=talk.say("order.address.confirm_choice"))
    private = Private(
        text=talk.say("order.address.confirm", order_id=order_id),
        fields=((talk.say("order.field.new_address"), address),),
        choices=(choice,),
    )
    text = talk.say("order.address.confirm", order_id=order_id)
    return ask(run, text, "confirm_address", private=private, order=order_id, address=address)


def _only_in_private(run: Run, talk: Talk, order_id: str) -> Finish:
    private = Private(text=talk.say("order.address.write_here", order_id=order_id), tells=True)
    text = talk.say("order.address.privately", order_id=order_id)
    memory = settled(run, order=order_id, waiting="address", wish="address")  # it may come here all the same
    return Finish(outcome=Outcome.ASK_CUSTOMER, text=text, private=private, memory=memory)


def _change(run: Run, talk: Talk, order_id: str, address: str) -> Action:
    call = CallTool(tool="change_address", arguments={"order_id": order_id, "address": address})
    seen = run.seen(call)
    if seen is None:
        return call
    if seen.status == "done":
        private = Private(
            text=talk.say("order.address.changed", order_id=order_id),
            fields=((talk.say("order.field.new_address"), str(seen.result["address"])),),
        )
        text = talk.say("order.address.changed", order_id=order_id)
        memory = settled(run, order=order_id)
        return Finish(outcome=Outcome.ANSWERED, text=text, private=private, memory=memory)
    return _not_changed(run, talk, order_id, seen)


def _not_changed(run: Run, talk: Talk, order_id: str, seen: Observation) -> Action:
    if seen.code not in ("state_not_covered", "already_cancelled"):
        return to_people(run, "address", ("The tool said", seen.code or seen.status))
    find = CallTool(tool="find_order", arguments={"order_id": order_id})
    found = run.seen(find)
    if found is None:
        return find
    order: dict[str, Any] = found.result.get("order") or {"status": "unknown"}
    return _too_late(run, talk, order_id, order["status"])


def _too_late(run: Run, talk: Talk, order_id: str, status: str) -> Finish:
    human = Choice(id=CHOICE_HUMAN, label=talk.say("refund.human_choice"))
    text = talk.say("order.address.too_late", order_id=order_id, status=talk.state(status))
    return Finish(outcome=Outcome.ANSWERED, text=text, choices=(human,), memory=settled(run, order=order_id))
