"""The typed data of what happens to a ticket besides what is written to it: edits, deletions, Stop, its changes."""

from __future__ import annotations

import msgspec

TICKET_EDITED = "ticket.edited"
TICKET_DELETED = "ticket.deleted"
AGENT_STOPPED = "agent.stopped"
TICKET_CHANGED = "ticket.changed"
TICKET_DUE = "ticket.due"
TICKET_GATHERED = "ticket.gathered"
TICKET_ANSWERED = "ticket.answered"
TICKET_RATED = "ticket.rated"
TICKET_CARD = "ticket.card"


class Edited(msgspec.Struct, frozen=True, kw_only=True):
    """`ticket.edited`: somebody changed the words of a message of theirs. `ts` is that of the message, as before.

    `text` is what stands there now, `previous` what stood there, empty where Slack does not say. `mentioned`: only now
    do they call the bot, in a channel where it listens to mentions alone.
    """

    team: str
    channel: str
    ts: str
    user: str
    text: str
    previous: str = ""
    thread_ts: str = ""
    channel_type: str = "channel"
    user_team: str = ""
    mentioned: bool = False


class Deleted(msgspec.Struct, frozen=True, kw_only=True):
    """`ticket.deleted`: somebody's message is gone. `user` is who wrote it, empty where Slack does not say."""

    team: str
    channel: str
    ts: str
    user: str = ""
    thread_ts: str = ""
    channel_type: str = "channel"


class Stopped(msgspec.Struct, frozen=True, kw_only=True):
    """`agent.stopped`: somebody pressed Stop: what is in work in `conversation`, a context's id, is to end.

    The message has a context of its own, or cancelling all that is in the conversation would cancel it too.
    """

    team: str
    channel: str
    thread_ts: str
    user: str
    conversation: str


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One thing about a ticket that is not as it was: `what` is status, owner, assignee, priority, rating …"""

    what: str
    was: str
    now: str


class TicketChanged(msgspec.Struct, frozen=True, kw_only=True):
    """`ticket.changed`: what the handling of one message changed in one ticket, in order.

    `status` and `owner` are those after it, `by` a user or an agent. A ticket has ended when `status` is solved or
    closed and `changes` say that it was not before. `opened`: this is the first that is heard of it.
    """

    ticket_id: str
    status: str
    owner: str
    turn: int
    by: str = ""
    opened: bool = False
    changes: tuple[Change, ...] = ()


class TicketDue(msgspec.Struct, frozen=True, kw_only=True):
    """`ticket.due`: the time has come to look whether a ticket still waits for the same as at `turn` or `round`.

    `what`: nudge, close, first_response, escalate or hold.
    """

    ticket_id: str
    what: str
    turn: int = 0
    round: int = 0
    key: str = ""


class TicketGathered(msgspec.Struct, frozen=True, kw_only=True):
    """`ticket.gathered`: no further message came for a while; those since the last answer are one request.

    `flood`: of somebody who wrote too much to be answered each time, the last is taken up.
    """

    ticket_id: str
    message_id: str
    team: str = ""
    flood: bool = False


class TicketAnswered(msgspec.Struct, frozen=True, kw_only=True):
    """`ticket.answered`: the first answer stands in Slack."""

    ticket_id: str


class TicketRated(msgspec.Struct, frozen=True, kw_only=True):
    """`ticket.rated`: somebody pressed thumbs up or down under an answer; `rating` is up or down."""

    ticket_id: str
    rating: str
    user: str
    team: str
    channel: str = ""


class TicketCard(msgspec.Struct, frozen=True, kw_only=True):
    """`ticket.card`: the staff's card of this ticket is to be posted or redrawn as the ticket is by now."""

    ticket_id: str
