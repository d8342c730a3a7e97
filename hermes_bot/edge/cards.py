"""What approval and handoff cards share: the ports they read from, names, links, and redrawing until it shows."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from hermes_bot.approvals.request import ApprovalRequest, ApprovalStatus
from hermes_bot.bus.port import Delivery
from hermes_bot.edge.lines import haste_of
from hermes_bot.edge.poster import Poster
from hermes_bot.edge.posts import Post
from hermes_bot.edge.slack_api import SlackApi
from hermes_bot.edge.views.look import Look
from hermes_bot.errors import NotYet, PermanentError, TransientError
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import EDGE
from hermes_bot.people import Directory
from hermes_bot.tickets.ticket import Ticket

PATIENT_FROM_ATTEMPT = 3
ROUND = "redraw_round"
ROUNDS = 5  # the bus lets a chain have ten hops
FIRST_WAIT_S, LONGEST_WAIT_S = 60.0, 3_600.0

log = logging.getLogger(__name__)


class Tickets(Protocol):
    """Reads tickets."""

    async def get(self, ticket_id: str) -> Ticket:
        """Return the ticket; raise PermanentError for an unknown id."""
        ...


class Approvals(Protocol):
    """Reads approval requests."""

    async def get(self, approval_id: str) -> ApprovalRequest:
        """Return the request; raise PermanentError for an unknown id."""
        ...

    async def listing(self, *, status: ApprovalStatus | None = None, limit: int = 50) -> Sequence[ApprovalRequest]:
        """Return the newest requests first."""
        ...


class CardTable:
    """Draws cards anew and looks up what they show."""

    def __init__(self, poster: Poster, api: SlackApi, directory: Directory, *, clock: Callable[[], datetime]) -> None:
        self._poster = poster
        self._api = api
        self._directory = directory
        self._clock = clock

    async def redraw(
        self,
        post: Post,
        looks: Sequence[Look],
        message: Message,
        delivery: Delivery,
        *,
        instead: Callable[[], Awaitable[list[Message]]] | None = None,
    ) -> list[Message]:
        """Redraw the card. Where Slack stays away, return the message that does it later, hours long.

        `instead` does what is left to do where Slack lets nobody change the card any more.
        """
        try:
            if not await self._poster.redraw(post, looks, haste_of(message)) and instead is not None:
                return await instead()
        except NotYet:
            raise
        except TransientError as error:
            done = int(message.data.get(ROUND) or 0)
            if delivery.attempt < PATIENT_FROM_ATTEMPT or done >= ROUNDS:
                raise
            log.warning("card is redrawn later", extra={"key": post.key, "error": str(error)})
            return [self._later(message, done + 1)]
        return []

    async def names(self, team: str, users: Sequence[str]) -> dict[str, str]:
        """Return the names of those who can be looked up."""
        found: dict[str, str] = {}
        for user in filter(None, dict.fromkeys(users)):
            try:
                found[user] = (await self._directory.person(team, user)).name
            except (PermanentError, TransientError):
                continue
        return found

    async def thread_url(self, ticket: Ticket) -> str:
        """Return a link to the ticket's thread; empty for a direct message, or where Slack gives none."""
        if ticket.direct or not ticket.thread_ts:
            return ""
        try:
            answer = await self._api.call("chat.getPermalink", channel=ticket.channel, message_ts=ticket.thread_ts)
        except (PermanentError, TransientError):
            return ""
        return str(answer.get("permalink") or "")

    def _later(self, message: Message, number: int) -> Message:
        wait_s = min(FIRST_WAIT_S * 4 ** (number - 1), LONGEST_WAIT_S)
        origin = message.task.partition(".redraw")[0]
        return message.child(
            message.type,
            message.data | {ROUND: number},
            recipient=EDGE,
            context_id=f"redraw:{origin}",
            task_id=f"{origin}.redraw{number}",
            not_before=self._clock() + timedelta(seconds=wait_s),
        )


def may_be_old(delivery: Delivery) -> bool:
    """Return whether the post may be from an earlier attempt, and so show an older state."""
    return delivery.attempt > 1 or delivery.redelivered
