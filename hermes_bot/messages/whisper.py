"""A word to one person alone about what they have just pressed."""

from __future__ import annotations

from hermes_bot.messages.message import PRIORITY_OPERATOR, Message
from hermes_bot.messages.payloads import REPLY_READY, Audience, Reply


def whisper(
    message: Message, text: str, *, channel: str, user: str, ticket_id: str = "", thread_ts: str = ""
) -> Message:
    """Return the reply that `user` alone sees where they pressed it: in the channel, or in the thread of the card."""
    body = Reply(
        ticket_id=ticket_id,
        channel=channel,
        thread_ts=thread_ts or str(message.data.get("thread_ts") or ""),
        text=text,
        audience=Audience.EPHEMERAL,
        user=user,
    )
    return message.child(REPLY_READY, body, priority=PRIORITY_OPERATOR)
