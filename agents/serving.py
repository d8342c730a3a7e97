"""Works on one message with a planner and tools; what order and refund have in common."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec

from agents.action import CallTool, Delegate, Finish, Outcome, Private
from agents.caller import caller_of
from agents.desk import Desk, agent_in
from agents.loop import work_through
from agents.planner import Observation, Planner, Run
from agents.replies import replies
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import APPROVAL_REQUESTED, TICKET_HANDOFF, ApprovalRequested, Said, Work, read
from hermes_bot.tickets.ticket import Ticket, TicketStatus
from hermes_bot.tools.outcome import Caller, Done, Invalid, NeedsApproval, Refused

MOST_REPEATS = 2
IN_OWN_WORDS = frozenset({"reason"})  # arguments that do not make a request another one
BOARD = "board"  # the state under this name is shared by all agents of a ticket


async def serve(message: Message, desk: Desk, *, agent: str, planner: Planner) -> list[Message]:
    """Return the answer to a `Work` message, cards that are wanted, or the work for somebody else."""
    work = read(message, Work)
    ticket = await desk.tickets.get(work.ticket_id)
    caller = await caller_of(ticket, desk, agent=agent, language=work.language, asked_at=message.created_at)
    run = Run(
        ticket=ticket,
        agent=agent,
        text=work.text,
        language=work.language,
        choice=work.choice,
        identified=caller.customer is not None,
        memory=await desk.runs.load(ticket.id, agent, message_id=message.id),
        board=await desk.runs.load(ticket.id, BOARD, message_id=message.id),
    )
    hands = _Hands(message, ticket, caller, desk)
    run, end = await work_through(run, planner, hands.act)
    return [*await _finish(message, desk, run, end, work), *hands.cards]


class _Hands:
    """Carries out tool calls; the cards that approvals need are collected in `cards`."""

    def __init__(self, message: Message, ticket: Ticket, caller: Caller, desk: Desk) -> None:
        self._message = message
        self._ticket = ticket
        self._caller = caller
        self._desk = desk
        self.cards: list[Message] = []

    async def act(self, call: CallTool, run: Run) -> Observation:
        """Return what came of the call; a privileged one is asked for and not run."""
        key = f"{self._message.id}:{self._caller.agent}:{len(run.steps)}"
        outcome = await self._desk.toolbox.call(call.tool, call.arguments, self._caller, key=key)
        match outcome:
            case Done(result=result):
                return Observation(status="done", result=result)
            case Refused(code=code):
                return Observation(status="refused", code=code)
            case Invalid(problems=problems):
                return Observation(status="invalid", problems=problems)
            case NeedsApproval():
                return await self._ask(outcome, key)

    async def _ask(self, needed: NeedsApproval, key: str) -> Observation:
        same = {name: value for name, value in needed.arguments.items() if name not in IN_OWN_WORDS}
        if await self._desk.approvals.waiting_elsewhere(
            key=key, requested_by=self._ticket.requester, tool=needed.tool, same=same
        ):
            return Observation(status="asked_before")
        request = await self._desk.approvals.request(
            key=key,
            ticket_id=self._ticket.id,
            context_id=self._ticket.context_id,
            requested_by=self._ticket.requester,
            agent=self._caller.agent,
            tool=needed.tool,
            level=needed.level,
            arguments=needed.arguments,
            title=needed.title,
            shown=needed.shown,
            trace_id=self._message.trace_id,
        )
        card = ApprovalRequested(approval_id=request.id, ticket_id=self._ticket.id)
        self.cards.append(self._message.child(APPROVAL_REQUESTED, card, context_id=self._ticket.context_id))
        return Observation(status="waiting", result={"approval_id": request.id})


async def _finish(message: Message, desk: Desk, run: Run, end: Finish | Delegate, work: Work) -> list[Message]:
    ticket = run.ticket
    if isinstance(end, Delegate) and not desk.agent_of(end.type):
        end = Finish(outcome=Outcome.HANDOFF, reason="default", memory=run.memory)
    if isinstance(end, Delegate):
        agent = agent_in(end.type)
        await _remember(message, desk, run, run.memory | {"delegated_to": agent})
        await desk.tickets.update(ticket.id, route=agent, agent=agent, why=f"sent on by {run.agent}")
        return [_work_for(message, ticket, work, end.type, choice=end.choice)]
    end = _not_for_ever(run, end)
    await _remember(message, desk, run, end.memory)
    if end.outcome is Outcome.HANDOFF:
        return [_work_for(message, ticket, work, TICKET_HANDOFF, reason=end.reason, known=end.known)]
    await desk.tickets.update(ticket.id, status=_status(run, end))
    if work.then and not desk.agent_of(work.then[0].type):
        so_far = msgspec.structs.replace(work, said=(*work.said, msgspec.convert(end, Said, from_attributes=True)))
        return [_work_for(message, ticket, so_far, TICKET_HANDOFF, reason="default")]
    if work.then:
        return [_next_part(message, ticket, work, end)]
    return replies(message, ticket, [*_said(work), end], desk, run.language, work.source_ts)


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


async def _remember(message: Message, desk: Desk, run: Run, memory: dict[str, Any]) -> None:
    await desk.runs.save(run.ticket.id, run.agent, memory, message_id=message.id)
    order = memory.get("order")
    if order:
        await desk.runs.save(run.ticket.id, BOARD, run.board | {"order": order}, message_id=message.id)


def _status(run: Run, end: Finish) -> TicketStatus:
    asked = any(step.observation.status == "waiting" for step in run.steps)
    if asked or run.ticket.status is TicketStatus.WAITING_APPROVAL:
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
