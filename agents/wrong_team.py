"""What staff say in a ticket's thread when it went to the wrong agent: `@Hermes wrong team: refund`."""

from __future__ import annotations

import re

from agents.desk import Desk
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import REPLY_READY, ROUTE_CORRECTED, Audience, Inbound, Reply, RouteCorrected

_WORDS = re.compile(
    r"\s*(?:wrong team|分错了|转错了)\s*[:：,，-]?\s*(?P<route>[a-z][a-z0-9_-]{0,39})?\s*[.。!！]?\s*", re.IGNORECASE
)


async def correction(message: Message, inbound: Inbound, desk: Desk) -> list[Message] | None:
    """Return the correction of the thread's newest ticket that is not the writer's own; None for any other text.

    Whether the writer may correct is decided by whoever handles it.
    """
    said = _WORDS.fullmatch(inbound.text)
    if said is None or not (inbound.mentioned and inbound.thread_ts):
        return None
    ticket = await desk.tickets.newest(message.context_id, but_not_of=inbound.user)
    if ticket is None:
        return None
    if said["route"] is None:
        text = desk.texts.render(ticket.language, "entry.name_the_route")
        return [message.child(REPLY_READY, _whisper(inbound, ticket.id, text))]
    body = RouteCorrected(
        ticket_id=ticket.id,
        route=said["route"].lower(),
        text=ticket.subject,
        user=inbound.user,
        team=inbound.user_team or inbound.team,
        channel=inbound.channel,
    )
    return [message.child(ROUTE_CORRECTED, body)]


def _whisper(inbound: Inbound, ticket_id: str, text: str) -> Reply:
    return Reply(
        ticket_id=ticket_id,
        channel=inbound.channel,
        thread_ts=inbound.thread_ts,
        text=text,
        audience=Audience.EPHEMERAL,
        user=inbound.user,
    )
