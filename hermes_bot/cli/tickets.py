"""`hermes-bot tickets`: what customers wrote about, who has it now, and everything that happened to it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from hermes_bot.cli.offline import Offline, with_offline
from hermes_bot.cli.output import AsJson, Config, Limit, say_json, say_table
from hermes_bot.cli.words import last

if TYPE_CHECKING:  # heavy; a command that only prints help must not wait for them
    from hermes_bot.tickets.journal import Entry
    from hermes_bot.tickets.sayings import Saying
    from hermes_bot.tickets.thread import ThreadLine
    from hermes_bot.tickets.ticket import Ticket

app = typer.Typer(help="What people asked for: list tickets, show one with all that happened.", no_args_is_help=True)

_COLUMNS = ("ticket", "status", "owner", "assignee", "priority", "agent", "requester", "rating", "updated", "subject")
_HISTORY = ("at", "by", "what", "was", "is now", "message")


@app.command("list")
def list_tickets(
    status: Annotated[str, typer.Option("--status", help="Only tickets in this status, such as with_human.")] = "",
    limit: Limit = 50,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """List tickets, newest first, and how many customers were helped."""

    async def look(parts: Offline) -> tuple[list[Ticket], dict[str, int]]:
        return list(await parts.tickets.listing(limit=limit, status=status)), dict(await parts.tickets.ratings())

    _check(status)
    found, ratings = with_offline(config, look)
    if as_json:
        say_json([asdict(ticket) for ticket in found])
        return
    rows = [
        (t.id, t.status, t.owner, t.assignee, t.priority, t.agent, t.requester, t.rating, t.updated_at, t.subject)
        for t in found
    ]
    say_table(_COLUMNS, rows, empty="There are no tickets.")
    typer.echo(f"Thumbs: {ratings['up']} up, {ratings['down']} down.")


def _check(status: str) -> None:
    from hermes_bot.tickets.ticket import TicketStatus

    if status and status not in list(TicketStatus):
        raise typer.BadParameter(f"{status!r} is not one of {', '.join(TicketStatus)}.", param_hint="--status")


@app.command("show")
def show_ticket(
    ticket_id: Annotated[str, typer.Argument(help="The ticket, such as T-17.")],
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Show a ticket, what the customer said in it, and every change with who made it."""

    async def look(parts: Offline) -> tuple[Ticket, list[ThreadLine], list[Saying], list[Entry]]:
        from hermes_bot.tickets.journal import TicketJournal
        from hermes_bot.tickets.sayings import Sayings
        from hermes_bot.tickets.thread_lines import ThreadLines

        tickets = parts.tickets
        ticket = await tickets.get(ticket_id)
        said = list(await Sayings.of(tickets).all(ticket_id))
        before = list(await ThreadLines.of(tickets).all(ticket_id))
        return ticket, before, said, list(await TicketJournal.of(tickets).history(ticket_id))

    ticket, before, said, history = with_offline(config, look)
    if as_json:
        told = {"thread": [asdict(each) for each in before], "said": [asdict(each) for each in said]}
        told |= {"history": [asdict(each) for each in history]}
        say_json(asdict(ticket) | told)
        return
    say_table(("", ""), [(name, value) for name, value in _about(ticket) if value], empty="")
    if before:
        say_table(("before, in the thread", "what"), [(each.writer.value, each.text) for each in before], empty="")
    say_table(("said at", "what"), [(each.at, each.text) for each in said], empty="Nothing that still stands.")
    rows = [(each.at, each.by, each.what, each.was, each.now, each.message_id) for each in history]
    say_table(_HISTORY, rows, empty="Nothing happened yet.")


def _about(ticket: Ticket) -> list[tuple[str, str]]:
    waited = "" if ticket.first_response_at is None else last(ticket.first_response_at, ticket.opened_at)
    late = " (late)" if ticket.response_late else ""
    return [
        ("ticket", ticket.id),
        ("status", ticket.status.value),
        ("owner", ticket.owner.value),
        ("assignee", ticket.assignee),
        ("priority", ticket.priority.value),
        ("route", ticket.route),
        ("why", ticket.why),
        ("requester", ticket.requester),
        ("subject", ticket.subject),
        ("source deleted", "yes" if ticket.source_deleted else ""),
        ("first answer after", f"{waited}{late}" if waited else f"none yet{late}"),
        ("rating", ticket.rating),
        ("note for the bot", ticket.handoff_note),
    ]
