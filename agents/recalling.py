"""What an agent knows beyond the message at hand, and what of its work is kept: blackboard, working memory, facts."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from agents.action import Delegate, Finish, Outcome
from agents.case import Case
from agents.desk import Desk
from agents.planner import Run, Step
from hermes_bot.errors import TransientError
from hermes_bot.memory.memories import Memories
from hermes_bot.memory.owner import AgentOwner, KnownError, PersonOwner, Said, Shop
from hermes_bot.memory.window import Entry, EntryKind, Window
from hermes_bot.messages.message import Message
from hermes_bot.messages.task_payloads import TaskResult, TaskStatus
from hermes_bot.tickets.ticket import Ticket

HISTORY_TOKENS = 1_200
MOST_PASSAGES = 3
MOST_OF_OTHERS = 2
LONGEST_STEP = 400

log = logging.getLogger(__name__)


async def recalled(case: Case, message: Message, desk: Desk) -> Case:
    """Return the case with what happened before in this ticket, and the facts and articles that it touches.

    Recall never crosses owners: these are facts of the requester, of this agent, and of the shop.
    """
    memory, ticket = desk.memory, case.ticket
    if memory is None or ticket is None:
        return case
    window = await memory.working.load(ticket.id, case.run.agent, message_id=message.id)
    facts = await _facts(memory, ticket, case.run)
    return replace(case, run=replace(case.run, history=window.shown(HISTORY_TOKENS).text, facts=facts))


async def _facts(memory: Memories, ticket: Ticket, run: Run) -> tuple[str, ...]:
    recall = memory.long_term.recall
    try:
        found = [each.quoted for each in await recall(_person(ticket), run.text)]
        for owner in (Shop(), AgentOwner(run.agent)):
            found += [each.quoted for each in await recall(owner, run.text, MOST_OF_OTHERS)]
        articles = await memory.knowledge.find(run.text, MOST_PASSAGES)
    except TransientError as error:  # the answer does not wait for the encoder
        log.warning("nothing recalled", extra={"ticket_id": ticket.id, "error": str(error)})
        return ()
    return (*found, *(each.passage.quoted for each in articles))


async def kept(message: Message, desk: Desk, case: Case, run: Run, end: Finish | Delegate) -> None:
    """Keep what this message's work was in the agent's window."""
    if desk.memory is not None and case.ticket is not None:
        entries = _entries(case.ticket, run, end)
        await desk.memory.working.add(case.ticket.id, run.agent, *entries, message_id=message.id)


async def heard(message: Message, ticket: Ticket, text: str, desk: Desk) -> None:
    """Keep of the customer's words what the rules allow, whichever agent they go to."""
    if desk.memory is not None:
        said = Said(by=_person(ticket), ticket_id=ticket.id, message_id=message.id)
        await desk.memory.long_term.hear(text, said, language=ticket.language)


async def write_board(ticket: Ticket, message: Message, desk: Desk, author: str, values: Mapping[str, Any]) -> None:
    """Put the values on the ticket's blackboard."""
    if desk.memory is not None and values:
        await desk.memory.board.write(ticket.id, values, author=author, message_id=message.id)


async def parts_ended(desk: Desk, case: Case, result: TaskResult) -> None:
    """Let what came of finished parts leave at once, each as a fact that can be recalled."""
    memory, ticket = desk.memory, case.ticket
    if memory is None or ticket is None:
        return
    about, agent = _person(ticket), case.run.agent
    for name, part in result.parts.items():
        if part.status is TaskStatus.DONE:
            told = "; ".join(value for _, value in part.summary.key_results) or str(part.result)
            await memory.working.finish(Window(), about=about, agent=agent, ticket_id=ticket.id, task=name, result=told)


async def learned(desk: Desk, agent: str, step: Step) -> None:
    """Keep for the agent which of its calls could not be read: names only, nobody's words."""
    if desk.memory is not None and step.observation.status == "invalid":
        await desk.memory.long_term.remember_error(agent, KnownError(tool=step.call.tool, code="invalid"))


def _person(ticket: Ticket) -> PersonOwner:
    return PersonOwner(ticket.team, ticket.requester)


def _entries(ticket: Ticket, run: Run, end: Finish | Delegate) -> Iterator[Entry]:
    """Yield what happened, oldest first; the ticket's first words are what everything is measured against."""
    at = run.at or ticket.opened_at
    yield Entry(kind=EntryKind.CONSTRAINT, text=f"The request: {ticket.subject}", at=ticket.opened_at)
    yield Entry(kind=EntryKind.CUSTOMER, text=run.text, at=at)
    for step in run.steps:
        yield Entry(kind=EntryKind.STEP, text=_told(step), at=at)
    if isinstance(end, Delegate):
        yield Entry(kind=EntryKind.DECISION, text=f"left to {end.type}", at=at)
    elif end.outcome is Outcome.HANDOFF:
        yield Entry(kind=EntryKind.DECISION, text=f"left to people: {end.reason}", at=at)
    else:
        yield Entry(kind=EntryKind.ANSWER, text=end.text, at=at)


def _told(step: Step) -> str:
    seen = step.observation
    said = [step.call.tool, str(step.call.arguments or ""), "→", seen.status, seen.code, str(seen.result or "")]
    return " ".join(filter(None, said))[:LONGEST_STEP]
