"""Answers what no agent takes: small talk, and whatever is none of the shop's business."""

from __future__ import annotations

from agents.desk import Desk
from agents.replies import reply
from agents.words import SmallTalk, is_thanks, small_talk
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import Work, read


class UnknownAgent:
    """Handles ticket.unknown with one short template; when to give up is decided by whoever sends the work."""

    name = "unknown"

    async def handle(self, message: Message, desk: Desk) -> list[Message]:
        """Return one short answer that says what the bot can do, or fits the small talk."""
        work = read(message, Work)
        ticket = await desk.tickets.get(work.ticket_id)
        text = desk.texts.render(work.language, _key(work))
        return [reply(message, ticket, text, source_ts=work.source_ts)]


def _key(work: Work) -> str:
    if work.reason == "files":
        return "unknown.files"
    if work.reason == "introduced":
        return "small_talk.introduced"
    talk = SmallTalk.THANKS if is_thanks(work.text) else small_talk(work.text)
    if not work.text.strip():
        talk = SmallTalk.GREETING
    return f"small_talk.{talk}" if talk else "unknown.out_of_scope"
