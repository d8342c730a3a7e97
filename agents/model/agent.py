"""An agent that stands in the agents' file alone: a prompt, tools, and what it may let others do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agents.action import CallTool
from agents.case import case_of
from agents.desk import Desk
from agents.planner import Observation, Step, Stepwise
from agents.serving import serve
from agents.settling import asked_anew
from agents.stepping import resume
from hermes_bot.approvals.request import ApprovalRequest
from hermes_bot.errors import PermanentError
from hermes_bot.messages.message import Kind, Message
from hermes_bot.messages.payloads import APPROVAL_SETTLED, EDGE, ApprovalSettled, read
from hermes_bot.tickets.ticket import TicketStatus
from hermes_bot.tools.outcome import Refused


class ModelAgent:
    """Handles its routes' messages (a customer's or a task), its own steps, and what becomes of its approvals."""

    def __init__(
        self, name: str, planner: Stepwise, *, delegates: Sequence[str] = (), capabilities: Mapping[str, float]
    ) -> None:
        self._name = name
        self._planner = planner
        self.delegates = tuple(delegates)
        self.capabilities = dict(capabilities)

    @property
    def name(self) -> str:
        """The name under which it subscribes."""
        return self._name

    async def handle(self, message: Message, desk: Desk) -> list[Message]:
        """Return the next step of the work, or its end."""
        if message.type == APPROVAL_SETTLED:
            return await self._settled(message, desk)
        return await serve(message, desk, agent=self._name, planner=self._planner)

    async def _settled(self, message: Message, desk: Desk) -> list[Message]:
        settled = read(message, ApprovalSettled)
        request = await desk.approvals.get(settled.approval_id)
        runs = desk.agent_runs
        key = await runs.waiting_for(settled.approval_id, self._name, request.ticket_id) if runs is not None else ""
        kept = await runs.load(key, message_id=message.id) if runs is not None and key else None
        if kept is None:
            raise PermanentError(f"no run of agent {self._name} waits for {settled.approval_id}")
        if asked_anew(settled) and kept.origin.kind is not Kind.REQUEST:  # a task's run tells who asked all the same
            await desk.tickets.update(request.ticket_id, status=TicketStatus.WORKING)
            return []
        call = CallTool(tool=request.tool, arguments=request.arguments)
        if kept.fingerprint != self._planner.fingerprint:  # nothing runs any more; the run itself says so to people
            seen = Observation(status="rejected", code="agent_changed")
            await desk.approvals.record_result(request.id, "Not carried out: the agent or its tools were changed")
        elif settled.status == "approved":
            seen = await self._run(message, kept.origin, desk, request)
        else:
            why = {"reason": settled.reason} if settled.reason else {}
            seen = Observation(status="rejected", code=settled.status, result=why)
        if request.ticket_id:
            await desk.tickets.update(request.ticket_id, status=TicketStatus.WORKING)
        step = Step(call=call, observation=seen)
        outputs = await resume(message, desk, planner=self._planner, key=key, step=step)
        return [*outputs, message.child(APPROVAL_SETTLED, message.data, recipient=EDGE, context_id=request.context_id)]

    async def _run(self, message: Message, origin: Message, desk: Desk, request: ApprovalRequest) -> Observation:
        """Return what the approved tool gave; it runs once, however often this is handled."""
        arguments = await desk.approvals.approved_arguments(request.id)
        case = await case_of(origin, message, desk, agent=self._name)
        outcome = await desk.toolbox.run_approved(
            request.tool, arguments, case.caller, approval_id=request.id, repeated=desk.redelivered
        )
        if isinstance(outcome, Refused):
            await desk.approvals.record_result(request.id, f"Not carried out: {outcome.code}")
            return Observation(status="refused", code=outcome.code)
        await desk.approvals.record_result(request.id, f"{request.tool}: done")
        return Observation(status="done", result=outcome.result)
