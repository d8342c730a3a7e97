"""Takes note of what somebody writes faster than anybody could answer, without answering each of it.

Once they pause, the last of it is taken up, so that nobody meets silence: a message that waits on the bus sees to that.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from agents.desk import Desk, FloodLimits
from agents.replies import reply
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import Audience, Inbound, read
from hermes_bot.messages.ticket_payloads import TICKET_GATHERED, TicketGathered
from hermes_bot.tickets.sayings import Found, Saying, Sayings
from hermes_bot.tickets.ticket import Ticket, TicketStatus

MOST_PIECES = 10
MOST_CHARACTERS = 2_000
LATE_S = 86_400.0  # after an outage of the bot's it is still worth an answer for a day


async def flood(message: Message, inbound: Inbound, ticket: Ticket, desk: Desk) -> list[Message] | None:
    """Return nothing, or once a polite word, where the person has written too much; None where they have not.

    The message is kept on its ticket in any case, and the same message has the same place in the count however often
    it is handled. With the word comes a message that looks, when the window has passed, what is still open.
    """
    limits = desk.flood
    if limits is None:
        return None
    place = await desk.tickets.place_in_window(message.id, inbound.team, inbound.user, window_s=limits.window_s)
    if place <= limits.messages:
        return None
    await desk.tickets.update(ticket.id, status=TicketStatus.WAITING_CUSTOMER)
    if place > limits.messages + 1:
        return []
    text = desk.texts.render(ticket.language, "entry.flood")
    body = TicketGathered(ticket_id=ticket.id, message_id=message.id, team=inbound.user_team, flood=True)
    told = reply(message, ticket, text, audience=Audience.THREAD, source_ts=inbound.ts)
    return [told, _later(message, body, ticket, limits, message.created_at)]


async def after_flood(message: Message, desk: Desk) -> tuple[Ticket, Inbound] | list[Message]:
    """Return the last that somebody wrote in a flood, with what came before it; what waits on while they still write.

    Nothing where they wrote again later and were answered: once for a flood is enough.
    """
    body, limits = read(message, TicketGathered), desk.flood
    last = await Sayings.of(desk.tickets).last_of(body.ticket_id) if limits is not None else None
    if limits is None or last is None or not await _too_much(last.saying, last.ticket, limits, desk):
        return []
    if last.saying.message_id == body.message_id:
        return last.ticket, await _whole(last, body.team, limits, desk)
    wanted = TicketGathered(ticket_id=last.ticket.id, message_id=last.saying.message_id, team=body.team, flood=True)
    return [_later(message, wanted, last.ticket, limits, last.saying.at)]


async def _whole(last: Found, team: str, limits: FloodLimits, desk: Desk) -> Inbound:
    """Return the last message, after those of its ticket that were not answered either."""
    ticket, pieces = last.ticket, [last.saying.text]
    said = await Sayings.of(desk.tickets).all(ticket.id)
    for piece in list(reversed(said))[1:MOST_PIECES]:
        length = sum(map(len, pieces)) + len(piece.text)
        if length > MOST_CHARACTERS or not await _too_much(piece, ticket, limits, desk):
            break
        pieces.insert(0, piece.text)
    return Inbound(
        team=ticket.team,
        channel=ticket.channel,
        channel_type=ticket.channel_type,
        ts=last.saying.ts,
        user=ticket.requester,
        text="\n".join(_each_once(pieces)),
        user_team=team,
        thread_ts=ticket.thread_ts,
    )


async def _too_much(saying: Saying, ticket: Ticket, limits: FloodLimits, desk: Desk) -> bool:
    place = desk.tickets.place_in_window(saying.message_id, ticket.team, ticket.requester, window_s=limits.window_s)
    return await place > limits.messages


def _each_once(pieces: Sequence[str]) -> list[str]:
    """Return the texts without repeats, each where it stood last."""
    return list(reversed(dict.fromkeys(reversed(pieces))))


def _later(message: Message, body: TicketGathered, ticket: Ticket, limits: FloodLimits, said_at: datetime) -> Message:
    """Return the message that comes up when the window has passed; for one message of the customer's there is one."""
    return message.child(
        TICKET_GATHERED,
        body,
        context_id=ticket.context_id,
        task_id=f"flood:{body.message_id}",
        not_before=said_at + timedelta(seconds=limits.window_s),
        ttl_s=LATE_S,
    )
