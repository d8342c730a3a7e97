"""The shape of every message type that Hermes ships: which struct its data is, and the JSON Schema of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from hermes_bot.messages import approval_payloads, payloads, surface_payloads, task_payloads, ticket_payloads
from hermes_bot.messages.message import Message

DIALECT = "https://json-schema.org/draft/2020-12/schema"

PAYLOADS: Mapping[str, type[msgspec.Struct]] = {
    payloads.TICKET_CREATED: payloads.Inbound,
    payloads.TICKET_REPLIED: payloads.Inbound,
    payloads.TICKET_CLICKED: payloads.Clicked,
    payloads.TICKET_ORDER: payloads.Work,
    payloads.TICKET_REFUND: payloads.Work,
    payloads.TICKET_HANDOFF: payloads.Work,
    payloads.TICKET_UNKNOWN: payloads.Work,
    payloads.TICKET_FAILED: payloads.Failed,
    payloads.REPLY_READY: payloads.Reply,
    payloads.APPROVAL_REQUESTED: payloads.ApprovalRequested,
    payloads.APPROVAL_CLICKED: payloads.ApprovalClicked,
    payloads.APPROVAL_SETTLED: payloads.ApprovalSettled,
    payloads.APPROVAL_EXPIRED: payloads.ApprovalRequested,
    approval_payloads.APPROVAL_CHANGED: payloads.ApprovalRequested,
    approval_payloads.APPROVAL_REMINDED: payloads.ApprovalRequested,
    approval_payloads.APPROVAL_EDITED: approval_payloads.ApprovalEdited,
    approval_payloads.APPROVAL_ASKED: approval_payloads.ApprovalAsked,
    approval_payloads.APPROVAL_ANSWERED: approval_payloads.ApprovalAnswered,
    payloads.HANDOFF_REQUESTED: payloads.HandoffRequested,
    payloads.HANDOFF_CLICKED: payloads.HandoffClicked,
    payloads.HANDOFF_CHANGED: payloads.HandoffChanged,
    payloads.HANDOFF_NOTED: payloads.HandoffNoted,
    payloads.ALARM_RAISED: payloads.AlarmRaised,
    payloads.ROUTE_CORRECTED: payloads.RouteCorrected,
    payloads.PROPOSAL_MADE: payloads.ProposalMade,
    payloads.PROPOSAL_CLICKED: payloads.ProposalClicked,
    payloads.PROPOSAL_SETTLED: payloads.ProposalMade,
    payloads.POST_CHECK: payloads.PostCheck,
    payloads.AGENT_STEP: payloads.AgentStep,
    ticket_payloads.TICKET_EDITED: ticket_payloads.Edited,
    ticket_payloads.TICKET_DELETED: ticket_payloads.Deleted,
    ticket_payloads.AGENT_STOPPED: ticket_payloads.Stopped,
    ticket_payloads.TICKET_CHANGED: ticket_payloads.TicketChanged,
    ticket_payloads.TICKET_DUE: ticket_payloads.TicketDue,
    ticket_payloads.TICKET_GATHERED: ticket_payloads.TicketGathered,
    ticket_payloads.TICKET_ANSWERED: ticket_payloads.TicketAnswered,
    ticket_payloads.TICKET_RATED: ticket_payloads.TicketRated,
    ticket_payloads.TICKET_CARD: ticket_payloads.TicketCard,
    surface_payloads.COMMAND_GIVEN: surface_payloads.Command,
    surface_payloads.SHORTCUT_USED: surface_payloads.Shortcut,
    surface_payloads.HOME_OPENED: surface_payloads.Home,
    surface_payloads.PROMPTS_WANTED: surface_payloads.Prompts,
    surface_payloads.LANGUAGE_CHOSEN: surface_payloads.LanguageChosen,
    surface_payloads.PERSON_FORGET: surface_payloads.PersonForget,
    task_payloads.TASK_RESULT: task_payloads.TaskResult,
    task_payloads.TASK_ERROR: task_payloads.TaskError,
    task_payloads.TASK_DUE: task_payloads.TaskDue,
}

Schema = dict[str, Any]


def data_schema(message_type: str) -> Schema:
    """Return the JSON Schema of the type's `data`; raise KeyError for a type that Hermes does not ship."""
    return {"$schema": DIALECT, "title": message_type, **_schema(PAYLOADS[message_type])}


def envelope_schema() -> Schema:
    """Return the JSON Schema of the envelope as it is written; fields beside the known ones are allowed."""
    schema = _schema(Message)
    envelope = schema["$defs"]["Message"]
    del envelope["additionalProperties"], envelope["properties"]["extra"]
    return {"$schema": DIALECT, "title": "message", **schema}


def all_schemas() -> Mapping[str, Schema]:
    """Return every schema by its name: the types, and `message` for the envelope."""
    return {"message": envelope_schema()} | {name: data_schema(name) for name in PAYLOADS}


def _schema(struct: type[msgspec.Struct]) -> Schema:
    (reference,), definitions = msgspec.json.schema_components([struct], ref_template="#/$defs/{name}")
    return {**reference, "$defs": definitions}
