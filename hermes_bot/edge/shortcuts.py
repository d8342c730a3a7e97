"""Does what the shortcuts of a message say: make a ticket of it, explain which agent would get it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hermes_bot.bus.port import Delivery
from hermes_bot.edge.channels import ChannelPolicy, Mode, shared_outside
from hermes_bot.edge.inbound import conversation
from hermes_bot.edge.manifest import SHORTCUT_EXPLAIN
from hermes_bot.edge.responder import Responder
from hermes_bot.edge.standing import Standing, Standings
from hermes_bot.edge.surface import Surface
from hermes_bot.edge.text import escape
from hermes_bot.edge.whereabouts import Whereabouts, kind_of, present
from hermes_bot.messages.message import PRIORITY_USER, Message
from hermes_bot.messages.payloads import TICKET_CREATED, TICKET_REPLIED, Inbound, asked_for, read, said_once
from hermes_bot.messages.surface_payloads import Shortcut
from hermes_bot.messages.whisper import whisper
from hermes_bot.tickets.ticket import Ticket
from hermes_bot.tickets.tickets import Tickets
from hermes_bot.tickets.waits import Render


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the person is told, and what follows."""

    text: str
    outputs: tuple[Message, ...] = ()


class Shortcuts:
    """The handler of `shortcut.used`."""

    def __init__(
        self,
        surface: Surface,
        standings: Standings,
        *,
        tickets: Tickets,
        responder: Responder,
        whereabouts: Whereabouts,
        policy: ChannelPolicy,
        render: Render,
        team: str,
    ) -> None:
        self._surface = surface
        self._standings = standings
        self._tickets = tickets
        self._responder = responder
        self._whereabouts = whereabouts
        self._policy = policy
        self._render = render
        self._team = team

    async def on_used(self, message: Message, _delivery: Delivery) -> Sequence[Message]:
        """Do it and say so, to the one who used it alone."""
        used = read(message, Shortcut)
        person = await self._standings.of(used.team, used.user)
        if person.stranger:
            outcome = self._told(person, "command.stranger")
        elif used.shortcut == SHORTCUT_EXPLAIN:
            outcome = await self._explain(used, person)
        else:
            outcome = await self._make_ticket(message, used, person)
        if await self._responder.whisper(used.response_url, escape(outcome.text)):
            return outcome.outputs
        return [*outcome.outputs, whisper(message, outcome.text, channel=used.channel, user=used.user)]

    async def _explain(self, used: Shortcut, person: Standing) -> Outcome:
        if not person.staff:
            return self._told(person, "command.staff_only")
        if not used.text:
            return self._told(person, "command.shortcut.no_words")
        return Outcome(text=await self._surface.explain(used.text))

    async def _make_ticket(self, message: Message, used: Shortcut, person: Standing) -> Outcome:
        if not used.author:
            return self._told(person, "command.shortcut.no_author")
        if used.author != used.user and not person.staff:
            return self._told(person, "command.shortcut.not_yours")
        if not (used.text or used.files):
            return self._told(person, "command.shortcut.no_words")
        about = await self._whereabouts.about(used.channel)
        if about is None or not present(about):
            return self._told(person, "command.shortcut.not_there")
        inbound = self._inbound(used, about)
        if self._policy.mode(inbound.channel, inbound.channel_type) is Mode.OFF:
            return self._told(person, "command.shortcut.off")
        context_id = conversation(inbound.team, inbound.channel, inbound.channel_type, inbound.thread_ts, inbound.ts)
        known = await self._known(inbound, context_id)
        if known is not None:
            return Outcome(text=self._render(person.language, "command.shortcut.known", id=known.id))
        ticket = message.child(
            TICKET_REPLIED if inbound.thread_ts else TICKET_CREATED,
            inbound,
            context_id=context_id,
            task_id=asked_for(said_once(inbound)),
            priority=PRIORITY_USER,
        )
        return Outcome(text=self._render(person.language, "command.shortcut.made"), outputs=(ticket,))

    async def _known(self, inbound: Inbound, context_id: str) -> Ticket | None:
        """Return the ticket that the message belongs to, or the one that its author has in this thread."""
        ticket_id = await self._tickets.told_in(inbound)
        if ticket_id:
            return await self._tickets.get(ticket_id)
        there = [each for each in await self._tickets.in_conversation(context_id) if each.requester == inbound.user]
        return next((each for each in there if not each.direct), None)

    def _inbound(self, used: Shortcut, about: dict[str, Any]) -> Inbound:
        outside = shared_outside(about)
        return Inbound(
            team=self._team,
            channel=used.channel,
            channel_type=kind_of(about),
            ts=used.ts,
            user=used.author,
            text=used.text,
            user_team=used.author_team or ("" if outside else self._team),
            thread_ts=used.thread_ts,
            mentioned=True,
            files=used.files,
        )

    def _told(self, person: Standing, key: str) -> Outcome:
        return Outcome(text=self._render(person.language, key))
