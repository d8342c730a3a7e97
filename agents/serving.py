"""Works on one message with a planner and tools; what order, refund and agents from YAML have in common."""

from __future__ import annotations

from agents.action import Action
from agents.case import case_of
from agents.desk import Desk
from agents.ending import ended
from agents.hands import Hands
from agents.loop import work_through
from agents.planner import GaveUp, Planner, Run, Stepwise
from agents.stepping import begin, go_on
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import AGENT_STEP
from hermes_bot.messages.task_payloads import TASK_RESULT

CONTINUED = frozenset({AGENT_STEP, TASK_RESULT})


class RulesNow(Stepwise):
    """Stands for an agent that has rules alone now, where a model's run is still to be carried on: people get it."""

    fingerprint = "rules"

    async def plan(self, run: Run) -> Action:
        """Give up."""
        raise GaveUp(f"agent {run.agent} has no model any more")


async def serve(message: Message, desk: Desk, *, agent: str, planner: Planner | Stepwise) -> list[Message]:
    """Return the answer to a `Work` message or a task, cards that are wanted, or the work for somebody else.

    A planner that takes its time goes one step a message: then the next step is what follows.
    """
    if message.type in CONTINUED:
        stepwise = planner if isinstance(planner, Stepwise) else RulesNow()
        return await go_on(message, desk, agent=agent, planner=stepwise)
    if isinstance(planner, Stepwise):
        return await begin(message, desk, agent=agent, planner=planner)
    case = await case_of(message, message, desk, agent=agent)
    hands = Hands(message, case, desk, key=f"{message.id}:{agent}")
    run, end = await work_through(case.run, planner, hands.act)
    return [*await ended(message, desk, case, run, end, message), *hands.cards]
