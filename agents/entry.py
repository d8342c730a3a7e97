"""The first agent: finds or opens the ticket that a message belongs to and hands it to the agent that takes it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec

from agents.aftermath import deleted, edited, gathered, gathering, note, reopened_for_people, thumb
from agents.answers import answered
from agents.called_in import Meant, keep_thread, meant
from agents.deciding import OFFERED, Decision, Situation, asked_after, decide_click, unclear_after
from agents.desk import Desk, agent_in
from agents.floods import after_flood, flood
from agents.language import language_of
from agents.recalling import heard
from agents.replies import reply
from agents.staff_words import HOLD, heard_staff, of_hold
from agents.words import SmallTalk
from agents.wrong_team import correction
from hermes_bot.errors import PermanentError
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import (
    REPLY_READY,
    TICKET_CLICKED,
    TICKET_HANDOFF,
    TICKET_UNKNOWN,
    Audience,
    Choice,
    Clicked,
    Inbound,
    Reply,
    Work,
    asked_for,
    read,
    said_once,
)
from hermes_bot.messages.ticket_payloads import TICKET_DELETED, TICKET_EDITED, TICKET_GATHERED, TicketGathered
from hermes_bot.tickets.ticket import Owner, Ticket, TicketStatus

OF_A_WEBHOOK = Decision(type=TICKET_HANDOFF, why="posted by a webhook", reason="default")


class EntryAgent:
    """Handles ticket.created, ticket.replied, ticket.clicked, ticket.edited, ticket.deleted and ticket.gathered."""

    name = "entry"

    async def handle(self, message: Message, desk: Desk) -> list[Message]:
        """Return the work for one agent, a note for the people who own the ticket, or nothing for staff."""
        if message.type == TICKET_CLICKED:
            return await self._clicked(message, desk)
        if message.type == TICKET_DELETED:
            return await deleted(message, desk)
        if message.type == TICKET_EDITED:
            changed = await edited(message, desk)
            if isinstance(changed, list):
                return changed
            found, inbound = changed
            return await (self._take(message, inbound, found.ticket, desk) if found else
                          self._heard(message, inbound, desk))  # fmt: skip
        if message.type == TICKET_GATHERED:
            whole = await (after_flood if read(message, TicketGathered).flood else gathered)(message, desk)
            return await self._take(message, whole[1], whole[0], desk) if isinstance(whole, tuple) else whole or []
        return await self._heard(message, read(message, Inbound), desk)

    async def _heard(self, message: Message, inbound: Inbound, desk: Desk) -> list[Message]:
        if await _told_before(message, inbound, desk):
            return []
        corrected = await correction(message, inbound, desk)
        if corrected is not None:
            return corrected
        remark = await heard_staff(message, inbound, desk)
        if remark is not None:
            return remark
        text = _words_of(inbound)
        fixed = await desk.fixed_language(inbound)
        located = await desk.tickets.locate(
            inbound, context_id=message.context_id, message_id=message.id, language=fixed or language_of(inbound.text)
        )
        ticket = located.ticket
        rated = thumb(message, ticket, text)
        if rated is not None:
            return [rated]
        if (flooded := await flood(message, inbound, ticket, desk)) is not None:
            return flooded
        await keep_thread(inbound, located, desk)
        shown = [] if located.opened else await answered(message, inbound, ticket, text, desk)
        if ticket.owner is not Owner.BOT:
            await reopened_for_people(ticket, text, desk)
            return [note(message, ticket, text), *shown]
        if shown:
            return shown
        if desk.tickets.merge_window_s:
            return gathering(message, inbound, ticket, desk)
        return await self._take(message, inbound, ticket, desk, fixed)

    async def _take(
        self, message: Message, inbound: Inbound, ticket: Ticket, desk: Desk, language: str | None = None
    ) -> list[Message]:
        """Return the work on the customer's words for the agent that they go to; `language` where it is known."""
        if ticket.owner is not Owner.BOT:
            return [note(message, ticket, inbound.text)]
        await heard(message, ticket, _words_of(inbound), desk)
        fixed = await desk.fixed_language(inbound) if language is None else language
        situation = replace(await self._situation(message, ticket, desk), team=inbound.user_team or inbound.team)
        said = Meant(decision=OF_A_WEBHOOK, text=_words_of(inbound))
        if _by_a_person(inbound):
            said = await meant(inbound, said.text, situation, ticket, desk)
        spoken = fixed or language_of(said.text, previous=situation.language)
        return await self._send(message, desk, ticket, situation, said.decision, Work(
            ticket_id=ticket.id,
            text=said.text,
            language=spoken,
            source_ts=inbound.ts,
            reason=said.decision.reason,
        ))  # fmt: skip

    async def _clicked(self, message: Message, desk: Desk) -> list[Message]:
        clicked = read(message, Clicked)
        try:
            ticket = await desk.tickets.get(clicked.ticket_id)
        except PermanentError:
            return [_forgotten(message, clicked, desk)]
        if clicked.choice.startswith(HOLD):
            return [of_hold(message, clicked, ticket)]
        situation = await self._situation(message, ticket, desk)
        if (clicked.user, clicked.team) != (ticket.requester, situation.team or ticket.team):
            text = desk.texts.render(ticket.language, "entry.not_yours")
            return [reply(message, ticket, text, audience=Audience.EPHEMERAL, user=clicked.user)]
        if ticket.owner is not Owner.BOT:
            return [note(message, ticket, clicked.label)]
        decision, choice = decide_click(clicked.choice, situation)
        meant = clicked.choice.startswith(OFFERED)
        return await self._send(message, desk, ticket, situation, decision, Work(
            ticket_id=ticket.id,
            text=(situation.question if meant else "") or clicked.label,
            language=situation.language or ticket.language,
            choice=choice,
            source_ts=situation.question_ts if meant else "",
            reason=decision.reason,
        ))  # fmt: skip

    async def _situation(self, message: Message, ticket: Ticket, desk: Desk) -> Situation:
        """Read the state before this message only, never what an earlier attempt at it has written."""
        state = await desk.runs.load(ticket.id, self.name, message_id=message.id)
        agent, run = await self._at_work(message, ticket, state, desk)
        type_ = str(state.get("type", "")) if agent == state.get("agent") else ""
        return Situation(
            remembering=desk.remembering,
            agent=agent,
            type=type_ or f"ticket.{agent}",
            waiting=bool(run.get("waiting")),
            language=str(state.get("language", "")),
            team=str(state.get("team", "")),
            unclear=int(state.get("unclear", 0)),
            asked=bool(state.get("asked")),
            question=str(state.get("question", "")),
            question_ts=str(state.get("question_ts", "")),
            pending=ticket.status is TicketStatus.WAITING_APPROVAL,
        )

    async def _at_work(
        self, message: Message, ticket: Ticket, state: dict[str, Any], desk: Desk
    ) -> tuple[str, dict[str, Any]]:
        """Return the ticket's agent and its run; of several who served the last message, one that asked something."""
        agent, run = "", {}
        for name in dict.fromkeys((str(state.get("agent", "")), *state.get("beside", ()))):
            if not name:
                continue
            found = await desk.runs.load(ticket.id, name, message_id=message.id)
            if found.get("delegated_to"):
                name, found = str(found["delegated_to"]), {}
            if not agent or found.get("waiting"):
                agent, run = name, found
            if run.get("waiting"):
                break
        return agent, run

    async def _send(
        self, message: Message, desk: Desk, ticket: Ticket, before: Situation, decision: Decision, work: Work
    ) -> list[Message]:
        decision = _reachable(decision, desk)
        await self._remember(message, desk, ticket, before, decision, work)
        if ticket.status.ended and decision.reason not in list(SmallTalk):
            await desk.tickets.update(ticket.id, status=TicketStatus.REOPENED)
        if decision.candidates:
            await desk.tickets.update(
                ticket.id, why=decision.why, status=TicketStatus.WAITING_CUSTOMER, language=work.language
            )
            return [_question(message, ticket, decision, work, desk)]
        if decision.keeps and ticket.agent:
            await desk.tickets.update(ticket.id, language=work.language)
        else:
            agent = desk.agent_of(decision.type)
            await desk.tickets.update(
                ticket.id,
                route=agent_in(decision.type),
                agent=agent,
                why=decision.why,
                status=_status(ticket, decision),
                language=work.language,
            )
        return [message.child(decision.type, _in_parts(work, decision), context_id=ticket.context_id)]

    async def _remember(
        self, message: Message, desk: Desk, ticket: Ticket, before: Situation, decision: Decision, work: Work
    ) -> None:
        types = [part.type for part in decision.parts] or [before.type if decision.keeps else decision.type]
        agents = [before.agent] if decision.keeps else [desk.agent_of(type_) for type_ in types]
        asks = bool(decision.candidates)
        state = {
            "agent": agents[-1],
            "type": types[-1],
            "beside": agents[:-1],
            "language": work.language,
            "team": before.team,
            "unclear": unclear_after(before, decision),
            "asked": asked_after(before, decision),
            "question": work.text if asks else before.question,
            "question_ts": work.source_ts if asks else before.question_ts,
        }
        await desk.runs.save(ticket.id, self.name, state, message_id=message.id)


async def _told_before(message: Message, inbound: Inbound, desk: Desk) -> bool:
    """Return whether the ticket has the words already: Slack's event brought them, and "Make a ticket", or both."""
    once = said_once(inbound)
    if message.task not in (once, asked_for(once)):
        return False
    return bool(await desk.tickets.told_in(inbound, but_not_by=message.id))


def _by_a_person(inbound: Inbound) -> bool:
    return not inbound.user.startswith("B")


def _status(ticket: Ticket, decision: Decision) -> TicketStatus | None:
    """Return what the ticket is at next; None where it stays as it is."""
    chat = decision.reason in list(SmallTalk)
    if ticket.status is TicketStatus.WAITING_APPROVAL or (chat and ticket.status.ended):
        return None
    return TicketStatus.WAITING_CUSTOMER if decision.type == TICKET_UNKNOWN else TicketStatus.WORKING


def _reachable(decision: Decision, desk: Desk) -> Decision:
    """Return the decision; a person where its route has gone from the table since it was taken."""
    types = [part.type for part in decision.parts] or [decision.type]
    if decision.candidates or all(desk.agent_of(type_) for type_ in types):
        return decision
    return Decision(type=TICKET_HANDOFF, why=f"no route any more; {decision.why}", reason="default")


def _in_parts(work: Work, decision: Decision) -> Work:
    """Return the work, as that on the first of several parts where the message has several."""
    if not decision.parts:
        return msgspec.structs.replace(work, reason=decision.reason)
    first, *rest = decision.parts
    return msgspec.structs.replace(work, text=first.text, whole=work.text, then=tuple(rest))


def _question(message: Message, ticket: Ticket, decision: Decision, work: Work, desk: Desk) -> Message:
    """Return what asks the customer which of the candidates they mean."""
    choices = [Choice(id=f"{OFFERED}{type_}", label=_label(type_, work, desk)) for type_ in decision.candidates]
    choices.append(Choice(id=f"{OFFERED}{TICKET_UNKNOWN}", label=desk.texts.render(work.language, "entry.about.other")))
    text = desk.texts.render(work.language, "entry.not_sure")
    return reply(message, ticket, text, choices=tuple(choices), source_ts=work.source_ts)


def _label(type_: str, work: Work, desk: Desk) -> str:
    """Return a button's words: our own text for a route that we know, else the route's name."""
    name = agent_in(type_)
    try:
        return desk.texts.render(work.language, f"entry.about.{name}")
    except PermanentError:
        return name.replace("_", " ").replace("-", " ").capitalize()


def _words_of(inbound: Inbound) -> str:
    """Return the text, or a word for what came instead of one."""
    text = inbound.text.strip()
    return text or " ".join(f"[file: {name}]" for name in inbound.files)


def _forgotten(message: Message, clicked: Clicked, desk: Desk) -> Message:
    """Return the word to somebody who pressed a button of a ticket that is not in the store (any more)."""
    text = desk.texts.render(language_of(clicked.label), "entry.forgotten")
    body = Reply(ticket_id="", channel="", thread_ts="", text=text, audience=Audience.EPHEMERAL, user=clicked.user)
    return message.child(REPLY_READY, body)
