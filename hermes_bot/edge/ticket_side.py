"""Joins what the edge does for tickets: replies and the gate before them, the staff's cards, the painter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from hermes_bot.bus.port import Handler
from hermes_bot.edge.cards import CardTable
from hermes_bot.edge.gate import Gate
from hermes_bot.edge.handoff_cards import HandoffCards
from hermes_bot.edge.painter import Due
from hermes_bot.edge.poster import Poster
from hermes_bot.edge.posts import Posts
from hermes_bot.edge.replies import Replies
from hermes_bot.edge.sessions import Sessions
from hermes_bot.edge.slack_api import SlackApi
from hermes_bot.edge.staff_channel import StaffChannel
from hermes_bot.messages.payloads import HANDOFF_CHANGED, HANDOFF_NOTED, HANDOFF_REQUESTED, REPLY_READY
from hermes_bot.messages.ticket_payloads import TICKET_CARD
from hermes_bot.people import Directory
from hermes_bot.tickets.tickets import Tickets
from hermes_bot.tickets.waits import Render


def ticket_handlers(
    poster: Poster,
    api: SlackApi,
    *,
    tickets: Tickets,
    posts: Posts,
    directory: Directory,
    render: Render,
    clock: Callable[[], datetime],
    channel: str,
    on_call: Sequence[str] = (),
    due: Due | None = None,
    sessions: Sessions | None = None,
    stream_from: int = 0,
) -> Mapping[str, Handler]:
    """Return the handlers by type; cards stand in `channel`."""
    cards = HandoffCards(
        poster,
        CardTable(poster, api, directory, clock=clock),
        posts=posts,
        tickets=tickets,
        directory=directory,
        handoff_channel=channel,
        on_call=on_call,
        due=due,
        staff=StaffChannel(api, channel),
    )
    replies = Replies(
        poster, api, Gate(tickets), render, directory=directory, sessions=sessions, stream_from=stream_from
    )
    return {
        REPLY_READY: replies.on_ready,
        HANDOFF_REQUESTED: cards.on_requested,
        HANDOFF_CHANGED: cards.on_changed,
        HANDOFF_NOTED: cards.on_noted,
        TICKET_CARD: cards.on_card,
    }
