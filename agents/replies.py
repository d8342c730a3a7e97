"""Turns what an agent wants to say into `reply.ready` messages for the right eyes."""

from __future__ import annotations

from collections.abc import Sequence

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
    message: Message, ticket: Ticket, ends: Sequence[Finish], desk: Desk, language: str, source_ts: str
) -> list[Message]:
    """Return the one answer that the thread reads, and what the customer alone may see.

    `ends` are the answers to the requests that the message held, in their order; they are told in one. In a direct
    message, and where the ways of a channel allow it, all is one. Elsewhere the answer says where the rest is.
    """
    private = [end.private for end in ends if end.private is not None]
    choices = tuple(choice for end in ends for choice in end.choices)
    if ticket.direct or desk.ways_of(ticket.channel).private_in_thread:
        shown = tuple(choice for end in ends for choice in _all_choices(end))
        fields = tuple(field for each in private for field in each.fields)
        text = "\n\n".join(_whole(end) for end in ends)
        return [reply(message, ticket, text, fields=fields, choices=shown, source_ts=source_ts)]
    text = "\n\n".join(_with_note(end, desk, language) for end in ends)
    public = reply(message, ticket, text, choices=choices, source_ts=source_ts)
    return [public, *(_private_reply(message, ticket, each, source_ts) for each in private)]


def _whole(end: Finish) -> str:
    """Return all of the answer's text, as its owner reads it in private."""
    return f"{end.text}\n{end.private.text}" if end.private is not None and end.private.tells else end.text


def _all_choices(end: Finish) -> tuple[Choice, ...]:
    return (*(end.private.choices if end.private else ()), *end.choices)


def _with_note(end: Finish, desk: Desk, language: str) -> str:
    """Return the answer's text, with a word on where the customer finds the rest."""
    if end.private is None:
        return end.text
    note = desk.texts.render(language, f"private.{end.private.audience}")
    return f"{end.text}\n{note}"


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
