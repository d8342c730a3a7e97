"""The state machine of a task, for every plan, order of events and policy."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.messages.task_payloads import TaskResult, TaskStatus
from hermes_bot.tasks.graph import Graph, PartState, Step, begin, expire, outcome_of, settle
from hermes_bot.tasks.task import OnFailure, Part, part_task, read_part_task

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
FINAL = {PartState.DONE, PartState.FAILED, PartState.SKIPPED}
policies = st.builds(OnFailure, retries=st.integers(0, 2), optional=st.booleans())


@st.composite
def plans(draw: st.DrawFn) -> list[Part]:
    """Parts of which each waits for some of those before it, in any order."""
    names = [f"p{n}" for n in range(draw(st.integers(1, 6)))]
    parts = [
        Part(
            name=name,
            type="task.any",
            after=tuple(sorted(draw(st.sets(st.sampled_from(names[:n]))))) if n else (),
            timeout_s=draw(st.sampled_from([1.0, 5.0, 60.0])),
            on_failure=draw(policies),
            expects=draw(st.sampled_from([None, {"required": ["n"]}])),
        )
        for n, name in enumerate(names)
    ]
    return list(draw(st.permutations(parts)))


def answer(graph: Graph, name: str, round_: int, status: TaskStatus, *, fits: bool) -> TaskResult:
    return TaskResult(task=part_task(graph.key, name, round_), status=status, result={"n": 1} if fits else {})


class Walk:
    """Drives a graph, and checks at each step what must always hold."""

    def __init__(self, parts: list[Part]) -> None:
        self.now = NOON
        self.sent: list[tuple[str, int]] = []
        self.ends = 0
        first = begin("MSG-1:boss", "boss", parts, {}, NOON)
        self.graph = first.graph
        self.step(first)

    def step(self, step: Step) -> None:
        before, self.graph = self.graph, step.graph
        self.ends += step.ended
        for name in step.send:
            run = self.graph.parts[name]
            assert all(self.graph.parts[other].ended for other in run.part.after)
            assert run.state is PartState.RUNNING
            assert run.round <= run.part.on_failure.retries + 1
            assert run.due_at == self.now + timedelta(seconds=run.part.timeout_s)
            self.sent.append((name, run.round))
        for name, run in before.parts.items():
            assert run.state not in FINAL or self.graph.parts[name] == run
        assert self.ends == int(self.graph.ended)
        assert self.graph.ended or self.graph.running

    def event(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.graph.parts)))
        kind = data.draw(st.sampled_from(["answer", "answer", "repeat", "time"]))
        if kind == "time":
            self.now += timedelta(seconds=data.draw(st.sampled_from([0.5, 1.0, 10.0, 100.0])))
            self.step(expire(self.graph, self.now))
            return
        round_ = self.graph.parts[name].round if kind == "answer" else data.draw(st.integers(1, 3))
        status = data.draw(st.sampled_from([TaskStatus.DONE, TaskStatus.FAILED]))
        outcome = answer(self.graph, name, round_, status, fits=data.draw(st.booleans()))
        late = len(self.graph.late)
        waited_for = self.graph.parts[name].state is PartState.RUNNING and self.graph.parts[name].round == round_
        self.step(settle(self.graph, name, round_, outcome, self.now))
        assert len(self.graph.late) == late + (not waited_for)


@given(plans(), st.data())
def test_every_task_ends_exactly_once_whatever_happens(parts: list[Part], data: st.DataObject) -> None:
    walk = Walk(parts)
    for _ in range(data.draw(st.integers(0, 20))):
        walk.event(data)
    while not walk.graph.ended:
        walk.now += timedelta(hours=1)
        walk.step(expire(walk.graph, walk.now))

    assert walk.ends == 1
    assert {run.state for run in walk.graph.parts.values()} <= FINAL
    assert len(walk.sent) == len(set(walk.sent)), "a round was sent twice"


@given(plans(), st.data())
def test_the_status_says_what_became_of_the_parts(parts: list[Part], data: st.DataObject) -> None:
    walk = Walk(parts)
    for _ in range(data.draw(st.integers(0, 20))):
        walk.event(data)
    while not walk.graph.ended:
        walk.now += timedelta(hours=1)
        walk.step(expire(walk.graph, walk.now))
    result = outcome_of(walk.graph, walk.now)

    runs = walk.graph.parts
    failed = [run for run in runs.values() if run.state is PartState.FAILED]
    assert set(result.result) == {name for name, run in runs.items() if run.state is PartState.DONE}
    assert all("n" in result.result[name] for name in result.result if runs[name].part.expects)
    assert (result.status is TaskStatus.DONE) == (not failed)
    assert (result.status is TaskStatus.FAILED) == any(not run.part.on_failure.optional for run in failed)


@given(plans(), st.data())
def test_the_same_event_on_the_same_state_gives_the_same_step(parts: list[Part], data: st.DataObject) -> None:
    walk = Walk(parts)
    for _ in range(data.draw(st.integers(0, 6))):
        walk.event(data)
    name = data.draw(st.sampled_from(sorted(walk.graph.parts)))
    outcome = answer(walk.graph, name, walk.graph.parts[name].round, TaskStatus.DONE, fits=True)

    once = settle(walk.graph, name, walk.graph.parts[name].round, outcome, walk.now)
    assert settle(walk.graph, name, walk.graph.parts[name].round, outcome, walk.now) == once


@given(st.text(min_size=1, max_size=30), st.from_regex(r"[a-z][a-z0-9_-]{0,39}", fullmatch=True), st.integers(1, 99))
def test_a_parts_task_names_its_key_name_and_round(key: str, name: str, round_: int) -> None:
    assert read_part_task(part_task(key, name, round_)) == (key, name, round_)
