"""Plan, act, observe: until the planner finishes or delegates, at most `MAX_STEPS` times."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from agents.action import CallTool, Delegate, Finish, Outcome
from agents.planner import Observation, Planner, Run
from hermes_bot.tools.once import MAY_HAVE_RUN

MAX_STEPS = 15

Act = Callable[[CallTool, Run], Awaitable[Observation]]


async def work_through(run: Run, planner: Planner, act: Act) -> tuple[Run, Finish | Delegate]:
    """Return the run with its steps and how it ended; a person gets one that does not end by itself.

    That is one with more than `MAX_STEPS` steps, one that makes a call for the second time, or one with a call of
    which nobody knows whether it had its effect.
    """
    while len(run.steps) < MAX_STEPS:
        action = await planner.plan(run)
        if not isinstance(action, CallTool):
            return run, action
        if run.seen(action) is not None:
            return run, _to_people(run, "nothing_more")
        run = run.after(action, await act(action, run))
        if run.steps[-1].observation.code == MAY_HAVE_RUN:
            return run, _to_people(run, "tool_refused")
    return run, _to_people(run, "too_many_steps")


def known_of(run: Run) -> tuple[tuple[str, str], ...]:
    """Return the tools that were called and what came of each, without their data."""
    return tuple(
        (f"Step {number}", f"{step.call.tool}: {step.observation.status} {step.observation.code}".strip())
        for number, step in enumerate(run.steps, start=1)
    )


def _to_people(run: Run, reason: str) -> Finish:
    return Finish(outcome=Outcome.HANDOFF, reason=reason, known=known_of(run), memory=run.memory)
