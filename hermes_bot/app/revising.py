"""Checks what somebody typed into the form behind Edit: the tool's schema, its policy, on behalf of whoever asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agents.caller import caller_of
from agents.desk import Desk
from hermes_bot.approvals.changes import Revised
from hermes_bot.approvals.request import ApprovalRequest
from hermes_bot.tools.outcome import Invalid, NeedsApproval, Refused
from hermes_bot.tools.registry import Tool

REFUSED = "the tool refuses it ({code})"


class Revising:
    """The approvals' `Revise`: nothing runs here, whatever the level of the call is by now."""

    def __init__(self, desk: Callable[[bool], Desk]) -> None:
        self._desk = desk

    async def __call__(self, request: ApprovalRequest, arguments: Mapping[str, str]) -> Revised:
        """Return what the typed arguments make of the request, or what is wrong with them."""
        desk = self._desk(False)
        tools = {tool.name: tool for tool in desk.toolbox.tools_for(request.agent)}
        tool = tools.get(request.tool)
        if tool is None:
            return Revised(arguments={}, problem=f"the tool {request.tool} is not there any more")
        ticket = await desk.tickets.get(request.ticket_id)
        caller = await caller_of(
            ticket, desk, agent=request.agent, language=ticket.language, asked_at=request.created_at
        )
        outcome = await desk.toolbox.preview(request.tool, typed(tool, arguments), caller)
        match outcome:
            case NeedsApproval():
                return Revised(
                    arguments=outcome.arguments,
                    title=outcome.title,
                    shown=outcome.shown,
                    level=outcome.level,
                    internal=outcome.internal,
                )
            case Invalid(problems=problems):
                return Revised(arguments={}, problem="; ".join(problems))
            case Refused(code=code):
                return Revised(arguments={}, problem=REFUSED.format(code=code))


def typed(tool: Tool, arguments: Mapping[str, str]) -> dict[str, Any]:
    """Return the arguments without those that were left empty and are no texts."""
    properties = tool.parameters.get("properties", {})
    return {name: text for name, text in arguments.items() if text or _is_text(properties.get(name, {}))}


def _is_text(schema: Mapping[str, Any]) -> bool:
    kinds = [schema.get("type"), *(each.get("type") for each in schema.get("anyOf", ()))]
    return "string" in kinds
