"""Hands a ticket to people: a summary for them, a word to the customer, and the bot goes quiet."""

from __future__ import annotations

from agents.desk import Desk
from agents.replies import reply
from agents.texts import STAFF_LANGUAGE
from agents.urgency import Urgency, urgency_of
from hermes_bot.approvals.request import ApprovalStatus
from hermes_bot.errors import PermanentError
from hermes_bot.memory.fact import FactKind
from hermes_bot.memory.owner import PersonOwner
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import HANDOFF_NOTED, HANDOFF_REQUESTED, HandoffNoted, HandoffRequested, Work, read
from hermes_bot.tickets.ticket import Owner, Priority, Ticket

QUOTED_CHARACTERS = 500
EARLIER = 2  # tickets of before that staff are told of
DEFAULT_REASON = "default"


class HandoffAgent:
    """Handles ticket.handoff."""

    name = "handoff"

    async def handle(self, message: Message, desk: Desk) -> list[Message]:
        """Return the customer's answer and the request for a person; a note where people have the ticket already."""
        work = read(message, Work)
        ticket = await desk.tickets.get(work.ticket_id)
        if ticket.owner is not Owner.BOT and not await self._was_here(message, ticket, desk):
            note = HandoffNoted(ticket_id=ticket.id, text=work.text, user=ticket.requester)
            return [message.child(HANDOFF_NOTED, note, context_id=ticket.context_id)]
        reason = work.reason if work.reason in REASONS else DEFAULT_REASON
        urgency = urgency_of(ticket.subject, work.text)
        summary = await _summary(message, work, ticket, urgency, desk)
        await desk.runs.save(ticket.id, self.name, {"handed_by": message.id}, message_id=message.id)
        shown = desk.texts.render(STAFF_LANGUAGE, f"handoff.reason.{reason}")
        if urgency.priority is not Priority.NORMAL and ticket.priority is Priority.NORMAL:
            await desk.tickets.change(ticket.id, {"priority": urgency.priority.value})
        await desk.tickets.hand_to_human(ticket.id, reason=shown, summary=summary)
        told = desk.texts.render(work.language, f"handoff.told.{reason}")
        text = "\n\n".join([*(each.text for each in work.said), told])
        request = HandoffRequested(ticket_id=ticket.id, reason=shown, summary=summary)
        return [
            reply(message, ticket, text, source_ts=work.source_ts),
            message.child(HANDOFF_REQUESTED, request, context_id=ticket.context_id),
        ]

    async def _was_here(self, message: Message, ticket: Ticket, desk: Desk) -> bool:
        """Whether an earlier attempt at this same message handed the ticket over.

        Asked with no message's id, so that the state after that attempt is read and not the one before.
        """
        state = await desk.runs.load(ticket.id, self.name, message_id="")
        return state.get("handed_by") == message.id


# What the customer is told and the staff reads has one text for each of these.
REASONS = frozenset({
    "asked", "cancel", "address", "no_identity", "unclear_twice", "not_found", "tool_refused", "too_many_steps",
    "nothing_more", "several", "taken_back", "amount_changed", "missing", "wrong_goods", "dispute", "exchange",
    "return", "modify", "thread", DEFAULT_REASON,
})  # fmt: skip


async def _summary(message: Message, work: Work, ticket: Ticket, urgency: Urgency, desk: Desk) -> str:
    """Return who, what, how urgent, what the bot found and said and what is open, in the staff's language."""
    try:
        name = (await desk.directory.person(ticket.team, ticket.requester)).name
    except PermanentError:
        name = ticket.requester
    return desk.texts.render(
        STAFF_LANGUAGE,
        "handoff.summary",
        name=name,
        customer_language=work.language,
        opened_at=ticket.opened_at,
        subject=_quoted(ticket.subject),
        last_words=_quoted(work.text),
        known=work.known,
        urgency=[desk.texts.render(STAFF_LANGUAGE, f"handoff.urgency.{reason}") for reason in urgency.reasons],
        said=_quoted(await _last_answer(message, work, ticket, desk)),
        open=await _open(ticket, desk),
        before=[_quoted(each) for each in await _before(work, ticket, desk)],
    )


async def _last_answer(message: Message, work: Work, ticket: Ticket, desk: Desk) -> str:
    """Return what the bot told the customer last, before this."""
    if work.said:
        return work.said[-1].text
    states = [await desk.runs.load(ticket.id, agent, message_id=message.id) for agent in (ticket.agent, *_ANSWERING)]
    return next((str(state["said"]["text"]) for state in states if state.get("said", {}).get("text")), "")


async def _open(ticket: Ticket, desk: Desk) -> list[str]:
    """Return what still waits for a decision in this ticket."""
    waiting = await desk.approvals.touched_in(ticket.context_id, "")
    return [each.title for each in waiting if each.ticket_id == ticket.id and each.status is ApprovalStatus.PENDING]


async def _before(work: Work, ticket: Ticket, desk: Desk) -> list[str]:
    """Return how the customer's earlier tickets about the like ended, each in a sentence or two."""
    if desk.memory is None:
        return []
    person = PersonOwner(ticket.team, ticket.requester)
    words = f"{ticket.subject} {work.text}"
    found = await desk.memory.long_term.recall(person, words, EARLIER + 1, kinds=[FactKind.SUMMARY])
    return [each.fact.text for each in found if each.fact.ticket_id != ticket.id][:EARLIER]


_ANSWERING = ("order", "refund")


def _quoted(text: str) -> str:
    """Return people's words on one line, so that none of them can look like a line of the summary."""
    return " ".join(text.split())[:QUOTED_CHARACTERS]
