"""What agent `tickets` does: ownership, timers, feedback and Stop."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from agents.texts import Texts
from hermes_bot.app.build import Stores, staff_of
from hermes_bot.bus.port import Handler
from hermes_bot.messages import payloads, ticket_payloads
from hermes_bot.people import Directory, Roles
from hermes_bot.settings import Settings
from hermes_bot.tickets.feedback import Feedback
from hermes_bot.tickets.ownership import Ownership
from hermes_bot.tickets.ticket import Priority
from hermes_bot.tickets.timers import Timers
from hermes_bot.tickets.waits import Waits


def ticket_handlers(
    settings: Settings,
    stores: Stores,
    roles: Roles,
    directory: Directory,
    texts: Texts,
    cancel: Callable[[str], Awaitable[int]],
) -> Mapping[str, Handler]:
    """Return the handlers by type; `cancel` ends what is in work in a context."""
    tickets, staff, render = stores.tickets, staff_of(settings), texts.render
    ownership = Ownership(tickets, roles, directory, staff=staff, render=render)
    timers = Timers(tickets, directory, waits=waits_of(settings), render=render)
    feedback = Feedback(tickets, roles, staff=staff, cancel=cancel, render=render)
    return {
        payloads.HANDOFF_CLICKED: ownership.on_clicked,
        payloads.TICKET_FAILED: ownership.on_failed,
        ticket_payloads.TICKET_CHANGED: timers.on_changed,
        ticket_payloads.TICKET_DUE: timers.on_due,
        ticket_payloads.TICKET_RATED: feedback.on_rated,
        ticket_payloads.TICKET_ANSWERED: feedback.on_answered,
        ticket_payloads.AGENT_STOPPED: feedback.on_stopped,
    }


def waits_of(settings: Settings) -> Waits:
    """Return how long tickets wait, and for whom."""
    tickets, handoff = settings.tickets, settings.handoff
    limits = tickets.first_response_s
    return Waits(
        nudge_after_s=tickets.nudge_after_s,
        close_after_s=tickets.close_after_s,
        first_response_s={
            Priority.LOW: limits.low,
            Priority.NORMAL: limits.normal,
            Priority.HIGH: limits.high,
            Priority.URGENT: limits.urgent,
        },
        escalate_after_s=handoff.escalate_after_s,
        hold_s=handoff.hold_s,
        on_call=handoff.on_call,
    )
