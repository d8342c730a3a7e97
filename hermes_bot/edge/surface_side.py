"""Joins what the edge does beside cards and replies: commands, shortcuts, Home, prompts, the status of sessions."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from hermes_bot.approvals.access import Access
from hermes_bot.approvals.rules import ApprovalRules
from hermes_bot.bus.port import Delivery, Handler
from hermes_bot.edge.channels import ChannelPolicy
from hermes_bot.edge.command_acts import CommandActs
from hermes_bot.edge.commands import Commands
from hermes_bot.edge.desk import Desk
from hermes_bot.edge.home import HomePages
from hermes_bot.edge.responder import Responder
from hermes_bot.edge.sessions import Sessions
from hermes_bot.edge.shortcuts import Shortcuts
from hermes_bot.edge.slack_api import SlackApi
from hermes_bot.edge.standing import Standings
from hermes_bot.edge.surface import Surface
from hermes_bot.edge.whereabouts import Whereabouts
from hermes_bot.errors import StoreError, TransientError
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import (
    APPROVAL_SETTLED,
    PROPOSAL_SETTLED,
    ApprovalSettled,
    ProposalMade,
    read,
)
from hermes_bot.messages.surface_payloads import (
    COMMAND_GIVEN,
    HOME_OPENED,
    LANGUAGE_CHOSEN,
    PROMPTS_WANTED,
    SHORTCUT_USED,
)
from hermes_bot.messages.ticket_payloads import AGENT_STOPPED, TICKET_CHANGED, Stopped, TicketChanged
from hermes_bot.people import Roles

SURFACE_TYPES = (
    COMMAND_GIVEN,
    SHORTCUT_USED,
    HOME_OPENED,
    LANGUAGE_CHOSEN,
    PROMPTS_WANTED,
    TICKET_CHANGED,
    AGENT_STOPPED,
)
"""The message types that are handled here."""

LAST_ATTEMPT = 2
NOT_NOW = (
    "Something does not work on our side just now. Nothing was done; please try again in a minute. "
    "/ 我们这边暂时出了点问题，没有做任何更改，请过一分钟再试。"
)

log = logging.getLogger(__name__)


class SurfaceSide:
    """`handlers` by type, and `with_redraws` for those that change what somebody's Home shows."""

    def __init__(
        self,
        surface: Surface,
        desk: Desk,
        api: SlackApi,
        sessions: Sessions,
        responder: Responder,
        policy: ChannelPolicy,
        *,
        rules: ApprovalRules,
        team: str,
    ) -> None:
        self._desk = desk
        self._sessions, self._responder = sessions, responder
        roles, whereabouts = Roles(desk.directory, team=team), Whereabouts(api)
        access = Access(roles, rules)
        standings = _standings(surface, desk, team)
        self._roles, self._staff = roles, tuple(surface.staff)
        acts = CommandActs(desk.tickets, desk.approvals, desk.corrections, desk.tool_of)
        self._home = HomePages(api, surface, standings, access, approvals=desk.approvals, render=desk.render, team=team)
        self._commands = Commands(
            surface,
            standings,
            acts,
            access,
            approvals=desk.approvals,
            responder=responder,
            whereabouts=whereabouts,
            render=desk.render,
        )
        self._shortcuts = Shortcuts(
            surface,
            standings,
            tickets=desk.tickets,
            responder=responder,
            whereabouts=whereabouts,
            policy=policy,
            render=desk.render,
            team=team,
        )

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers by type."""
        return {
            COMMAND_GIVEN: self._answering(self._commands.on_given),
            SHORTCUT_USED: self._answering(self._shortcuts.on_used),
            HOME_OPENED: self._home.on_opened,
            LANGUAGE_CHOSEN: self._home.on_language,
            PROMPTS_WANTED: self._home.on_prompts,
            TICKET_CHANGED: self._on_changed,
            AGENT_STOPPED: self._on_stopped,
        }

    def with_redraws(self, handlers: Mapping[str, Handler]) -> Mapping[str, Handler]:
        """Return the handlers; what settles something has Home drawn again for whoever settled it."""
        settling = {APPROVAL_SETTLED, PROPOSAL_SETTLED} & handlers.keys()
        wrapped = {type_: self._redrawing(handlers[type_]) for type_ in settling}
        return {**handlers, **wrapped}

    def _answering(self, handler: Handler) -> Handler:
        """Return the handler; who waits for its answer is told soon that there is none, and nothing is tried again."""

        async def handle(message: Message, delivery: Delivery) -> Sequence[Message]:
            try:
                return await handler(message, delivery)
            except (TransientError, StoreError) as error:
                where = str(message.data.get("response_url") or "")
                if delivery.attempt < LAST_ATTEMPT or not await self._responder.whisper(where, NOT_NOW):
                    raise
                log.warning("not answered", extra={"message_id": message.id, "error": str(error)})
                return []

        return handle

    def _redrawing(self, handler: Handler) -> Handler:
        async def handle(message: Message, delivery: Delivery) -> Sequence[Message]:
            outputs = await handler(message, delivery)
            return [*outputs, *await self._home.redraws(message, [await self._settled_by(message)])]

        return handle

    async def _settled_by(self, message: Message) -> str:
        if message.type == APPROVAL_SETTLED:
            return read(message, ApprovalSettled).by
        if self._desk.corrections is None:
            return ""
        return (await self._desk.corrections.get(read(message, ProposalMade).proposal_id)).settled_by

    async def _on_changed(self, message: Message, _delivery: Delivery) -> Sequence[Message]:
        """Show in Slack where the ticket is now."""
        changed = read(message, TicketChanged)
        ticket = await self._desk.tickets.get(changed.ticket_id)
        await self._sessions.follow(ticket)
        return await self._home.redraws(message, [ticket.requester, ticket.assignee, changed.by])

    async def _on_stopped(self, message: Message, _delivery: Delivery) -> Sequence[Message]:
        """Show in Slack that nothing is in work any more, if whoever pressed Stop may end it; see `Feedback`."""
        stopped, tickets = read(message, Stopped), self._desk.tickets
        there = await tickets.in_conversation(stopped.conversation)
        there = there or await tickets.in_conversation(f"{stopped.team}:{stopped.channel}")
        theirs = not there or any(ticket.requester == stopped.user for ticket in there)
        if theirs or await self._roles.includes(self._staff, stopped.team, stopped.user):
            await self._sessions.stopped(stopped.channel, stopped.thread_ts, there)
        return []


def _standings(surface: Surface, desk: Desk, team: str) -> Standings:
    return Standings(
        desk.directory,
        surface.preferences,
        team=team,
        staff=surface.staff,
        admins=surface.admins,
        approvers=surface.approvers,
    )
