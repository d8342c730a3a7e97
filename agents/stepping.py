"""Carries a run on, one step a message: decided, acted on, kept. Any worker may take the next step.

A run that waits (for an approval, for parts that others do) is only kept; what it waits for brings it back. A run that
was begun by another agent, with other tools or another prompt than now is not carried on: people get it.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec

from agents.action import Action, CallTool, Delegate, Finish, Outcome
from agents.case import Case, case_of
from agents.delegating import delegated, too_often
from agents.desk import Desk
from agents.ending import ended
from agents.hands import Hands
from agents.loop import known_of, work_through
from agents.planner import GaveUp, Observation, Run, Step, Stepwise
from agents.recalling import learned, parts_ended, recalled
from agents.run_state import RunState, kept_action, kept_state, read_action, read_state
from hermes_bot.errors import PermanentError
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import AGENT_STEP, AgentStep, read
from hermes_bot.messages.task_payloads import TASK_RESULT, TaskResult, TaskStatus
from hermes_bot.store.agent_runs import AgentRuns, KeptRun, RunStatus
from hermes_bot.tickets.ticket import Owner
from hermes_bot.tools.once import MAY_HAVE_RUN

CHANGED = ("Why the bot stopped", "The agent, its tools or its prompt were changed while this was in work.")
REPEATED = "This call was made before with the same arguments; its result stands above. Go on with it, or finish."

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One run at one step, with what it needs to act."""

    message: Message
    desk: Desk
    runs: AgentRuns
    planner: Stepwise
    kept: KeptRun
    case: Case
    state: RunState

    @property
    def run(self) -> Run:
        """The run as planners see it."""
        return replace(self.case.run, steps=self.state.steps)

    def with_state(self, state: RunState) -> Turn:
        """Return the turn in another state."""
        return replace(self, state=state)

    async def save(self, status: RunStatus) -> None:
        """Keep the state that results from this message."""
        await self.runs.save(self.kept.key, kept_state(self.state), status, message_id=self.message.id)


async def begin(message: Message, desk: Desk, *, agent: str, planner: Stepwise) -> list[Message]:
    """Return what follows from the first step on a message."""
    runs = _runs(desk)
    fresh = KeptRun(
        key=f"{message.id}:{agent}",
        agent=agent,
        ticket_id=str(message.data.get("ticket_id") or ""),
        fingerprint=planner.fingerprint,
        status=RunStatus.WORKING,
        origin=message,
        state=kept_state(RunState()),
    )
    kept = await runs.begin(fresh)
    return await _stepped(message, desk, planner, kept)


async def go_on(message: Message, desk: Desk, *, agent: str, planner: Stepwise) -> list[Message]:
    """Return what follows from the next step of a run: its own word, or the end of what it delegated."""
    result = read(message, TaskResult) if message.type == TASK_RESULT else None
    key = str(result.kept.get("run", "")) if result else read(message, AgentStep).run
    kept = await _runs(desk).load(key, message_id=message.id)
    if kept is None:
        raise PermanentError(f"run {key} of agent {agent} is not known any more")
    if result is not None:
        await parts_ended(desk, await case_of(kept.origin, message, desk, agent=agent), result)
    return await _stepped(message, desk, planner, kept, *([_of_parts(result)] if result else []))


async def resume(message: Message, desk: Desk, *, planner: Stepwise, key: str, step: Step) -> list[Message]:
    """Return what follows once `step` tells the run what became of an approval that it waited for."""
    kept = await _runs(desk).load(key, message_id=message.id)
    if kept is None:
        raise PermanentError(f"run {key} is not known any more")
    return await _stepped(message, desk, planner, kept, step)


def _runs(desk: Desk) -> AgentRuns:
    if desk.agent_runs is None:
        raise PermanentError("this desk keeps no runs")
    return desk.agent_runs


async def _stepped(message: Message, desk: Desk, planner: Stepwise, kept: KeptRun, *news: Step) -> list[Message]:
    case = await recalled(await case_of(kept.origin, message, desk, agent=kept.agent), message, desk)
    if case.ticket is not None and case.ticket.owner is not Owner.BOT:
        return []  # people have the ticket now
    try:
        state = read_state(kept.state)
    except msgspec.ValidationError:
        state = RunState()
        kept = msgspec.structs.replace(kept, fingerprint="")
    for step in news:
        state = state.after(step)
    turn = Turn(message=message, desk=desk, runs=_runs(desk), planner=planner, kept=kept, case=case, state=state)
    if kept.fingerprint != planner.fingerprint:
        log.error("run not carried on: its agent changed", extra={"agent": kept.agent, "message_id": message.id})
        return await _end(turn, Finish(outcome=Outcome.HANDOFF, reason="default", known=(CHANGED, *known_of(turn.run))))
    if state.ruled:
        return await _by_rules(turn)
    return await _act(turn, await _decided(turn))


async def _decided(turn: Turn) -> Action:
    """Return what an earlier attempt at this message has decided, or what the planner decides now."""
    if turn.kept.decided is not None:
        return read_action(turn.kept.decided)
    if len(turn.state.steps) >= turn.planner.max_steps:
        return Finish(
            outcome=Outcome.HANDOFF, reason="too_many_steps", known=known_of(turn.run), memory=turn.run.memory
        )
    try:
        action = await turn.planner.plan(turn.run)
    except GaveUp as error:
        log.warning(
            "model gave up", extra={"agent": turn.kept.agent, "message_id": turn.message.id, "error": str(error)}
        )
        action = Delegate()  # to the rules: stands for "somebody else decides"
    await turn.runs.decide(turn.kept.key, kept_action(action), message_id=turn.message.id)
    return action


async def _act(turn: Turn, action: Action) -> list[Message]:
    match action:
        case CallTool():
            return await _call(turn, action)
        case Delegate(parts=parts) if parts:
            return await _share(turn, action)
        case Delegate(type=""):
            return await _by_rules(turn.with_state(msgspec.structs.replace(turn.state, ruled=True)))
        case _:
            return await _end(turn, action)


async def _call(turn: Turn, call: CallTool) -> list[Message]:
    """Return the word for the next step, with the card that an approval needs."""
    if turn.run.seen(call) is not None:
        if turn.state.repeats:
            return await _end(turn, Finish(outcome=Outcome.HANDOFF, reason="nothing_more", known=known_of(turn.run)))
        seen = Observation(status="repeated", problems=(REPEATED,))
        state = msgspec.structs.replace(turn.state, repeats=1)
        return await _next(turn.with_state(state.after(Step(call=call, observation=seen))))
    hands = Hands(turn.message, turn.case, turn.desk, key=turn.kept.key)
    observation = await hands.act(call, turn.run)
    step = Step(call=call, observation=observation)
    await learned(turn.desk, turn.kept.agent, step)
    turn = turn.with_state(turn.state.after(step))
    if observation.code == MAY_HAVE_RUN:  # a planner could try it again under another key; a person looks
        end = Finish(outcome=Outcome.HANDOFF, reason="tool_refused", known=known_of(turn.run))
        return [*hands.cards, *await _end(turn, end)]
    if observation.status == "waiting" and turn.run.task:  # who asked for the task can wait; a customer is told
        await turn.save(RunStatus.WAITING)
        return hands.cards
    return [*hands.cards, *await _next(turn)]


async def _next(turn: Turn) -> list[Message]:
    """Return the message that is the next step. It is not a hop: it counts as far as this one came."""
    await turn.save(RunStatus.WORKING)
    ticket = turn.case.ticket
    body = AgentStep(run=turn.kept.key, step=len(turn.state.steps) + 1, ticket_id=ticket.id if ticket else "")
    message = turn.message.child(AGENT_STEP, body, recipient=turn.kept.agent)
    return [msgspec.structs.replace(message, hops=turn.message.hops)]


async def _share(turn: Turn, action: Delegate) -> list[Message]:
    """Return the messages of the parts; the run rests until all of them have ended."""
    refused = too_often(turn.state, action, turn.planner.rounds)
    if refused and turn.state.refusals:
        return await _end(turn, Finish(outcome=Outcome.HANDOFF, reason="too_many_steps", known=known_of(turn.run)))
    if refused:
        state = msgspec.structs.replace(turn.state, refusals=1)
        return await _next(turn.with_state(state.after(refused)))
    sent, state = await delegated(turn.message, turn.desk, turn.kept, turn.run, turn.state, action)
    await turn.with_state(state).save(RunStatus.WAITING)
    return sent


def _of_parts(result: TaskResult) -> Step:
    """Return what came of the parts as a step of the run."""
    failed = result.status is TaskStatus.FAILED
    parts = {name: each.result or {"error": each.error} for name, each in result.parts.items()}
    observation = Observation(
        status="failed" if failed else "done", result=parts, problems=(result.error,) if result.error else ()
    )
    call = CallTool(tool="delegate", arguments={"round": result.kept.get("round", 1), "tasks": list(result.parts)})
    return Step(call=call, observation=observation)


async def _by_rules(turn: Turn) -> list[Message]:
    """Return how the rules end the run, from where it is; without rules people get it."""
    rules = turn.planner.fallback
    if rules is None or turn.run.task:
        end = Finish(outcome=Outcome.HANDOFF, reason="default", known=known_of(turn.run), memory=turn.run.memory)
        return await _end(turn, end)
    hands = Hands(turn.message, turn.case, turn.desk, key=turn.kept.key)
    run, action = await work_through(turn.run, rules, hands.act)
    for step in run.steps[len(turn.state.steps) :]:
        turn = turn.with_state(turn.state.after(step))
    return [*await _end(turn, action), *hands.cards]


async def _end(turn: Turn, end: Finish | Delegate) -> list[Message]:
    outputs: Sequence[Message] = await ended(turn.message, turn.desk, turn.case, turn.run, end, turn.kept.origin)
    await turn.save(RunStatus.ENDED)
    return list(outputs)
