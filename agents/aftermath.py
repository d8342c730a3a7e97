"""What customers do besides writing: they edit, they delete, they send their words in pieces, they press a thumb.

Each is about a message that belongs to a ticket already; none of them opens one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from difflib import SequenceMatcher

from msgspec import structs

from agents.deciding import Situation, decide
from agents.desk import Desk
from agents.words import is_thanks, small_talk
from hermes_bot.errors import PermanentError
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import HANDOFF_NOTED, HandoffNoted, Inbound, read
from hermes_bot.messages.ticket_payloads import (
    TICKET_GATHERED,
    TICKET_RATED,
    Deleted,
    Edited,
    TicketGathered,
    TicketRated,
)
from hermes_bot.tickets.sayings import Found, Saying, Sayings
from hermes_bot.tickets.thread_lines import ThreadLines
from hermes_bot.tickets.ticket import Owner, Ticket, TicketStatus
from hermes_bot.tools.order_number import order_numbers_in

SAME_ENOUGH = 0.75
TRIES = "tries"
LOOKED_FOR_AFTER_S = (5, 60, 300)  # Slack keeps to no order, and tells again of what it could not tell
_THUMBS = {"up": re.compile(r"(?:👍|:\+1:|:thumbsup:)[\U0001f3fb-\U0001f3ff]?(?::skin-tone-\d:)?"),
           "down": re.compile(r"(?:👎|:-1:|:thumbsdown:)[\U0001f3fb-\U0001f3ff]?(?::skin-tone-\d:)?")}  # fmt: skip
_NUMBER = re.compile(r"\d+")


def note(message: Message, ticket: Ticket, text: str, *, label: str = "") -> Message:
    """Return what the people who own the ticket read under its card; who has it is called where they see it there."""
    called = (ticket.assignee,) if ticket.owner is Owner.HUMAN and ticket.direct and ticket.assignee else ()
    body = HandoffNoted(ticket_id=ticket.id, text=text, user=ticket.requester, label=label, mentions=called)
    return message.child(HANDOFF_NOTED, body, context_id=ticket.context_id)


async def reopened_for_people(ticket: Ticket, text: str, desk: Desk) -> None:
    """Open a ticket of people's again that they have ended, unless the customer only says thanks."""
    if ticket.status.ended and small_talk(text) is None and not is_thanks(text):
        await desk.tickets.change(
            ticket.id, {"status": TicketStatus.REOPENED.value}, only_when=lambda now: now.status.ended
        )


def thumb(message: Message, ticket: Ticket, text: str) -> Message | None:
    """Return the rating that a lone thumb under an answer is; None for anything else."""
    for rating, pattern in _THUMBS.items():
        if ticket.status.ended and pattern.fullmatch(text.strip()):
            body = TicketRated(
                ticket_id=ticket.id, rating=rating, user=ticket.requester, team=ticket.team, channel=ticket.channel
            )
            return message.child(TICKET_RATED, body, context_id=ticket.context_id)
    return None


async def edited(message: Message, desk: Desk) -> tuple[Found | None, Inbound] | list[Message]:
    """Keep the new words in place of the old; return them to be answered anew, or what else follows.

    Without a `Found` they are the first that the bot hears: it was not called before.

    They are answered anew when they are the last that the customer said, the bot has the ticket, and what it said to
    the old ones no longer fits. What waits for an approval is asked anew by those who cancel it.
    """
    edit = read(message, Edited)
    await _redrawn(await ThreadLines.of(desk.tickets).edit(edit.team, edit.channel, edit.ts, edit.text), desk)
    sayings = Sayings.of(desk.tickets)
    found = await sayings.find(edit.team, edit.channel, edit.ts, user=edit.user)
    if edit.mentioned and (found is None or found.saying.message_id == message.id):
        return None, _written_anew(edit)
    if found is None:
        return _looked_for_later(message)
    ticket = await sayings.edit(found, edit.text)
    if ticket.owner is not Owner.BOT:
        return [note(message, ticket, edit.text, label="The customer changed a message")]
    merge_s = desk.tickets.merge_window_s
    gathering = bool(merge_s) and message.created_at <= found.saying.at + timedelta(seconds=merge_s)
    if gathering or not found.last or ticket.status in (TicketStatus.CLOSED, TicketStatus.WAITING_APPROVAL):
        return []
    if await still_fits(structs.replace(edit, previous=edit.previous or found.saying.text), desk):
        return []
    return found, _written_anew(edit)


async def still_fits(edit: Edited, desk: Desk) -> bool:
    """Whether the answer to the old words is one to the new ones as well: a typo, not another wish."""
    before, now = " ".join(edit.previous.split()).casefold(), " ".join(edit.text.split()).casefold()
    if order_numbers_in(before) != order_numbers_in(now) or _NUMBER.findall(before) != _NUMBER.findall(now):
        return False
    if SequenceMatcher(None, before, now, autojunk=False).ratio() < SAME_ENOUGH:
        return False
    was, is_now = [await decide(_asking(edit, text), Situation(), desk) for text in (edit.previous, edit.text)]
    return (was.type, was.reason, was.candidates) == (is_now.type, is_now.reason, is_now.candidates)


async def deleted(message: Message, desk: Desk) -> list[Message]:
    """Take the words away, and tell the people who have the ticket that they are gone."""
    gone = read(message, Deleted)
    await _redrawn(await ThreadLines.of(desk.tickets).delete(gone.team, gone.channel, gone.ts), desk)
    sayings = Sayings.of(desk.tickets)
    found = await sayings.find(gone.team, gone.channel, gone.ts, user=gone.user)
    if found is None:
        return _looked_for_later(message)
    ticket = await sayings.delete(found)
    if ticket.owner is Owner.BOT:
        return []
    which = "the message that the ticket began with" if found.saying.opened else "a message"
    return [note(message, ticket, f"The customer deleted {which}.", label="Deleted")]


async def _redrawn(tickets: Sequence[str], desk: Desk) -> None:
    """Have the cards drawn anew that show a thread in which words have changed."""
    for ticket in tickets:
        await desk.tickets.change(ticket, {"card_due": True})


def gathering(message: Message, inbound: Inbound, ticket: Ticket, desk: Desk) -> list[Message]:
    """Return the message that comes up when nothing further was written for a while."""
    body = TicketGathered(ticket_id=ticket.id, message_id=message.id, team=inbound.user_team)
    return [
        message.child(
            TICKET_GATHERED,
            body,
            context_id=ticket.context_id,
            not_before=message.created_at + timedelta(seconds=desk.tickets.merge_window_s),
        )
    ]


async def gathered(message: Message, desk: Desk) -> tuple[Ticket, Inbound] | None:
    """Return what was written in one go, as one message; None where more came, which is waited for in turn."""
    body = read(message, TicketGathered)
    try:
        ticket = await desk.tickets.get(body.ticket_id)
    except PermanentError:
        return None
    said = await Sayings.of(desk.tickets).all(ticket.id)
    if not said or said[-1].message_id != body.message_id:
        return None
    pieces = _in_one_go(said, desk.tickets.merge_window_s)
    return ticket, Inbound(
        team=ticket.team,
        channel=ticket.channel,
        channel_type=ticket.channel_type,
        ts=pieces[-1].ts,
        user=ticket.requester,
        text="\n".join(piece.text for piece in pieces),
        user_team=body.team,
        thread_ts=ticket.thread_ts,
    )


def _looked_for_later(message: Message) -> list[Message]:
    """Return the same word once more, for later: what was changed may be told after the change."""
    done = int(message.data.get(TRIES) or 0)
    if done >= len(LOOKED_FOR_AFTER_S):
        return []
    due = message.created_at + timedelta(seconds=LOOKED_FOR_AFTER_S[done])
    return [message.child(message.type, message.data | {TRIES: done + 1}, not_before=due)]


def _written_anew(edit: Edited) -> Inbound:
    return Inbound(
        team=edit.team,
        channel=edit.channel,
        channel_type=edit.channel_type,
        ts=edit.ts,
        user=edit.user,
        text=edit.text,
        user_team=edit.user_team,
        thread_ts=edit.thread_ts,
        mentioned=edit.mentioned,
    )


def _in_one_go(said: Sequence[Saying], window_s: float) -> list[Saying]:
    """Return the last messages between which there was no longer pause than the window."""
    pieces = [said[-1]]
    for piece in reversed(said[:-1]):
        if pieces[0].at - piece.at > timedelta(seconds=window_s):
            break
        pieces.insert(0, piece)
    return pieces


def _asking(edit: Edited, text: str) -> Inbound:
    return Inbound(
        team=edit.team, channel=edit.channel, channel_type=edit.channel_type, ts=edit.ts, user=edit.user, text=text
    )
