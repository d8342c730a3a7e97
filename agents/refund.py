"""The refund agent: asks the policy, asks a person, pays back exactly once, and tells the customer."""

from __future__ import annotations

from agents.action import CHOICE_HUMAN
from agents.caller import caller_of
from agents.desk import Desk
from agents.planner import Planner
from agents.replies import reply
from agents.serving import serve
from agents.texts import STAFF_LANGUAGE
from hermes_bot.approvals.request import ApprovalRequest
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import APPROVAL_SETTLED, EDGE, TICKET_HANDOFF, ApprovalSettled, Choice, Work, read
from hermes_bot.tickets.ticket import Ticket, TicketStatus
from hermes_bot.tools.outcome import Done, Refused


class RefundAgent:
    """Handles ticket.refund, and approval.settled for the approvals that it asked for."""

    name = "refund"

    def __init__(self, planner: Planner) -> None:
        self._planner = planner

    async def handle(self, message: Message, desk: Desk) -> list[Message]:
        """Return the answer, a question, a card for the approvers, or the work for people."""
        if message.type == APPROVAL_SETTLED:
            return await self._settled(message, desk)
        return await serve(message, desk, agent=self.name, planner=self._planner)

    async def _settled(self, message: Message, desk: Desk) -> list[Message]:
        settled = read(message, ApprovalSettled)
        request = await desk.approvals.get(settled.approval_id)
        ticket = await desk.tickets.get(request.ticket_id)
        order_id = str(request.arguments.get("order_id", ""))
        if settled.status == "approved":
            return await self._approved(message, desk, request, ticket, order_id)
        await self._keep(message, desk, ticket, order_id, "rejected" if settled.status == "rejected" else "")
        await desk.tickets.update(ticket.id, status=TicketStatus.SOLVED)
        key = "refund.rejected" if settled.status == "rejected" else "refund.expired"
        text = desk.texts.render(ticket.language, key, order_id=order_id, reason=settled.reason.strip())
        human = Choice(id=CHOICE_HUMAN, label=desk.texts.render(ticket.language, "refund.human_choice"))
        return [reply(message, ticket, text, choices=(human,))]

    async def _approved(
        self, message: Message, desk: Desk, request: ApprovalRequest, ticket: Ticket, order_id: str
    ) -> list[Message]:
        arguments = await desk.approvals.approved_arguments(request.id)
        caller = await caller_of(
            ticket, desk, agent=self.name, language=ticket.language, asked_at=request.created_at
        )  # the policy counts from the day on which the customer asked
        outcome = await desk.toolbox.run_approved(
            request.tool, arguments, caller, approval_id=request.id, repeated=desk.redelivered
        )
        if isinstance(outcome, Refused):
            return await self._refused(message, desk, request, ticket, order_id, outcome.code)
        return await self._paid(message, desk, request, ticket, order_id, outcome)

    async def _paid(
        self, message: Message, desk: Desk, request: ApprovalRequest, ticket: Ticket, order_id: str, paid: Done
    ) -> list[Message]:
        cents, currency = paid.result["amount_cents"], paid.result["currency"]
        amount = desk.texts.money(STAFF_LANGUAGE, cents, currency)
        await desk.approvals.record_result(request.id, f"{amount} refunded for order {order_id}")
        await self._keep(message, desk, ticket, order_id, "")
        await desk.tickets.update(ticket.id, status=TicketStatus.SOLVED)
        text = desk.texts.render(
            ticket.language, "refund.approved", order_id=order_id, amount_cents=cents, currency=currency
        )
        return [reply(message, ticket, text), _result_to_show(message, request)]

    async def _refused(
        self, message: Message, desk: Desk, request: ApprovalRequest, ticket: Ticket, order_id: str, code: str
    ) -> list[Message]:
        """Return the work for people: what was approved could not be carried out any more."""
        await desk.approvals.record_result(request.id, f"Not carried out: {code}")
        await self._keep(message, desk, ticket, order_id, "")
        work = Work(
            ticket_id=ticket.id,
            text=f"The approved refund for order {order_id} was not carried out: {code}",
            language=ticket.language,
            reason="tool_refused",
            known=(("Order", order_id), ("Approval", request.id), ("The refund tool said", code)),
        )
        return [
            message.child(TICKET_HANDOFF, work, context_id=ticket.context_id),
            _result_to_show(message, request),
        ]

    async def _keep(self, message: Message, desk: Desk, ticket: Ticket, order_id: str, became: str) -> None:
        """Remember what became of the request, so that it is not made again in the same ticket."""
        memory = await desk.runs.load(ticket.id, self.name, message_id=message.id)
        refunds = {key: value for key, value in memory.get("refunds", {}).items() if key != order_id}
        if became:
            refunds[order_id] = became
        await desk.runs.save(ticket.id, self.name, memory | {"refunds": refunds}, message_id=message.id)


def _result_to_show(message: Message, request: ApprovalRequest) -> Message:
    """Return the word to the edge that the card has a result to show: it was drawn anew before there was one."""
    return message.child(APPROVAL_SETTLED, message.data, recipient=EDGE, context_id=request.context_id)
