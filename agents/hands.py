"""Carries out the tool calls that a planner decides on; what a person must allow first is asked for, and not run."""

from __future__ import annotations

from agents.action import CallTool
from agents.case import Case
from agents.desk import Desk
from agents.planner import Observation, Run
from hermes_bot.approvals.request import NewRequest
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import APPROVAL_REQUESTED, ApprovalRequested
from hermes_bot.tools.outcome import Done, Invalid, NeedsApproval, Refused

IN_OWN_WORDS = frozenset({"reason"})  # arguments that do not make a request another one


class Hands:
    """Acts for one run. `key` names the run; the cards that approvals need are collected in `cards`."""

    def __init__(self, message: Message, case: Case, desk: Desk, *, key: str) -> None:
        self._message = message
        self._case = case
        self._desk = desk
        self._key = key
        self.cards: list[Message] = []

    async def act(self, call: CallTool, run: Run) -> Observation:
        """Return what came of the call; a privileged one is asked for and not run."""
        key = f"{self._key}:{len(run.steps)}"
        arguments = call.written or call.arguments
        outcome = await self._desk.toolbox.call(call.tool, arguments, self._case.caller, key=key)
        match outcome:
            case Done(result=result):
                return Observation(status="done", result=result)
            case Refused(code=code):
                return Observation(status="refused", code=code)
            case Invalid(problems=problems):
                return Observation(status="invalid", problems=problems)
            case NeedsApproval():
                return await self._ask(outcome, key)

    async def _ask(self, needed: NeedsApproval, key: str) -> Observation:
        case, approvals = self._case, self._desk.approvals
        requested_by = case.ticket.requester if case.ticket else ""
        same = {name: value for name, value in needed.arguments.items() if name not in IN_OWN_WORDS}
        if requested_by and await approvals.waiting_elsewhere(
            key=key, requested_by=requested_by, tool=needed.tool, same=same
        ):
            return Observation(status="asked_before")
        context_id = case.ticket.context_id if case.ticket else self._message.context_id
        new = NewRequest(
            key=key,
            ticket_id=case.ticket.id if case.ticket else "",
            context_id=context_id,
            requested_by=requested_by,
            agent=case.caller.agent,
            tool=needed.tool,
            level=needed.level,
            arguments=needed.arguments,
            title=needed.title,
            shown=needed.shown,
            internal=needed.internal,
            fingerprint=needed.fingerprint,
            source_ts=case.work.source_ts if case.work else "",
            trace_id=self._message.trace_id,
        )
        request = await approvals.request(new)
        card = ApprovalRequested(approval_id=request.id, ticket_id=request.ticket_id)
        self.cards.append(self._message.child(APPROVAL_REQUESTED, card, context_id=context_id))
        return Observation(status="waiting", result={"approval_id": request.id})
