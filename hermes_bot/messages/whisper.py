"""A word to one person alone about what they have just pressed."""

from __future__ import annotations

from hermes_bot.messages.message import PRIORITY_OPERATOR, Message
from hermes_bot.messages.payloads import REPLY_READY, Audience, Reply


def whisper(message: Message, text: str, *, channel: str, user: str, ticket_id: str = "") -> Message:
    """Return the reply that `user` alone sees, in the channel where they pressed it."""
    body = Reply(ticket_id=ticket_id, channel=channel, thread_ts="", text=text, audience=Audience.EPHEMERAL, user=user)
    return message.child(REPLY_READY, body, priority=PRIORITY_OPERATOR)
