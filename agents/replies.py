"""Turns what an agent wants to say into `reply.ready` messages for the right eyes."""

from __future__ import annotations

from agents.action import Finish, Private
from agents.desk import Desk
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import REPLY_READY, Audience, Choice, Reply
from hermes_bot.tickets.ticket import Ticket


def reply(
    message: Message,
    ticket: Ticket,
    text: str,
    *,
    fields: tuple[tuple[str, str], ...] = (),
    choices: tuple[Choice, ...] = (),
    audience: Audience = Audience.THREAD,
    user: str = "",
    source_ts: str = "",
) -> Message:
    """Return one reply in the ticket's conversation; `user` is the requester unless it is given."""
    body = Reply(
        ticket_id=ticket.id,
        channel=ticket.channel,
        thread_ts=ticket.thread_ts,
        text=text,
        audience=audience,
        user=user or ticket.requester,
        fields=fields,
        choices=choices,
        in_reply_to=source_ts,
    )
    return message.child(REPLY_READY, body, context_id=ticket.context_id)


def replies(
    message: Message, ticket: Ticket, finish: Finish, desk: Desk, language: str, source_ts: str
) -> list[Message]:
    """Return the one answer that the thread reads, and what the customer alone may see.

    In a direct message, and where the ways of a channel allow it, both are one. Elsewhere the answer says where the
    rest is.
    """
    private = finish.private
    if private is None:
        return [reply(message, ticket, finish.text, choices=finish.choices, source_ts=source_ts)]
    if ticket.direct or desk.ways_of(ticket.channel).private_in_thread:
        choices = (*private.choices, *finish.choices)
        return [reply(message, ticket, finish.text, fields=private.fields, choices=choices, source_ts=source_ts)]
    note = desk.texts.render(language, f"private.{private.audience}")
    text = f"{finish.text}\n{note}"
    public = reply(message, ticket, text, choices=finish.choices, source_ts=source_ts)
    return [public, _private_reply(message, ticket, private, source_ts)]


def _private_reply(message: Message, ticket: Ticket, private: Private, source_ts: str) -> Message:
    return reply(
        message,
        ticket,
        private.text,
        fields=private.fields,
        choices=private.choices,
        audience=private.audience,
        source_ts=source_ts,
    )
