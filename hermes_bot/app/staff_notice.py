"""Tells the people who run the bot something in Slack, once."""

from __future__ import annotations

from hermes_bot.bus.bus import Bus
from hermes_bot.messages.message import PRIORITY_OPERATOR, Message
from hermes_bot.messages.payloads import EDGE, REPLY_READY, Reply, fields_of

SENDER = "hermes"


async def tell_staff(bus: Bus, team: str, channel: str, text: str, key: str) -> None:
    """Post in the handoff channel; the same `key` again posts nothing. Without a channel the log has to do."""
    if not channel:
        return
    body = Reply(ticket_id="", channel=channel, thread_ts="", text=text)
    message = Message(
        type=REPLY_READY,
        sender=SENDER,
        recipient=EDGE,
        context_id=f"{team}:{channel}:notices",
        task_id=key,
        data=fields_of(body),
        priority=PRIORITY_OPERATOR,
    )
    await bus.publish(message)
