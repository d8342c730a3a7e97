"""Builds what decides about approvals: rules, their version for the audit, the handlers of agent `approvals`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from agents.desk import Desk
from agents.replies import reply
from hermes_bot.approvals.access import Access
from hermes_bot.approvals.approvals import Approvals
from hermes_bot.approvals.changes import ChangeDesk, Revise
from hermes_bot.approvals.clicks import ApprovalDesk
from hermes_bot.approvals.request import ApprovalRequest
from hermes_bot.approvals.rules import ANY_TOOL, ApprovalRule, ApprovalRules
from hermes_bot.approvals.withdrawals import Sources, Withdrawals
from hermes_bot.bus.port import Delivery, Handler
from hermes_bot.errors import SettingsError
from hermes_bot.messages import approval_payloads, payloads, ticket_payloads
from hermes_bot.messages.message import Message
from hermes_bot.people import Roles
from hermes_bot.settings import Settings
from hermes_bot.settings.problems import Problem, did_you_mean, refuse
from hermes_bot.settings.yaml_file import KeyPath, read_yaml
from hermes_bot.tools.toolbox import Toolbox

ASKS_NOBODY = frozenset({"L0", "L1"})


def rules_of(settings: Settings) -> ApprovalRules:
    """Return who may allow what."""
    approvals = settings.approvals
    return ApprovalRules(
        [ApprovalRule(**rule.model_dump()) for rule in approvals.rules],
        approvers=approvals.approvers,
        allow_requester=approvals.allow_requester,
        channel=approvals.channel,
    )


def policy_version(settings: Settings) -> str:
    """Return a short name of the rules and policies in force: another as soon as one of them changes."""
    digest = hashlib.sha256(settings.approvals.model_dump_json().encode())
    if settings.policies.file.exists():
        digest.update(settings.policies.file.read_bytes())
    return digest.hexdigest()[:16]


def refuse_unknown_tools(settings: Settings, toolbox: Toolbox) -> None:
    """Raise SettingsError, with file and line, for a rule about a tool that does not exist or never asks anybody."""
    levels = {tool.name: tool.level for tool in toolbox.listing()}
    problems = []
    for number, rule in enumerate(settings.approvals.rules):
        path: KeyPath = ("approvals", "rules", number, "tool")
        if rule.tool == ANY_TOOL or levels.get(rule.tool, "L0") not in ASKS_NOBODY or toolbox.comes_later(rule.tool):
            continue
        if rule.tool in levels:
            text = f"names {rule.tool!r}, which runs without an approval ({levels[rule.tool]})"
        else:
            near = did_you_mean(rule.tool, levels)
            hint = f"did you mean {near!r}?" if near else f"there are {', '.join(sorted(levels))}"
            text = f"names {rule.tool!r}, which is no tool; {hint}"
        problems.append(_problem(settings, path, f"approvals.rules[{number}].tool {text}"))
    if problems:
        refuse(problems)


def _problem(settings: Settings, path: KeyPath, text: str) -> Problem:
    """Return the problem at its line, where the settings came from a file that is still there."""
    try:
        return read_yaml(Path(settings.source)).problem(path, text)
    except SettingsError:
        return Problem(text=text, key=".".join(str(part) for part in path))


def approval_handlers(
    settings: Settings,
    approvals: Approvals,
    roles: Roles,
    desk: Callable[[bool], Desk],
    revise: Revise,
    sources: Sources,
) -> Mapping[str, Handler]:
    """Return the handlers of agent `approvals`, by type."""
    access = Access(roles, rules_of(settings))
    cards = ApprovalDesk(approvals, access, remind_before_s=settings.approvals.remind_before_s)
    changes = ChangeDesk(approvals, access, revise=revise, tell=_Telling(desk))
    withdrawals = Withdrawals(approvals, access, sources)

    async def on_requested(message: Message, delivery: Delivery) -> Sequence[Message]:
        return await withdrawals.on_requested(message, delivery) or await cards.on_requested(message, delivery)

    return {
        payloads.APPROVAL_REQUESTED: on_requested,
        payloads.APPROVAL_CLICKED: cards.on_clicked,
        payloads.APPROVAL_EXPIRED: cards.on_expired,
        approval_payloads.APPROVAL_EDITED: changes.on_edited,
        approval_payloads.APPROVAL_ASKED: changes.on_asked,
        ticket_payloads.TICKET_EDITED: withdrawals.on_edited,
        ticket_payloads.TICKET_DELETED: withdrawals.on_deleted,
        ticket_payloads.AGENT_STOPPED: withdrawals.on_stopped,
    }


class _Telling:
    """Says something to the customer in the ticket's conversation."""

    def __init__(self, desk: Callable[[bool], Desk]) -> None:
        self._desk = desk

    async def __call__(self, message: Message, request: ApprovalRequest, key: str, **values: str) -> Message:
        """Return the reply with the text of that key, in the customer's language."""
        desk = self._desk(False)
        ticket = await desk.tickets.get(request.ticket_id)
        return reply(message, ticket, desk.texts.render(ticket.language, key, **values))
