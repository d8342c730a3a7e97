"""To whom a message goes: a name, a glob, all, or whoever has a capability."""

from collections.abc import Sequence

import pytest

from hermes_bot.bus.scheduler import BestScore, Candidate, StrictOrder, SuccessRates
from hermes_bot.errors import PermanentError, TransientError, Unroutable
from hermes_bot.messages.message import Kind
from tests.bus.harness import Harness, Recorder, blocking, failing, until


async def with_agents(harness: Harness, names: Sequence[str], capability: str = "") -> dict[str, Recorder]:
    recorders = {name: Recorder() for name in names}
    for name, recorder in recorders.items():
        harness.bus.subscribe("work", name, recorder, capability=capability)
    return recorders


@pytest.mark.parametrize(
    "recipient, receivers",
    [("order-eu", {"order-eu"}), ("order-*", {"order-eu", "order-us"}), ("all", {"order-eu", "order-us", "refund"})],
)
async def test_a_recipient_is_a_name_a_glob_or_all(harness: Harness, recipient: str, receivers: set[str]) -> None:
    agents = await with_agents(harness, ["order-eu", "order-us", "refund"])
    await harness.bus.start()
    await harness.publish("work", recipient=recipient)
    await harness.finish()

    assert {name for name, recorder in agents.items() if recorder.got} == receivers


@pytest.mark.parametrize("kind", [Kind.REQUEST, Kind.RESPONSE, Kind.CALLBACK, Kind.ERROR])
async def test_only_events_and_heartbeats_go_to_all(harness: Harness, kind: Kind) -> None:
    agents = await with_agents(harness, ["a", "b"])
    await harness.bus.start()

    with pytest.raises(PermanentError):
        await harness.publish("work", recipient="all", kind=kind)
    await harness.publish("work", recipient="all", kind=Kind.HEARTBEAT)
    await harness.finish()
    assert [len(recorder.got) for recorder in agents.values()] == [1, 1]


async def test_a_glob_that_fits_nobody_is_refused(harness: Harness) -> None:
    await with_agents(harness, ["a"])
    await harness.bus.start()

    with pytest.raises(Unroutable):
        await harness.publish("work", recipient="order-*")


async def test_who_shares_a_capability_gets_each_message_once_between_them(harness: Harness) -> None:
    agents = await with_agents(harness, ["a", "b", "c"], "money")
    log = Recorder()
    harness.bus.subscribe("work", "log", log)
    await harness.bus.start()
    for n in range(6):
        await harness.publish("work", context_id=f"c{n}")
        await harness.finish()

    assert [len(recorder.got) for recorder in agents.values()] == [2, 2, 2]
    assert len(log.got) == 6


async def test_a_repeated_task_is_known_whichever_agent_had_it(harness: Harness) -> None:
    agents = await with_agents(harness, ["a", "b"], "money")
    await harness.bus.start()
    for _ in range(4):
        await harness.publish("work", task_id="T")
        await harness.finish()

    assert sum(len(recorder.got) for recorder in agents.values()) == 1


async def test_the_less_busy_and_the_more_successful_agent_is_chosen(harness: Harness) -> None:
    busy, go, begun = blocking()
    failed, _ = failing(TransientError("x"))
    good = Recorder()
    harness.bus.subscribe("warm", "busy", busy)
    harness.bus.subscribe("warm", "poor", failed)
    for name, handler in (("busy", busy), ("poor", failed), ("good", good)):
        harness.bus.subscribe("work", name, handler, capability="money")
    await harness.bus.start()
    await harness.publish("warm")
    await until(lambda: len(begun) == 1 and len(harness.hops) == 1)
    await harness.publish("work", context_id="c2", data={"n": 1})
    await until(lambda: good.texts == [1])

    go.set()
    await harness.finish()


async def test_a_capability_may_be_asked_for_and_nobody_means_unknown(harness: Harness) -> None:
    money = await with_agents(harness, ["a"], "money")
    unknown = Recorder()
    harness.bus.subscribe("ticket.unknown", "unknown", unknown)
    await harness.bus.start()
    await harness.publish("work", recipient="capability:money", data={"n": 1})
    await harness.publish("work", recipient="capability:magic", data={"n": 2})
    await harness.finish()

    assert [money["a"].texts, unknown.texts] == [[1], [2]]


async def test_without_anybody_for_unknown_it_is_refused(harness: Harness) -> None:
    await with_agents(harness, ["a"], "money")
    await harness.bus.start()

    with pytest.raises(Unroutable):
        await harness.publish("work", recipient="capability:magic")


def candidate(agent: str, *, match: float = 1.0, success_rate: float = 1.0, queue_size: int = 0) -> Candidate:
    return Candidate(agent=agent, match=match, success_rate=success_rate, queue_size=queue_size)


@pytest.mark.parametrize(
    "candidates, chosen",
    [
        ([candidate("a", queue_size=1), candidate("b")], "b"),
        ([candidate("a", match=0.4), candidate("b", queue_size=1)], "b"),
        ([candidate("a", success_rate=0.3), candidate("b", queue_size=2)], "b"),
        ([candidate("a", match=0.0)], None),
        ([], None),
    ],
)
def test_the_best_score_wins(candidates: list[Candidate], chosen: str | None) -> None:
    assert BestScore().choose(candidates) == chosen


def test_ties_rotate() -> None:
    scheduler, equals = BestScore(), [candidate(name) for name in "abc"]

    assert [scheduler.choose(equals) for _ in range(6)] == ["a", "b", "c", "a", "b", "c"]


def test_strict_order_takes_the_first_role_that_is_able() -> None:
    scheduler = StrictOrder(["senior", "junior"])

    assert scheduler.choose([candidate("junior"), candidate("senior", queue_size=9), candidate("x")]) == "senior"
    assert scheduler.choose([candidate("x"), candidate("junior"), candidate("senior", match=0.0)]) == "junior"
    assert scheduler.choose([candidate("senior", match=0.0)]) is None


def test_a_success_rate_fades_towards_what_happened_and_is_never_nothing() -> None:
    rates = SuccessRates()
    for _ in range(500):
        rates.record("a", succeeded=False)

    assert rates.rate("new") == 1.0
    assert 0 < rates.rate("a") < 0.05
    rates.record("a", succeeded=True)
    assert rates.rate("a") == pytest.approx(0.02, abs=0.01)
