"""The first agent: finds or opens the ticket that a message belongs to and hands it to the agent that takes it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from agents.desk import Desk
from agents.language import language_of
from agents.replies import reply
from agents.words import SmallTalk, asks_about_order, asks_for_a_person, is_bare, is_short, is_thanks, small_talk
from hermes_bot.errors import PermanentError, TransientError
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import (
    HANDOFF_NOTED,
    REPLY_READY,
    TICKET_CLICKED,
    TICKET_UNKNOWN,
    Audience,
    Clicked,
    HandoffNoted,
    Inbound,
    Reply,
    Work,
    read,
)
from hermes_bot.tickets.ticket import Owner, Ticket, TicketStatus
from hermes_bot.tools.order_number import order_numbers_in
from routing.choice import RouteChoice

TICKET_ORDER = "ticket.order"
TICKET_HANDOFF = "ticket.handoff"
CHOICE_HUMAN = "human"
STRONG_SCORE = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Where a message goes, and why, in words. `keeps` says that the ticket stays with the agent it has."""

    type: str
    why: str
    reason: str = ""
    keeps: bool = False

    @property
    def agent(self) -> str:
        """The agent's name, the last word of the type."""
        return self.type.rpartition(".")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What entry knows about a ticket before this message. `team` is the requester's own, not always ours."""

    agent: str = ""
    waiting: bool = False
    language: str = ""
    team: str = ""
    unclear: int = 0

    @property
    def type(self) -> str:
        """The type that reaches the ticket's agent."""
        return f"ticket.{self.agent}"


class EntryAgent:
    """Handles ticket.created, ticket.replied and ticket.clicked."""

    name = "entry"

    async def handle(self, message: Message, desk: Desk) -> list[Message]:
        """Return the work for one agent, a note for the people who own the ticket, or nothing for staff."""
        if message.type == TICKET_CLICKED:
            return await self._clicked(message, desk)
        inbound = read(message, Inbound)
        if await _meant_for_others(message, inbound, desk):
            return []
        text = _words_of(inbound)
        fixed = desk.ways_of(inbound.channel).language
        located = await desk.tickets.locate(
            inbound, context_id=message.context_id, message_id=message.id, language=fixed or language_of(inbound.text)
        )
        ticket = located.ticket
        if ticket.owner is not Owner.BOT:
            return [_note(message, ticket, text)]
        situation = replace(await self._situation(message, ticket, desk), team=inbound.user_team or inbound.team)
        language = fixed or language_of(inbound.text, previous=situation.language)
        decision = await _decide(inbound, situation, desk)
        return await self._send(message, desk, ticket, situation, decision, Work(
            ticket_id=ticket.id, text=text, language=language, source_ts=inbound.ts, reason=decision.reason
        ))  # fmt: skip

    async def _clicked(self, message: Message, desk: Desk) -> list[Message]:
        clicked = read(message, Clicked)
        try:
            ticket = await desk.tickets.get(clicked.ticket_id)
        except PermanentError:
            return [_forgotten(message, clicked, desk)]
        situation = await self._situation(message, ticket, desk)
        if (clicked.user, clicked.team) != (ticket.requester, situation.team or ticket.team):
            text = desk.texts.render(ticket.language, "entry.not_yours")
            return [reply(message, ticket, text, audience=Audience.EPHEMERAL, user=clicked.user)]
        if ticket.owner is not Owner.BOT:
            return [_note(message, ticket, clicked.label)]
        decision, choice = _decide_click(clicked.choice, situation)
        language = situation.language or ticket.language
        return await self._send(message, desk, ticket, situation, decision, Work(
            ticket_id=ticket.id, text=clicked.label, language=language, choice=choice, reason=decision.reason
        ))  # fmt: skip

    async def _situation(self, message: Message, ticket: Ticket, desk: Desk) -> Situation:
        """Read the state before this message only, never what an earlier attempt at it has written."""
        state = await desk.runs.load(ticket.id, self.name, message_id=message.id)
        agent = str(state.get("agent", ""))
        run: dict[str, Any] = {}
        if agent:
            run = await desk.runs.load(ticket.id, agent, message_id=message.id)
        if run.get("delegated_to"):
            agent, run = str(run["delegated_to"]), {}
        return Situation(
            agent=agent,
            waiting=bool(run.get("waiting")),
            language=str(state.get("language", "")),
            team=str(state.get("team", "")),
            unclear=int(state.get("unclear", 0)),
        )

    async def _send(
        self, message: Message, desk: Desk, ticket: Ticket, before: Situation, decision: Decision, work: Work
    ) -> list[Message]:
        agent = before.agent if decision.keeps else decision.agent
        state = {
            "agent": agent,
            "language": work.language,
            "team": before.team,
            "unclear": _unclear_after(before, decision),
        }
        await desk.runs.save(ticket.id, self.name, state, message_id=message.id)
        if decision.keeps and ticket.agent:
            await desk.tickets.update(ticket.id, language=work.language)
        else:
            status = None if ticket.status is TicketStatus.WAITING_APPROVAL else TicketStatus.WORKING
            await desk.tickets.update(
                ticket.id,
                route=decision.agent,
                agent=decision.agent,
                why=decision.why,
                status=status,
                language=work.language,
            )
        return [message.child(decision.type, work, context_id=ticket.context_id)]


def _unclear_after(before: Situation, decision: Decision) -> int:
    """Return how many messages in a row nobody could make sense of; small talk neither counts nor ends the row."""
    if decision.reason in _UNCLEAR:
        return before.unclear + 1
    return before.unclear if decision.type == TICKET_UNKNOWN else 0


async def _meant_for_others(message: Message, inbound: Inbound, desk: Desk) -> bool:
    """Whether a reply in a thread is none of ours; raise TransientError when that cannot be known.

    It is none where nobody addressed the bot and the thread has no ticket, and where somebody of the staff writes
    and only others have one.
    """
    if not inbound.thread_ts:
        return False
    requesters = await desk.tickets.requesters(message.context_id)
    if not requesters or inbound.user in requesters:
        return inbound.known_only and not requesters
    return await desk.staff.includes(inbound.user_team or inbound.team, inbound.user)


def _decide_click(pressed: str, situation: Situation) -> tuple[Decision, str]:
    """Return where a click goes, and the choice: `<agent>/<choice>` goes to the agent that offered the button.

    So a button that was offered for one purpose is never taken for another, however late it is pressed.
    """
    agent, slash, choice = pressed.partition("/")
    if not slash or agent not in _FOLLOWED:
        agent, choice = situation.agent, pressed
    if choice == CHOICE_HUMAN or agent not in _FOLLOWED:
        return Decision(type=TICKET_HANDOFF, why="asked for a person", reason="asked"), choice
    keeps = agent == situation.agent
    return Decision(type=f"ticket.{agent}", why="pressed a button", keeps=keeps), choice


async def _decide(inbound: Inbound, situation: Situation, desk: Desk) -> Decision:
    """Return where the message goes."""
    text = inbound.text.strip()
    if not text:
        return _decide_without_words(inbound, situation)
    if asks_for_a_person(text):
        return Decision(type=TICKET_HANDOFF, why="asked for a person", reason="asked")
    if situation.waiting and is_bare(text):
        return Decision(type=situation.type, why="answers a question", keeps=True)
    talk = small_talk(text)
    if talk is not None:
        return _small_talk(talk)
    if situation.agent in _FOLLOWED and is_bare(text):
        return Decision(type=situation.type, why="follows up", keeps=True)
    return _route(text, situation, await _choose(text, desk))


_UNCLEAR = frozenset({"unclear", "files"})
# Agents that remember what the conversation is about; the others start afresh with each message.
_FOLLOWED = frozenset({"order", "refund"})


def _decide_without_words(inbound: Inbound, situation: Situation) -> Decision:
    if not inbound.files:
        return _small_talk(SmallTalk.GREETING)
    return _unclear(situation, "a file without words", TICKET_UNKNOWN, "files")


def _unclear(situation: Situation, why: str, type: str, reason: str) -> Decision:
    """Return the decision for what no agent takes: one question, and the second time in a row a person."""
    if situation.unclear:
        return Decision(type=TICKET_HANDOFF, why=f"unclear twice; {why}", reason="unclear_twice")
    return Decision(type=type, why=why, reason=reason, keeps=True)


def _small_talk(talk: SmallTalk) -> Decision:
    return Decision(type=TICKET_UNKNOWN, why=f"small talk: {talk}", reason=talk.value, keeps=True)


async def _choose(text: str, desk: Desk) -> RouteChoice:
    try:
        return await desk.choose(text)
    except TimeoutError as error:
        raise TransientError("routing: the encoder took too long") from error


def _route(text: str, situation: Situation, choice: RouteChoice) -> Decision:
    """Return the decision for a text with a concern, given the router's choice."""
    why = f"{choice.reason} {choice.matched}".strip() + f" ({choice.score:.2f})"
    chosen = Decision(type=choice.type, why=why)
    if situation.agent in _FOLLOWED:
        stays = Decision(type=situation.type, why=f"follows up; {why}", keeps=True)
        if situation.waiting and not _changes_the_subject(text, chosen, choice):
            return stays
        if choice.route is None and choice.reason == "below threshold" and is_short(text) and not is_thanks(text):
            return stays
    if choice.route is not None:
        return chosen
    if is_thanks(text):
        return _small_talk(SmallTalk.THANKS)
    if is_bare(text) and order_numbers_in(text):
        return Decision(type=TICKET_ORDER, why="an order number alone")
    return _unclear(situation, why, choice.type, "unclear")


def _changes_the_subject(text: str, chosen: Decision, choice: RouteChoice) -> bool:
    """Whether a text that may answer an open question is clearly about something else.

    "The order number is 10002" and "I don't have the order number" read like an order to the router, whoever asked.
    """
    if choice.route is None or (chosen.type == TICKET_ORDER and not asks_about_order(text)):
        return False
    return choice.reason == "keyword" or choice.score >= STRONG_SCORE


def _words_of(inbound: Inbound) -> str:
    """Return the text, or a word for what came instead of one."""
    text = inbound.text.strip()
    return text or " ".join(f"[file: {name}]" for name in inbound.files)


def _note(message: Message, ticket: Ticket, text: str) -> Message:
    note = HandoffNoted(ticket_id=ticket.id, text=text, user=ticket.requester)
    return message.child(HANDOFF_NOTED, note, context_id=ticket.context_id)


def _forgotten(message: Message, clicked: Clicked, desk: Desk) -> Message:
    """Return the word to somebody who pressed a button of a ticket that is not in the store (any more)."""
    text = desk.texts.render(language_of(clicked.label), "entry.forgotten")
    body = Reply(ticket_id="", channel="", thread_ts="", text=text, audience=Audience.EPHEMERAL, user=clicked.user)
    return message.child(REPLY_READY, body)
