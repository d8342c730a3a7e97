"""What an agent does once an approval that it asked for is settled: runs what was allowed, once, and tells of it.

A refusal of the approvers is told with the reason that they gave. What was allowed and could not be done any more goes
to people.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agents.action import CHOICE_HUMAN
from agents.caller import caller_of
from agents.desk import Desk
from agents.replies import reply
from agents.texts import STAFF_LANGUAGE
from hermes_bot.approvals.request import ApprovalRequest
from hermes_bot.messages.approval_payloads import EDITED
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import APPROVAL_SETTLED, EDGE, TICKET_HANDOFF, ApprovalSettled, Choice, Work, read
from hermes_bot.tickets.ticket import Ticket, TicketStatus
from hermes_bot.tools.outcome import Done, Refused


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """What is said of one tool: texts for the customer, a sentence for the card, and where the agent remembers it."""

    done: str
    rejected: str
    expired: str
    withdrawn: str
    card: str
    kept: str


_OF_TOOL = {
    "issue_refund": _Told(
        done="refund.approved",
        rejected="refund.rejected",
        expired="refund.expired",
        withdrawn="refund.withdrawn",
        card="{amount} refunded for order {order_id}",
        kept="refunds",
    ),
    "cancel_order": _Told(
        done="order.cancel.approved",
        rejected="order.cancel.declined",
        expired="order.cancel.expired",
        withdrawn="order.cancel.withdrawn",
        card="Order {order_id} cancelled, {amount} paid back",
        kept="cancels",
    ),
}
_OF_ANY = _Told(
    done="settled.done",
    rejected="settled.rejected",
    expired="settled.expired",
    withdrawn="settled.withdrawn",
    card="Done",
    kept="",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Settlement:
    """A settled approval with all that belongs to it."""

    message: Message
    settled: ApprovalSettled
    request: ApprovalRequest
    ticket: Ticket
    agent: str

    @property
    def order_id(self) -> str:
        """The order that it is about."""
        return str(self.request.arguments.get("order_id", ""))

    @property
    def told(self) -> _Told:
        """What is said of its tool."""
        return _OF_TOOL.get(self.request.tool, _OF_ANY)


async def settle(message: Message, desk: Desk, *, agent: str) -> list[Message]:
    """Return what follows from `approval.settled` for the agent that asked."""
    settled = read(message, ApprovalSettled)
    request = await desk.approvals.get(settled.approval_id)
    ticket = await desk.tickets.get(request.ticket_id)
    case = _Settlement(message=message, settled=settled, request=request, ticket=ticket, agent=agent)
    if settled.status == "approved":
        return await _approved(case, desk)
    if asked_anew(settled):
        await _keep(case, desk, "")
        await desk.tickets.update(ticket.id, status=TicketStatus.WORKING)
        return []
    await desk.tickets.update(ticket.id, status=TicketStatus.SOLVED)
    keys = {"rejected": case.told.rejected, "cancelled": case.told.withdrawn}
    key = keys.get(settled.status, case.told.expired)
    text = desk.texts.render(ticket.language, key, order_id=case.order_id, reason=settled.reason.strip())
    await _keep(case, desk, "rejected" if settled.status == "rejected" else "", said=text)
    if settled.status == "cancelled":
        return [reply(message, ticket, text)]
    human = Choice(id=CHOICE_HUMAN, label=desk.texts.render(ticket.language, "refund.human_choice"))
    return [reply(message, ticket, text, choices=(human,))]


def asked_anew(settled: ApprovalSettled) -> bool:
    """Return whether the customer has edited what it rested on: the new words come as work of their own."""
    return settled.status == "cancelled" and settled.cause == EDITED


async def _approved(case: _Settlement, desk: Desk) -> list[Message]:
    request, ticket = case.request, case.ticket
    tool = desk.toolbox.get(request.tool)
    if request.fingerprint and (tool is None or tool.fingerprint != request.fingerprint):
        return await _refused(case, desk, "tool_changed")
    arguments = await desk.approvals.approved_arguments(request.id)
    caller = await caller_of(
        ticket, desk, agent=case.agent, language=ticket.language, asked_at=request.created_at
    )  # the policy counts from the day on which the customer asked
    outcome = await desk.toolbox.run_approved(
        request.tool, arguments, caller, approval_id=request.id, repeated=desk.redelivered
    )
    if isinstance(outcome, Refused):
        await _keep(case, desk, "")
        return await _refused(case, desk, outcome.code)
    return await _done(case, desk, outcome, caller.customer.locale if caller.customer else "")


async def _done(case: _Settlement, desk: Desk, done: Done, locale: str) -> list[Message]:
    cents, currency = int(done.result.get("amount_cents", 0)), str(done.result.get("currency", "") or "EUR")
    amount = desk.texts.money(STAFF_LANGUAGE, cents, currency) if cents else "nothing"
    await desk.approvals.record_result(case.request.id, case.told.card.format(amount=amount, order_id=case.order_id))
    await desk.tickets.update(case.ticket.id, status=TicketStatus.SOLVED)
    text = desk.texts.render(
        case.ticket.language,
        case.told.done,
        locale=locale,
        order_id=case.order_id,
        amount_cents=cents,
        currency=currency,
    )
    await _keep(case, desk, "", said=text)
    return [reply(case.message, case.ticket, text), _result_to_show(case)]


async def _refused(case: _Settlement, desk: Desk, code: str) -> list[Message]:
    """Return the work for people: what was approved could not be carried out any more."""
    await desk.approvals.record_result(case.request.id, f"Not carried out: {code}")
    work = Work(
        ticket_id=case.ticket.id,
        text=f"What was approved for order {case.order_id} ({case.request.tool}) was not carried out: {code}",
        language=case.ticket.language,
        reason="tool_refused",
        known=(("Order", case.order_id), ("Approval", case.request.id), ("The tool said", code)),
    )
    return [case.message.child(TICKET_HANDOFF, work, context_id=case.ticket.context_id), _result_to_show(case)]


async def _keep(case: _Settlement, desk: Desk, became: str, *, said: str = "") -> None:
    """Remember what became of the request, so that it is not made again in the same ticket, and what was said of it."""
    memory = await desk.runs.load(case.ticket.id, case.agent, message_id=case.message.id)
    changed: dict[str, Any] = {"said": {"text": said, "times": 1}} if said else {}
    if case.told.kept:
        kept = {key: value for key, value in memory.get(case.told.kept, {}).items() if key != case.order_id}
        changed[case.told.kept] = kept | ({case.order_id: became} if became else {})
    if changed:
        await desk.runs.save(case.ticket.id, case.agent, memory | changed, message_id=case.message.id)


def _result_to_show(case: _Settlement) -> Message:
    """Return the word to the edge that the card has a result to show: it was drawn anew before there was one."""
    return case.message.child(APPROVAL_SETTLED, case.message.data, recipient=EDGE, context_id=case.request.context_id)
