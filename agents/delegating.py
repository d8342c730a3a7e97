"""Sends the parts of a task that an agent wants others to do; each round of the same part is a new task."""

from __future__ import annotations

import msgspec

from agents.action import CallTool, Delegate
from agents.case import LANGUAGE, TEXT, TICKET
from agents.desk import Desk
from agents.planner import Observation, Run, Step
from agents.run_state import RunState
from hermes_bot.messages.message import Message
from hermes_bot.store.agent_runs import KeptRun
from hermes_bot.tasks.task import Part


def too_often(state: RunState, action: Delegate, most: int) -> Step | None:
    """Return the refusal where a part was done as often as it may be, else None."""
    worn = [part.name for part in action.parts if state.rounds.get(part.type, 0) >= most]
    if not worn:
        return None
    problem = f"{', '.join(worn)}: that was done {most} times, more rounds there are not. Finish with what there is."
    call = CallTool(tool="delegate", arguments={"tasks": [part.name for part in action.parts]})
    return Step(call=call, observation=Observation(status="refused", code="too_many_rounds", problems=(problem,)))


async def delegated(
    message: Message, desk: Desk, kept: KeptRun, run: Run, state: RunState, action: Delegate
) -> tuple[list[Message], RunState]:
    """Return the messages of the parts, and the state with this round counted."""
    round_ = 1 + max((state.rounds.get(part.type, 0) for part in action.parts), default=0)
    rounds = state.rounds | {part.type: state.rounds.get(part.type, 0) + 1 for part in action.parts}
    parts = [_with_context(part, run, round_) for part in action.parts]
    number = sum(step.call.tool == "delegate" for step in state.steps) + 1
    key = kept.key if number == 1 else f"{kept.key}.r{number}"
    whole, back = _with_request(message, run), {"run": kept.key, "round": round_}
    sent = await desk.tasks.delegate(whole, parts, agent=kept.agent, kept=back, key=key)
    return sent, msgspec.structs.replace(state, rounds=rounds)


def _with_request(message: Message, run: Run) -> Message:
    """Return the message with the original request in its chain, so that whoever works on a part reads it whole."""
    chain = message.context_chain
    if chain.text:
        return message
    return msgspec.structs.replace(message, context_chain=msgspec.structs.replace(chain, text=run.request))


def _with_context(part: Part, run: Run, round_: int) -> Part:
    """Return the part with what whoever does it has to know beside its words."""
    data = {TEXT: part.data[TEXT], LANGUAGE: run.language}
    if run.ticket is not None:
        data[TICKET] = run.ticket.id
    return msgspec.structs.replace(part, data=data | ({"round": round_} if round_ > 1 else {}))
