"""Commands that do what a button does: each becomes the message that the button would have sent.

Whether the person may is decided where the button's press is decided, so that both ways have one answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from hermes_bot.edge.approval_clicks import ToolOf
from hermes_bot.edge.cards import Approvals, Tickets
from hermes_bot.edge.command_words import QUOTES, Words
from hermes_bot.edge.proposal_cards import Corrections
from hermes_bot.edge.views.edit_modal import typed, written_as
from hermes_bot.errors import PermanentError
from hermes_bot.messages.approval_payloads import APPROVAL_ASKED, APPROVAL_EDITED, ApprovalAsked, ApprovalEdited
from hermes_bot.messages.message import PRIORITY_OPERATOR, Message
from hermes_bot.messages.payloads import (
    APPROVAL_CLICKED,
    HANDOFF_CLICKED,
    PROPOSAL_CLICKED,
    ROUTE_CORRECTED,
    ApprovalClicked,
    HandoffClicked,
    ProposalClicked,
    RouteCorrected,
)
from hermes_bot.messages.surface_payloads import Command
from hermes_bot.messages.ticket_payloads import AGENT_STOPPED, TICKET_RATED, Stopped, TicketRated
from hermes_bot.tickets.ticket import Priority, Ticket

CODE_CHARACTERS = 8
ON_TICKETS = frozenset({"claim", "take", "return", "solve", "reopen", "assign", "priority", "reply", "continue"})
ON_APPROVALS = frozenset({"approve", "reject", "ask", "edit"})
ON_PROPOSALS = frozenset({"accept", "decline"})
OWN = frozenset({"rate", "stop"})
ACTS = ON_TICKETS | ON_APPROVALS | ON_PROPOSALS | OWN | {"wrong"}
WITH_TEXT = frozenset({"reply", "return"})
NAMES = {"continue": "hold_once"}
USAGE, UNKNOWN, NOT_OURS = "command.usage", "command.unknown_id", "command.not_yours"
_CHANGE = re.compile(r"(\w+)\s?=\s?([\"“„«「][^\"“”„«»「」]*[\"”“»」]|\S+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """The message that a command stands for; or the key of the text that says why there is none.

    `USAGE` stands for the text that says how this command is written.
    """

    type: str = ""
    body: msgspec.Struct | None = None
    context_id: str = ""
    trouble: str = ""

    def message(self, command: Message) -> Message:
        """Return the message, as one that follows from the command."""
        task = f"{command.task}:act"
        return command.child(self.type, self.body, context_id=self.context_id, task_id=task, priority=PRIORITY_OPERATOR)


class CommandActs:
    """Reads what an act is about. A code is the first characters of what was shown: see `code_of`."""

    def __init__(
        self, tickets: Tickets, approvals: Approvals, corrections: Corrections | None, tool_of: ToolOf
    ) -> None:
        self._tickets = tickets
        self._approvals = approvals
        self._corrections = corrections
        self._tool_of = tool_of

    async def of(self, words: Words, command: Command, *, staff: bool) -> Act:
        """Return the act. Who is not of the staff may act on their own tickets alone, and learns of no other."""
        if not words.first:
            return Act(trouble=USAGE)
        try:
            if words.verb in ON_APPROVALS:
                return await self._on_approval(words, command)
            if words.verb in ON_PROPOSALS:
                return await self._on_proposal(words, command)
            ticket = await self._tickets.get(words.first.upper())
            own = ticket.requester == command.user
            if words.verb in OWN and not (own or (staff and words.verb == "stop")):
                return Act(trouble=NOT_OURS)
            return self._on_ticket(words, command, ticket)
        except PermanentError:
            return Act(trouble=NOT_OURS if words.verb in OWN else UNKNOWN)

    async def _on_approval(self, words: Words, command: Command) -> Act:
        request = await self._approvals.get(_approval_id(words.first))
        code, _, rest = words.rest.partition(" ")
        if len(code) < CODE_CHARACTERS:
            return Act(trouble="command.code_missing")
        shown = request.shown_hash if request.shown_hash.startswith(code.lower()) else code
        place = {"approval_id": request.id, "shown_hash": shown, **_who(command), "message_ts": ""}
        body: msgspec.Struct
        if words.verb == "ask":
            if not rest.strip():
                return Act(trouble=USAGE)
            type_, body = APPROVAL_ASKED, ApprovalAsked(question=rest.strip(), **place)
        elif words.verb == "edit":
            tool = self._tool_of(request.tool)
            schema: Mapping[str, Mapping[str, object]] = tool.parameters.get("properties", {}) if tool else {}
            written = {name: text.strip(QUOTES) for name, text in _CHANGE.findall(rest)}
            changed = {name: typed(name, text, schema.get(name, {})) for name, text in written.items()}
            if not changed:
                return Act(trouble=USAGE)
            arguments = {
                name: written_as(name, value) for name, value in request.arguments.items() if value is not None
            }
            type_, body = APPROVAL_EDITED, ApprovalEdited(arguments=arguments | changed, **place)
        else:
            type_ = APPROVAL_CLICKED
            body = ApprovalClicked(decision=words.verb, reason=rest.strip(), **place)
        return Act(type=type_, body=body, context_id=request.context_id)

    async def _on_proposal(self, words: Words, command: Command) -> Act:
        if self._corrections is None:
            return Act(trouble="command.unknown_id")
        proposal = await self._corrections.get(words.first.upper())
        code = words.rest.lower()
        if len(code) < CODE_CHARACTERS:
            return Act(trouble="command.code_missing")
        shown = proposal.shown_hash if proposal.shown_hash.startswith(code) else code
        body = ProposalClicked(
            proposal_id=proposal.id, decision=words.verb, shown_hash=shown, **_who(command), message_ts=""
        )
        return Act(type=PROPOSAL_CLICKED, body=body, context_id=f"proposal:{proposal.id}")

    def _on_ticket(self, words: Words, command: Command, ticket: Ticket) -> Act:
        who = _who(command)
        if words.verb == "stop":
            stopped = Stopped(
                team=command.team,
                channel=ticket.channel,
                thread_ts=ticket.thread_ts,
                user=command.user,
                conversation=ticket.context_id,
            )
            return Act(type=AGENT_STOPPED, body=stopped, context_id=f"stop:{ticket.context_id}")
        if words.verb == "rate":
            rating = words.rest.lower()
            if rating not in ("up", "down"):
                return Act(trouble=USAGE)
            rated = TicketRated(ticket_id=ticket.id, rating=rating, **who)
            return Act(type=TICKET_RATED, body=rated, context_id=ticket.context_id)
        if words.verb == "wrong":
            if not words.rest:
                return Act(trouble=USAGE)
            corrected = RouteCorrected(ticket_id=ticket.id, route=words.rest.lower(), text=ticket.subject, **who)
            return Act(type=ROUTE_CORRECTED, body=corrected, context_id=ticket.context_id)
        value = command.mentioned if words.verb == "assign" else words.rest.lower() if words.verb == "priority" else ""
        nobody, odd = words.verb == "assign" and not value, words.verb == "priority" and value not in list(Priority)
        if nobody or odd or (words.verb == "reply" and not words.rest):
            return Act(trouble=USAGE)
        text = words.rest if words.verb in WITH_TEXT else ""
        action = NAMES.get(words.verb, words.verb)
        clicked = HandoffClicked(ticket_id=ticket.id, action=action, **who, message_ts="", value=value, text=text)
        return Act(type=HANDOFF_CLICKED, body=clicked, context_id=ticket.context_id)


def code_of(shown_hash: str) -> str:
    """Return what a person types to say that they saw this and nothing else."""
    return shown_hash[:CODE_CHARACTERS]


def _approval_id(written: str) -> str:
    return f"APR-{written[4:].lower()}" if written.upper().startswith("APR-") else written


def _who(command: Command) -> dict[str, str]:
    return {"user": command.user, "team": command.team, "channel": command.channel}
