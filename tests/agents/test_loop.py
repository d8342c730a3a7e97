from datetime import UTC, datetime

from agents.action import Action, CallTool, Delegate, Finish, Outcome
from agents.loop import MAX_STEPS, work_through
from agents.planner import Observation, Run
from hermes_bot.tickets.ticket import Owner, Ticket, TicketStatus

AT = datetime(2026, 11, 30, tzinfo=UTC)
TICKET = Ticket(
    id="T-1",
    context_id="c",
    team="T",
    channel="C",
    channel_type="channel",
    thread_ts="1.1",
    requester="U",
    language="en",
    subject="s",
    status=TicketStatus.WORKING,
    owner=Owner.BOT,
    opened_at=AT,
    updated_at=AT,
)
RUN = Run(ticket=TICKET, agent="order", text="hi", language="en", memory={"order": "1"})
LOOK = CallTool(tool="look", arguments={"n": 1})


def looks(count: int) -> list[CallTool]:
    return [CallTool(tool="look", arguments={"n": number}) for number in range(1, count + 1)]


class Scripted:
    """Plays a list of actions, the last one for ever."""

    def __init__(self, *actions: Action) -> None:
        self.actions = actions
        self.runs: list[Run] = []

    async def plan(self, run: Run) -> Action:
        self.runs.append(run)
        return self.actions[min(len(self.runs), len(self.actions)) - 1]


async def act(call: CallTool, run: Run) -> Observation:
    return Observation(status="done", result={"step": len(run.steps)})


async def test_each_step_sees_what_the_steps_before_it_showed() -> None:
    planner = Scripted(*looks(2), Finish(outcome=Outcome.ANSWERED, text="done"))

    run, end = await work_through(RUN, planner, act)

    assert isinstance(end, Finish)
    assert end.text == "done"
    assert [step.observation.result for step in run.steps] == [{"step": 0}, {"step": 1}]
    assert planner.runs[1].seen(LOOK) == Observation(status="done", result={"step": 0})


async def test_a_run_that_does_not_end_goes_to_a_person_with_its_steps() -> None:
    planner = Scripted(*looks(MAX_STEPS + 1))

    _, end = await work_through(RUN, planner, act)

    assert isinstance(end, Finish)
    assert (end.outcome, end.reason) == (Outcome.HANDOFF, "too_many_steps")
    assert len(planner.runs) == len(end.known) == MAX_STEPS
    assert end.memory == RUN.memory


async def test_the_same_call_again_is_not_made_and_a_person_gets_the_run() -> None:
    run, end = await work_through(RUN, Scripted(LOOK), act)

    assert isinstance(end, Finish)
    assert (end.outcome, end.reason) == (Outcome.HANDOFF, "nothing_more")
    assert len(run.steps) == 1


async def test_delegating_ends_the_run() -> None:
    _, end = await work_through(RUN, Scripted(Delegate(type="ticket.refund")), act)

    assert end == Delegate(type="ticket.refund")


async def test_a_call_of_which_nobody_knows_whether_it_happened_goes_to_a_person_at_once() -> None:
    async def uncertain(call: CallTool, run: Run) -> Observation:
        return Observation(status="refused", code="may_have_run")

    planner = Scripted(*looks(3))
    run, end = await work_through(RUN, planner, uncertain)

    assert isinstance(end, Finish)
    assert (end.outcome, end.reason) == (Outcome.HANDOFF, "tool_refused")
    assert len(run.steps) == 1
