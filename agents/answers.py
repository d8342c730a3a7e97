"""A customer's answer to what an approver asked them: it goes to the approval's card, and to nobody else."""

from __future__ import annotations

from agents.desk import Desk
from agents.replies import reply
from hermes_bot.messages.approval_payloads import APPROVAL_ANSWERED, ApprovalAnswered
from hermes_bot.messages.message import PRIORITY_OPERATOR, Message
from hermes_bot.messages.payloads import EDGE, Inbound
from hermes_bot.tickets.ticket import Owner, Ticket


async def answered(message: Message, inbound: Inbound, ticket: Ticket, text: str, desk: Desk) -> list[Message]:
    """Return what follows where the customer's words answer a question about an open approval; mostly nothing."""
    found = await desk.approvals.answer(ticket.id, by=inbound.user, message_id=message.id, text=text)
    if not found:
        return []
    shown = [
        message.child(
            APPROVAL_ANSWERED,
            ApprovalAnswered(approval_id=each.request.id, question_id=each.question_id),
            recipient=EDGE,
            context_id=f"card:{each.request.id}",
            priority=PRIORITY_OPERATOR,
        )
        for each in found
    ]
    if ticket.owner is not Owner.BOT:
        return shown
    thanks = desk.texts.render(ticket.language, "approval.answer_passed_on")
    return [reply(message, ticket, thanks, source_ts=inbound.ts), *shown]
