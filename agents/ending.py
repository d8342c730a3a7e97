"""What follows from the end of a run: the customer's answer, the work for somebody else, or a task's result."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec

from agents.action import Delegate, Finish, Outcome, Private
from agents.case import Case
from agents.desk import Desk, agent_in
from agents.planner import Run
from agents.recalling import kept, write_board
from agents.replies import replies
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import TICKET_HANDOFF, Said, Work
from hermes_bot.messages.ticket_payloads import AGENT_STOPPED, Stopped
from hermes_bot.tickets.ticket import Ticket, TicketStatus

MOST_REPEATS = 2
ORDER = "order"  # in an agent's memory and on the blackboard: the order that the conversation is about
LONGEST_SHOWN = 200
WITHDRAWS = frozenset({"taken_back", "amount_changed"})
"""Why people get it, where the customer does not want any more what waits for an approval, or not like that."""
APPROVALS = "approvals"


async def ended(
    message: Message, desk: Desk, case: Case, run: Run, end: Finish | Delegate, origin: Message
) -> list[Message]:
    """Return the messages that end a run. `origin` is the message that it answers, `message` the one handled now."""
    await kept(message, desk, case, run, end)
    if case.work is None or case.ticket is None:
        return [_to_who_asked(desk, run, end, origin)]
    return await _to_customer(message, desk, case.ticket, run, end, case.work)


def _to_who_asked(desk: Desk, run: Run, end: Finish | Delegate, origin: Message) -> Message:
    """Return the answer to a task. What cannot be done is a failure: who asked decides what follows."""
    execution = desk.tasks.execution(origin, agent=run.agent)
    for step in run.steps:
        with execution.tool(step.call.tool):
            pass
    if isinstance(end, Delegate) or end.outcome is not Outcome.ANSWERED:
        reason = "" if isinstance(end, Delegate) else end.reason
        return execution.failed(f"not done: {reason or 'a person is needed'}")
    shown = (("Answer", " ".join(end.text.split())[:LONGEST_SHOWN]),) if end.text else ()
    return execution.answer(end.result or {"text": end.text}, key_results=shown)


async def _to_customer(
    message: Message, desk: Desk, ticket: Ticket, run: Run, end: Finish | Delegate, work: Work
) -> list[Message]:
    if isinstance(end, Delegate) and not desk.agent_of(end.type):
        end = Finish(outcome=Outcome.HANDOFF, reason="default", memory=run.memory)
    if isinstance(end, Delegate):
        agent = agent_in(end.type)
        await _remember(message, desk, ticket, run, run.memory | {"delegated_to": agent})
        await desk.tickets.update(ticket.id, route=agent, agent=agent, why=f"sent on by {run.agent}")
        return [_work_for(message, ticket, work, end.type, choice=end.choice)]
    end = _not_for_ever(run, end)
    await _remember(message, desk, ticket, run, end.memory)
    if end.outcome is Outcome.HANDOFF:
        to_people = _work_for(message, ticket, work, TICKET_HANDOFF, reason=end.reason, known=end.known)
        return [to_people, *([_withdrawn(message, ticket)] if end.reason in WITHDRAWS else [])]
    status = _status(ticket, run, end)
    if not (work.then and status is TicketStatus.SOLVED):  # the rest of the message is still to be answered
        await desk.tickets.update(ticket.id, status=status)
    if work.then and not desk.agent_of(work.then[0].type):
        so_far = msgspec.structs.replace(work, said=(*work.said, msgspec.convert(end, Said, from_attributes=True)))
        return [_work_for(message, ticket, so_far, TICKET_HANDOFF, reason="default")]
    if work.then:
        return [_next_part(message, ticket, work, end)]
    return replies(message, ticket, [*_said(work), end], desk, run.language, work.source_ts)


def _withdrawn(message: Message, ticket: Ticket) -> Message:
    """Return the word to whoever keeps approvals that the customer wants none of those that wait."""
    body = Stopped(
        team=ticket.team,
        channel=ticket.channel,
        thread_ts=ticket.thread_ts,
        user=ticket.requester,
        conversation=ticket.context_id,
    )
    return message.child(AGENT_STOPPED, body, recipient=APPROVALS, context_id=f"stop:{ticket.context_id}")


def _next_part(message: Message, ticket: Ticket, work: Work, end: Finish) -> Message:
    """Return the work on the message's next request, with this answer in its bag."""
    part, *rest = work.then
    answer = msgspec.convert(end, Said, from_attributes=True)
    body = msgspec.structs.replace(work, text=part.text, choice="", then=tuple(rest), said=(*work.said, answer))
    return message.child(part.type, body, context_id=ticket.context_id)


def _said(work: Work) -> list[Finish]:
    """Return the answers to the message's earlier requests."""
    return [
        Finish(
            outcome=Outcome.ANSWERED,
            text=each.text,
            choices=each.choices,
            private=msgspec.convert(each.private, Private | None, from_attributes=True),
        )
        for each in work.said
    ]


def _not_for_ever(run: Run, end: Finish) -> Finish:
    """Return the end, or a handoff where the customer would read the same words for the third time in a row."""
    said = run.memory.get("said", {})
    times = said.get("times", 0) + 1 if said.get("text") == end.text else 1
    if end.outcome is Outcome.HANDOFF or times <= MOST_REPEATS:
        return replace(end, memory=end.memory | {"said": {"text": end.text, "times": times}})
    memory = {key: value for key, value in end.memory.items() if key not in {"said", "waiting"}}
    known = (("The bot has said twice", end.text),)
    return Finish(outcome=Outcome.HANDOFF, reason="nothing_more", known=known, memory=memory)


async def _remember(message: Message, desk: Desk, ticket: Ticket, run: Run, memory: dict[str, Any]) -> None:
    await desk.runs.save(ticket.id, run.agent, memory, message_id=message.id)
    order = memory.get(ORDER)
    if order and order != run.board.get(ORDER):
        await write_board(ticket, message, desk, run.agent, {ORDER: order})


def _status(ticket: Ticket, run: Run, end: Finish) -> TicketStatus:
    if run.waits or ticket.status is TicketStatus.WAITING_APPROVAL:
        return TicketStatus.WAITING_APPROVAL
    return TicketStatus.WAITING_CUSTOMER if end.outcome is Outcome.ASK_CUSTOMER else TicketStatus.SOLVED


def _work_for(
    message: Message,
    ticket: Ticket,
    work: Work,
    type: str,
    *,
    choice: str = "",
    reason: str = "",
    known: tuple[tuple[str, str], ...] = (),
) -> Message:
    """Return the same customer's words for another agent; people get all of them, and no other agent after that."""
    body = msgspec.structs.replace(work, choice=choice, reason=reason, known=known)
    if type == TICKET_HANDOFF:
        body = msgspec.structs.replace(body, text=work.whole or work.text, then=())
    return message.child(type, body, context_id=ticket.context_id)
