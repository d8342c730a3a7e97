"""Decides where an approval's card stands: where those who decide can see it, and no other company can."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from hermes_bot.approvals.request import ApprovalRequest
from hermes_bot.approvals.rules import THREAD, ApprovalRules, Authority
from hermes_bot.edge.channels import ChannelPolicy, shared_outside
from hermes_bot.edge.slack_api import SlackApi
from hermes_bot.errors import PermanentError, SlackRefused
from hermes_bot.people import Directory
from hermes_bot.tickets.ticket import Ticket

NOT_THERE = frozenset({"channel_not_found", "is_archived"})

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A channel, and the thread in it, empty for none. `by_rule`: the settings name it."""

    channel: str
    thread_ts: str = ""
    by_rule: bool = False


class CardPlace:
    """The ticket's thread or the rule's channel where enough of those who decide are; else the handoff channel."""

    def __init__(self, api: SlackApi, directory: Directory, *, rules: ApprovalRules, policy: ChannelPolicy) -> None:
        self._api = api
        self._directory = directory
        self._rules = rules
        self._policy = policy

    async def of(self, ticket: Ticket | None, request: ApprovalRequest) -> Place:
        """Return the place; raise PermanentError where there is none that no other company reads."""
        authority = self.authority(request)
        wanted = self._wanted(ticket, authority)
        if wanted is not None and await self._suits(wanted.channel, request, authority):
            return wanted
        return await self.apart(request)

    async def apart(self, request: ApprovalRequest) -> Place:
        """Return the handoff channel; raise PermanentError where another company reads it, or there is none.

        Where Slack does not say who reads it, it is the one that the settings name for people.
        """
        handoff = self._policy.handoff_channel
        if not handoff:
            raise PermanentError(f"no channel for the card of {request.id}: set slack.handoff_channel")
        try:
            shared = shared_outside(await self._about(handoff))
        except SlackRefused as error:
            if error.error in NOT_THERE:
                raise
            log.warning("who reads the handoff channel is not known", extra={"error": error.error})
            shared = False
        if shared:
            raise PermanentError(f"no channel for the card of {request.id}: slack.handoff_channel is a shared one")
        return Place(channel=handoff)

    def authority(self, request: ApprovalRequest) -> Authority:
        """Return who decides about the request."""
        return self._rules.authority(request.tool, request.level, request.arguments)

    def _wanted(self, ticket: Ticket | None, authority: Authority) -> Place | None:
        if authority.channel != THREAD:
            return Place(channel=self._policy.card_channel(authority.channel), by_rule=True)
        if ticket is None or ticket.direct or not ticket.thread_ts or ticket.source_deleted:
            return None
        return Place(channel=ticket.channel, thread_ts=ticket.thread_ts)

    async def _suits(self, channel: str, request: ApprovalRequest, authority: Authority) -> bool:
        """Return whether enough of those who may decide are members, and no other company is."""
        deciders = await self._everyone(authority)
        if not self._rules.allow_requester:
            deciders -= {request.requested_by}
        needed, found = max(request.needed, authority.needed), set[str]()
        try:
            if shared_outside(await self._about(channel)):
                return False
            async for page in self._api.pages("conversations.members", "members", channel=channel):
                found |= deciders.intersection(page)
                if len(found) >= needed:
                    return True
        except SlackRefused:
            return False
        return False

    async def _about(self, channel: str) -> dict[str, Any]:
        answer = await self._api.call("conversations.info", channel=channel)
        return answer.get("channel") or {}

    async def _everyone(self, authority: Authority) -> set[str]:
        people = {member for member in authority.approvers if not member.startswith("S")}
        for group in set(authority.approvers) - people:
            try:
                people |= await self._directory.group_members(group)
            except PermanentError:
                continue
        return people
