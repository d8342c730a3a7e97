"""Places approval cards where approvers see them, and redraws them from the store."""

from __future__ import annotations

from collections.abc import Sequence

from hermes_bot.approvals.request import ApprovalRequest
from hermes_bot.bus.port import Delivery
from hermes_bot.edge.cards import Approvals, CardTable, Tickets, may_be_old
from hermes_bot.edge.channels import ChannelPolicy
from hermes_bot.edge.poster import Draft, Poster
from hermes_bot.edge.posts import Post, Posts
from hermes_bot.edge.slack_api import SlackApi
from hermes_bot.edge.views.approval import approval_look, short_approval_look
from hermes_bot.edge.views.look import Look
from hermes_bot.errors import PermanentError, SlackRefused
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import ApprovalRequested, ApprovalSettled, read
from hermes_bot.people import Directory
from hermes_bot.tickets.ticket import Ticket


class ApprovalCards:
    """The handlers of `approval.requested` and `approval.settled` for the edge."""

    def __init__(
        self,
        poster: Poster,
        table: CardTable,
        place: CardPlace,
        *,
        posts: Posts,
        approvals: Approvals,
        tickets: Tickets,
    ) -> None:
        self._poster = poster
        self._table = table
        self._place = place
        self._posts = posts
        self._approvals = approvals
        self._tickets = tickets

    async def on_requested(self, message: Message, delivery: Delivery) -> Sequence[Message]:
        """Post the card; what happened to the request meanwhile is drawn at once."""
        request = await self._approvals.get(read(message, ApprovalRequested).approval_id)
        ticket = await self._tickets.get(request.ticket_id)
        channel, thread_ts = await self._place.of(ticket, request)
        draft = Draft(
            key=_key(request.id),
            channel=channel,
            thread_ts=thread_ts,
            look=(await self._looks(request, ticket, channel))[0],
            ticket_id=ticket.id,
        )
        posted = await self._poster.post(draft, message, delivery)
        now = await self._approvals.get(request.id)
        if now == request and not may_be_old(delivery):
            return posted.outputs
        return [*posted.outputs, *await self._redraw(posted.post, now, message, delivery)]

    async def on_settled(self, message: Message, delivery: Delivery) -> Sequence[Message]:
        """Show the record in place of the buttons, as the store has it."""
        request = await self._approvals.get(read(message, ApprovalSettled).approval_id)
        post = await self._posts.find(_key(request.id))
        # Without a post the card is still to come, and will be drawn as settled.
        return [] if post is None else await self._redraw(post, request, message, delivery)

    async def _redraw(
        self, post: Post, request: ApprovalRequest, message: Message, delivery: Delivery
    ) -> list[Message]:
        ticket = await self._tickets.get(request.ticket_id)
        return await self._table.redraw(post, await self._looks(request, ticket, post.channel), message, delivery)

    async def _looks(self, request: ApprovalRequest, ticket: Ticket, channel: str) -> list[Look]:
        names = await self._table.names(ticket.team, [request.requested_by, request.settled_by])
        url = await self._table.thread_url(ticket) if channel != ticket.channel else ""
        full = approval_look(request, names=names, context_id=ticket.context_id, thread_url=url)
        return [full, short_approval_look(request, names=names)]


class CardPlace:
    """Decides where a card stands: in the customer's thread only where somebody who may decide can see it."""

    def __init__(self, api: SlackApi, directory: Directory, *, approvers: Sequence[str], policy: ChannelPolicy) -> None:
        self._api = api
        self._directory = directory
        self._approvers = tuple(approvers)
        self._policy = policy

    async def of(self, ticket: Ticket, request: ApprovalRequest) -> tuple[str, str]:
        """Return channel and thread; raise PermanentError where the settings name no channel for it."""
        setting = self._policy.approvals_channel
        if setting not in ("", "thread"):
            return setting, ""
        if ticket.thread_ts and not ticket.direct and await self._suits(ticket.channel, request.requested_by):
            return ticket.channel, ticket.thread_ts
        if not self._policy.handoff_channel:
            raise PermanentError(f"no channel for the card of {request.id}: set slack.handoff_channel")
        return self._policy.handoff_channel, ""

    async def _suits(self, channel: str, requester: str) -> bool:
        """Return whether an approver other than the requester is a member, and no other company is."""
        wanted = await self._everyone() - {requester}
        try:
            answer = await self._api.call("conversations.info", channel=channel)
            about = answer.get("channel") or {}
            if about.get("is_ext_shared") or about.get("is_pending_ext_shared"):
                return False
            async for page in self._api.pages("conversations.members", "members", channel=channel):
                if not wanted.isdisjoint(page):
                    return True
        except SlackRefused:
            return False
        return False

    async def _everyone(self) -> set[str]:
        people = {member for member in self._approvers if not member.startswith("S")}
        for group in set(self._approvers) - people:
            try:
                people |= await self._directory.group_members(group)
            except PermanentError:
                continue
        return people


def _key(approval_id: str) -> str:
    return f"approval:{approval_id}"
