"""The typed data of what happens to a ticket besides what is written to it: edits, deletions, Stop, its changes."""

from __future__ import annotations

import msgspec

TICKET_EDITED = "ticket.edited"
TICKET_DELETED = "ticket.deleted"
AGENT_STOPPED = "agent.stopped"


class Edited(msgspec.Struct, frozen=True, kw_only=True):
    """`ticket.edited`: somebody changed the words of a message of theirs. `ts` is that of the message, as before.

    `text` is what stands there now, `previous` what stood there, empty where Slack does not say.
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
