"""Where replies go when there is no edge: to the program that runs Hermes as a library."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from hermes_bot.bus.port import Delivery, Handler
from hermes_bot.messages.approval_payloads import APPROVAL_ANSWERED, APPROVAL_CHANGED, APPROVAL_REMINDED
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import (
    APPROVAL_REQUESTED,
    APPROVAL_SETTLED,
    EDGE,
    HANDOFF_CHANGED,
    HANDOFF_NOTED,
    HANDOFF_REQUESTED,
    PROPOSAL_MADE,
    PROPOSAL_SETTLED,
    REPLY_READY,
)
from hermes_bot.messages.ticket_payloads import TICKET_CARD

AGENT = "app"
FOR_STAFF = (
    APPROVAL_REQUESTED, APPROVAL_SETTLED, APPROVAL_CHANGED, APPROVAL_REMINDED, APPROVAL_ANSWERED, HANDOFF_REQUESTED,
    HANDOFF_CHANGED, HANDOFF_NOTED, TICKET_CARD, PROPOSAL_MADE, PROPOSAL_SETTLED,
)  # fmt: skip
MOST_KEPT = 10_000

log = logging.getLogger(__name__)


class Outlet:
    """Keeps `reply.ready` messages until they are taken. What the edge would show to staff is logged: no card here."""

    def __init__(self) -> None:
        self._replies: dict[str, Message] = {}

    def handlers(self) -> Mapping[str, Mapping[str, Handler]]:
        """Return what each agent subscribes to; agent `slack` gets what others send to the edge by its name."""
        return {AGENT: {REPLY_READY: self.keep}, EDGE: dict.fromkeys(FOR_STAFF, self.note)}

    async def keep(self, message: Message, _delivery: Delivery) -> Sequence[Message]:
        """Keep the reply; a redelivery of the same one changes nothing."""
        self._replies[message.id] = message
        if len(self._replies) > MOST_KEPT:
            oldest = next(iter(self._replies))
            del self._replies[oldest]
            log.warning("a reply that nobody took was dropped; call drain()", extra={"message_id": oldest})
        return []

    async def note(self, message: Message, _delivery: Delivery) -> Sequence[Message]:
        """Say in the log what staff would see."""
        log.info("without an edge nobody is shown this", extra={"message_id": message.id, "type": message.type})
        return []

    def take(self) -> list[Message]:
        """Return the replies that came since the last time, in order."""
        taken = list(self._replies.values())
        self._replies.clear()
        return taken
