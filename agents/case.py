"""What an agent works on, made from the message that it answers: a customer's message, or a task of another agent's."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from agents.caller import caller_of
from agents.desk import Desk
from agents.planner import Run
from hermes_bot.messages.message import Kind, Message
from hermes_bot.messages.payloads import Work, read
from hermes_bot.tickets.thread_lines import ThreadLines
from hermes_bot.tickets.ticket import Ticket
from hermes_bot.tools.outcome import Caller

TICKET, TEXT, LANGUAGE = "ticket_id", "text", "language"
_OF_HERMES = frozenset({TICKET, TEXT, LANGUAGE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """The run at its beginning, on whose behalf tools run, and of a customer's message its data."""

    run: Run
    caller: Caller
    work: Work | None = None

    @property
    def ticket(self) -> Ticket | None:
        """The ticket that it belongs to, if it belongs to one."""
        return self.run.ticket


async def case_of(origin: Message, message: Message, desk: Desk, *, agent: str) -> Case:
    """Return the case of `origin` as `message`, which carries it on, finds it."""
    if origin.kind is Kind.REQUEST:
        return await _task(origin, message, desk, agent)
    work = read(origin, Work)
    ticket = await desk.tickets.get(work.ticket_id)
    caller = await caller_of(ticket, desk, agent=agent, language=work.language, asked_at=origin.created_at)
    run = Run(
        ticket=ticket,
        agent=agent,
        text=work.text,
        language=work.language,
        locale=caller.customer.locale if caller.customer else "",
        choice=work.choice,
        identified=caller.customer is not None,
        memory=await desk.runs.load(ticket.id, agent, message_id=message.id),
        board=await _board(ticket, origin, message, desk),
        message_id=message.id,
        at=origin.created_at,
        request=work.whole or work.text,
        thread=tuple(await ThreadLines.of(desk.tickets).all(ticket.id)) if ticket.thread_ts else (),
    )
    return Case(run=run, caller=caller, work=work)


async def _board(ticket: Ticket, origin: Message, message: Message, desk: Desk) -> dict[str, Any]:
    """Return the ticket's blackboard as it was before this message, as much as the route of `origin` shows of it."""
    if desk.memory is None:
        return {}
    board, include = await desk.memory.board.read(ticket.id, message_id=message.id), desk.include_of(origin.type)
    return (board if include is None else board.only(include)).values


async def _task(origin: Message, message: Message, desk: Desk, agent: str) -> Case:
    """Return the case of a task; one that belongs to a ticket has its customer's rights, any other one nobody's."""
    data = origin.data
    ticket_id, language = str(data.get(TICKET) or ""), str(data.get(LANGUAGE) or "en")
    ticket = await desk.tickets.get(ticket_id) if ticket_id else None
    nobody = Caller(customer=None, agent=agent, ticket_id="", user="", language=language, asked_at=origin.created_at)
    caller = nobody
    if ticket is not None:
        caller = await caller_of(ticket, desk, agent=agent, language=language, asked_at=origin.created_at)
    run = Run(
        ticket=ticket,
        agent=agent,
        text=_text_of(data),
        language=language,
        identified=caller.customer is not None,
        message_id=message.id,
        at=origin.created_at,
        board=await _board(ticket, origin, message, desk) if ticket is not None else {},
        request=origin.context_chain.text or str(data.get(TEXT) or ""),
        expects=origin.expects,
        task=True,
    )
    return Case(run=run, caller=caller)


def _text_of(data: dict[str, Any]) -> str:
    """Return the task's words, and under them whatever else it brings, such as the results of tasks before it."""
    more = {name: value for name, value in data.items() if name not in _OF_HERMES}
    text = str(data.get(TEXT) or "")
    return "\n".join(filter(None, (text, json.dumps(more, ensure_ascii=False, default=str) if more else "")))


def remembered(case: Case, steps: tuple[Any, ...]) -> Case:
    """Return the case with the steps that were done before."""
    return replace(case, run=replace(case.run, steps=steps))
