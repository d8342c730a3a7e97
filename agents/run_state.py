"""What of a run is kept between its steps, as JSON."""

from __future__ import annotations

from typing import Any

import msgspec

from agents.action import Action, CallTool, Delegate, Finish
from agents.planner import Step

_KINDS: dict[str, type[CallTool | Delegate | Finish]] = {
    "call_tool": CallTool,
    "delegate": Delegate,
    "finish": Finish,
}


class RunState(msgspec.Struct, frozen=True, kw_only=True):
    """The steps so far. `ruled`: the rules took over. `repeats` counts calls that were cut as repeats.

    `rounds` counts for each part of a task how often it was delegated, `refusals` how often that was too often.
    `asked` holds, for each approval that was asked for, the number of the step (from 0) that asked.
    """

    steps: tuple[Step, ...] = ()
    ruled: bool = False
    repeats: int = 0
    refusals: int = 0
    rounds: dict[str, int] = {}
    asked: dict[str, int] = {}

    def after(self, step: Step) -> RunState:
        """Return the state with one more step."""
        asked = self.asked
        if step.observation.status == "waiting":
            asked = {**asked, str(step.observation.result.get("approval_id")): len(self.steps)}
        return msgspec.structs.replace(self, steps=(*self.steps, step), asked=asked)


def read_state(state: dict[str, Any]) -> RunState:
    """Return the state that was kept; raise msgspec.ValidationError where an older program kept another one."""
    return msgspec.convert(state, RunState)


def kept_state(state: RunState) -> dict[str, Any]:
    """Return the state as JSON."""
    body: dict[str, Any] = msgspec.to_builtins(state)
    return body


def kept_action(action: Action, *, ruled: bool = False) -> dict[str, Any]:
    """Return a decision as JSON; `ruled` says that the rules made it."""
    kind = next(name for name, each in _KINDS.items() if isinstance(action, each))
    return {"kind": kind, "ruled": ruled, "fields": msgspec.to_builtins(action)}


def read_action(decision: dict[str, Any]) -> Action:
    """Return the decision that was kept."""
    return msgspec.convert(decision["fields"], _KINDS[decision["kind"]])
