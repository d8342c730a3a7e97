"""The contract of the bus, on every backend."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import pytest

from hermes_bot.bus.lanes import AGEING_STEP_S
from hermes_bot.bus.port import Delivery, Policy, State
from hermes_bot.errors import BusFull, BusStopped, NotYet, PermanentError, TransientError, Unroutable
from hermes_bot.messages.message import Chain, Kind, Message
from hermes_bot.messages.task_payloads import TASK_ERROR
from tests.bus.harness import Harness, Recorder, blocking, failing, message, until


async def test_every_matching_subscription_gets_a_message_once(harness: Harness) -> None:
    entry, log, order = Recorder(), Recorder(), Recorder()
    harness.bus.subscribe("ticket.created", "entry", entry)
    harness.bus.subscribe("ticket.#", "log", log)
    harness.bus.subscribe("ticket.order", "order", order)
    await harness.bus.start()
    sent = await harness.publish("ticket.created")
    await harness.finish()

    assert [entry.got, log.got, order.got] == [[sent], [sent], []]


async def test_a_recipient_narrows_the_matching_subscriptions_to_one_agent(harness: Harness) -> None:
    edge, refund = Recorder(), Recorder()
    harness.bus.subscribe("approval.settled", "slack", edge)
    harness.bus.subscribe("approval.settled", "refund", refund)
    await harness.bus.start()
    sent = await harness.publish("approval.settled", recipient="refund")
    await harness.finish()

    assert [edge.got, refund.got] == [[], [sent]]


@pytest.mark.parametrize("fields", [{"type": "ticket.unheard"}, {"type": "ticket.created", "recipient": "nobody"}])
async def test_a_message_that_nobody_gets_is_refused(harness: Harness, fields: dict[str, str]) -> None:
    harness.bus.subscribe("ticket.created", "entry", Recorder())
    await harness.bus.start()

    with pytest.raises(Unroutable):
        await harness.publish(**fields)


async def test_a_message_without_an_id_is_refused(harness: Harness) -> None:
    harness.bus.subscribe("#", "entry", Recorder())
    await harness.bus.start()

    with pytest.raises(PermanentError):
        await harness.publish(id="")


async def test_a_repeated_task_is_handled_once(harness: Harness) -> None:
    entry = Recorder()
    harness.bus.subscribe("#", "entry", entry)
    await harness.bus.start()
    await harness.publish(task_id="slack:T:C:1", data={"n": 1})
    await harness.publish(task_id="slack:T:C:1", data={"n": 2})
    await harness.finish()
    await harness.publish(task_id="slack:T:C:1", data={"n": 3})
    await harness.finish()

    assert entry.texts == [1]


async def test_a_lane_is_handled_in_publish_order_one_at_a_time(harness: Harness) -> None:
    running: dict[str, int] = {}
    seen: dict[str, list[int]] = {"c0": [], "c1": [], "c2": []}

    async def handler(message: Message, delivery: Delivery) -> Sequence[Message]:
        context = message.context_id
        running[context] = running.get(context, 0) + 1
        assert running[context] == 1
        for _ in range(message.data["n"] % 3):
            await asyncio.sleep(0)
        seen[context].append(message.data["n"])
        running[context] -= 1
        return ()

    harness.bus.subscribe("#", "entry", handler, Policy(concurrency=8, max_retries=0))
    await harness.bus.start()
    for n in range(60):
        await harness.publish(context_id=f"c{n % 3}", priority=n % 10, data={"n": n})
    await harness.finish()

    assert seen == {f"c{lane}": list(range(lane, 60, 3)) for lane in range(3)}


async def test_lanes_run_beside_each_other_up_to_the_concurrency(harness: Harness) -> None:
    handler, go, begun = blocking()
    harness.bus.subscribe("#", "entry", handler, Policy(concurrency=2))
    await harness.bus.start()
    for context in ("c1", "c1", "c2", "c3"):
        await harness.publish(context_id=context)
    await until(lambda: len(begun) == 2)

    assert [item.context_id for item in begun] == ["c1", "c2"]
    go.set()
    await harness.finish()


async def publish_behind_a_block(harness: Harness, entry: Recorder, *later: tuple[float, int]) -> list[int]:
    """Publish messages (seconds later, priority) while the one worker is held up; return the order handled."""
    go = asyncio.Event()

    async def handler(message: Message, delivery: Delivery) -> Sequence[Message]:
        await go.wait()
        return await entry(message, delivery)

    harness.bus.subscribe("#", "entry", handler, Policy(concurrency=1))
    await harness.bus.start()
    await harness.publish(context_id="first", data={"n": -1})
    for number, (seconds, priority) in enumerate(later):
        harness.time.advance(seconds)
        await harness.publish(context_id=f"c{number}", priority=priority, data={"n": number})
    go.set()
    await harness.finish()
    return [n for n in entry.texts if n != -1]


async def test_priority_chooses_between_lanes(harness: Harness) -> None:
    assert await publish_behind_a_block(harness, Recorder(), (0, 2), (0, 8), (0, 5)) == [1, 2, 0]


async def test_a_message_is_overtaken_only_within_its_bound(harness: Harness) -> None:
    bound_s = 9 * AGEING_STEP_S
    order = await publish_behind_a_block(harness, Recorder(), (0, 0), (bound_s - 1, 9), (2, 9))

    assert order == [1, 0, 2]


async def test_the_lowest_priority_is_handled_within_its_bound_under_a_flood_of_the_highest(harness: Harness) -> None:
    """The flood is as much as the one worker can do: without ageing the first message would wait for ever."""
    begun: list[int] = []
    go = asyncio.Semaphore(0)

    async def handler(message: Message, delivery: Delivery) -> Sequence[Message]:
        begun.append(message.priority)
        await go.acquire()
        return ()

    harness.bus.subscribe("#", "entry", handler, Policy(concurrency=1, timeout_s=600))
    await harness.bus.start()
    await harness.publish(context_id="first", priority=9)
    await until(lambda: len(begun) == 1)
    await harness.publish(context_id="patient", priority=0)
    seconds = 0
    while 0 not in begun:
        for n in range(2):
            await harness.publish(context_id=f"c{seconds}-{n}", priority=9)
        for _ in range(2):
            before = len(begun)
            go.release()
            await until(lambda before=before: len(begun) > before)  # type: ignore[misc]  # mypy cannot infer a lambda with a default
        harness.time.advance(1)
        seconds += 1

    assert 9 * AGEING_STEP_S - 2 <= seconds <= 9 * AGEING_STEP_S + 2
    for _ in range(200):
        go.release()
    await harness.finish()


async def test_a_transient_failure_is_tried_again_and_says_that_it_is_a_repeat(harness: Harness) -> None:
    handler, seen = failing(TransientError("slack: busy"), ValueError("a bug"))
    harness.bus.subscribe("#", "entry", handler)
    await harness.bus.start()
    await harness.publish()
    await harness.finish()

    assert [(item.attempt, item.redelivered) for item in seen] == [(1, False), (2, True), (3, True)]
    assert [state for _, _, state in harness.hops] == [State.RETRYING, State.RETRYING, State.DONE]


async def test_a_retry_waits_as_long_as_the_error_says(harness: Harness) -> None:
    handler, seen = failing(TransientError("slack: rate limited", retry_after_s=60))
    harness.bus.subscribe("#", "entry", handler)
    await harness.bus.start()
    await harness.publish()
    await until(lambda: bool(harness.hops))
    began = harness.time.now
    await harness.finish()

    assert len(seen) == 2
    assert 60 <= (harness.time.now - began).total_seconds() <= 62


async def test_what_waits_for_its_turn_uses_up_no_retry_and_is_no_failure(harness: Harness) -> None:
    handler, seen = failing(*[NotYet("its turn", retry_after_s=10)] * 5)
    harness.bus.subscribe("#", "entry", handler, Policy(max_retries=0))
    await harness.bus.start()
    began = harness.time.now
    await harness.publish()
    await harness.finish()

    assert [(item.attempt, item.redelivered) for item in seen] == [(1, False)] + [(1, True)] * 5
    assert 50 <= (harness.time.now - began).total_seconds() <= 56
    assert [state for _, _, state in harness.hops] == [State.DONE]


async def test_a_retry_blocks_its_lane_only_and_holds_no_worker(harness: Harness) -> None:
    done: list[str] = []
    errors = [TransientError("not yet")]

    async def handler(message: Message, delivery: Delivery) -> Sequence[Message]:
        if message.data["n"] == "first" and errors:
            raise errors.pop()
        done.append(message.data["n"])
        return ()

    harness.bus.subscribe("#", "entry", handler, Policy(concurrency=1))
    await harness.bus.start()
    await harness.publish(context_id="c1", data={"n": "first"})
    await harness.publish(context_id="c1", data={"n": "behind"})
    await harness.publish(context_id="c2", data={"n": "other"})
    await until(lambda: bool(done))
    assert done == ["other"]

    await harness.finish()
    assert done == ["other", "first", "behind"]


@pytest.mark.parametrize("error, attempts", [(PermanentError("never"), 1), (TransientError("again"), 4)])
async def test_a_delivery_dies_at_once_or_after_its_retries(harness: Harness, error: Exception, attempts: int) -> None:
    harness.expected_dead = {"entry"}
    handler, seen = failing(*[error] * 10)
    harness.bus.subscribe("#", "entry", handler, Policy(max_retries=3))
    await harness.bus.start()
    await harness.publish()
    await harness.finish()

    letter = await harness.only()
    assert len(seen) == attempts
    assert letter.state is State.DEAD
    assert str(error) in letter.error


async def test_a_handler_that_takes_too_long_is_stopped_and_tried_again(harness: Harness) -> None:
    harness.expected_dead = {"entry"}
    handler, _, begun = blocking()
    harness.bus.subscribe("#", "entry", handler, Policy(timeout_s=0.01, max_retries=1))
    await harness.bus.start()
    await harness.publish()
    await harness.finish()

    assert len(begun) == 2
    assert "no result within 0.01 s" in (await harness.only()).error


async def test_a_cancelled_helper_task_is_a_failure_and_the_worker_lives_on(harness: Harness) -> None:
    errors = [asyncio.CancelledError()]

    async def handler(message: Message, delivery: Delivery) -> Sequence[Message]:
        if errors:
            raise errors.pop()
        return ()

    harness.bus.subscribe("#", "entry", handler, Policy(concurrency=1))
    await harness.bus.start()
    await harness.publish()
    await harness.finish()

    assert [state for _, _, state in harness.hops] == [State.RETRYING, State.DONE]


async def test_what_was_not_started_within_its_ttl_expires(harness: Harness) -> None:
    harness.expected_dead = {"entry"}
    handler, go, begun = blocking()
    harness.bus.subscribe("#", "entry", handler, Policy(concurrency=1))
    await harness.bus.start()
    await harness.publish(context_id="c0", ttl_s=10)
    await until(lambda: len(begun) == 1)
    await harness.publish(context_id="c1", ttl_s=10)
    await harness.publish(context_id="c2", ttl_s=None)
    harness.time.advance(11)
    go.set()
    await harness.finish()

    assert [item.context_id for item in begun] == ["c0", "c2"]
    assert sorted(state for _, _, state in harness.hops) == [State.DONE, State.DONE, State.EXPIRED]


async def test_the_sender_of_a_request_that_failed_gets_an_error(harness: Harness) -> None:
    harness.expected_dead = {"order"}
    asker = Recorder()
    handler, _ = failing(PermanentError("no such order"))
    harness.bus.subscribe("order.lookup", "order", handler)
    harness.bus.subscribe(TASK_ERROR, "asker", asker)
    await harness.bus.start()
    await harness.bus.publish(message("order.lookup", kind=Kind.REQUEST, reply_to="asker"))
    await harness.finish()

    assert [(item.kind, item.data["type"], item.data["state"]) for item in asker.got] == [
        (Kind.ERROR, "order.lookup", "dead")
    ]


async def test_a_request_whose_sender_hears_nothing_still_ends(harness: Harness) -> None:
    harness.expected_dead = {"order"}
    handler, _ = failing(PermanentError("no such order"))
    harness.bus.subscribe("order.lookup", "order", handler)
    await harness.bus.start()
    await harness.publish("order.lookup", kind=Kind.REQUEST)
    await harness.finish()

    assert (await harness.only()).state is State.DEAD


async def test_a_chain_that_never_ends_is_suspended(harness: Harness) -> None:
    harness.expected_dead = {"a"}
    ping = Recorder(lambda item: [item.child("ping", {})])
    harness.bus.subscribe("ping", "a", ping, Policy(max_hops=3))
    await harness.bus.start()
    await harness.publish("ping")
    await harness.finish()

    assert [item.hops for item in ping.got] == [0, 1, 2, 3]
    assert harness.hops[-1] == ("ping", "a", State.SUSPENDED)


async def test_an_output_carries_the_way_that_led_to_it(harness: Harness) -> None:
    order = Recorder()
    harness.bus.subscribe("ticket.created", "entry", Recorder(lambda item: [item.child("ticket.order", {"n": 1})] * 2))
    harness.bus.subscribe("ticket.order", "order", order)
    await harness.bus.start()
    root = await harness.publish(context_chain=Chain(text="where is it?"), task_id="slack:1")
    await harness.finish()

    first = order.got[0]
    assert [item.id for item in order.got] == [f"{root.id}-1", f"{root.id}-2"]
    assert (first.sender, first.hops, first.task, first.trace_id) == ("entry", 1, first.id, root.trace_id)
    assert first.processed_by == (("entry", "ticket.created", "slack:1"),)
    assert (first.context_chain.text, [hop.agent for hop in first.context_chain.hops]) == ("where is it?", ["entry"])


async def test_outputs_of_several_receivers_of_one_message_have_different_ids(harness: Harness) -> None:
    answers = Recorder()
    for pattern, agent in (("ticket.*", "a"), ("ticket.#", "a"), ("ticket.*", "b")):
        harness.bus.subscribe(pattern, agent, Recorder(lambda item: [item.child("answer")]))
    harness.bus.subscribe("answer", "edge", answers)
    await harness.bus.start()
    root = await harness.publish()
    await harness.finish()

    assert {item.id for item in answers.got} == {f"{root.id}-a.1", f"{root.id}-a~2.1", f"{root.id}-b.1"}


async def test_an_output_that_nobody_gets_fails_for_good_and_none_is_sent(harness: Harness) -> None:
    harness.expected_dead = {"entry"}
    order = Recorder()
    harness.bus.subscribe("ticket.created", "entry", Recorder(lambda m: [m.child("ticket.order"), m.child("nope")]))
    harness.bus.subscribe("ticket.order", "order", order)
    await harness.bus.start()
    await harness.publish()
    await harness.finish()

    assert harness.hops == [("ticket.created", "entry", State.DEAD)]
    assert order.got == []


async def test_a_failure_sends_what_the_hook_returns_and_does_not_loop(harness: Harness) -> None:
    harness.expected_dead = {"order", "human"}
    told: list[tuple[str, State]] = []

    def on_failure(delivery: Delivery, error: str) -> Sequence[Message]:
        told.append((error, delivery.state))
        return [delivery.message.child("ticket.handoff", {"reason": error}), delivery.message.child("unheard.of")]

    dying, _ = failing(*[PermanentError("broken")] * 3)
    handing, got = failing(*[PermanentError("nobody there")] * 3)
    harness.build(on_failure=on_failure).subscribe("ticket.order", "order", dying)
    harness.bus.subscribe("ticket.handoff", "human", handing)
    await harness.bus.start()
    root = await harness.publish("ticket.order")
    await harness.finish()

    assert told == [("PermanentError: broken", State.DEAD)]
    assert [item.message.id for item in got] == [f"{root.id}-f1"]


async def test_a_broken_hook_neither_loses_the_letter_nor_stops_the_worker(harness: Harness) -> None:
    harness.expected_dead = {"order"}

    def broken(*_: object) -> Sequence[Message]:
        raise RuntimeError("hook")

    handler, seen = failing(PermanentError("broken"))
    harness.build(on_failure=broken, on_hop=broken).subscribe("#", "order", handler, Policy(concurrency=1))
    await harness.bus.start()
    first, second = await harness.publish(), await harness.publish()
    await harness.finish()

    assert len(seen) == 2
    assert await harness.states() == {(first.id, "order"): State.DEAD, (second.id, "order"): State.DONE}


async def test_a_full_queue_refuses_after_a_bounded_wait_and_takes_again_when_there_is_room(harness: Harness) -> None:
    handler, go, begun = blocking()
    harness.build(publish_wait_s=1).subscribe("#", "entry", handler, Policy(max_queue_size=2))
    await harness.bus.start()
    for _ in range(2):
        await harness.publish()
    refused = asyncio.create_task(harness.publish())
    await until(refused.done, lambda: harness.time.jump(1))
    assert isinstance(refused.exception(), BusFull)

    waiting = asyncio.create_task(harness.publish())
    go.set()
    await until(lambda: harness.backend.queue_size("entry") < 2)
    await until(waiting.done, lambda: harness.time.jump(1))
    await waiting
    await harness.finish()
    assert len(begun) == 3


async def test_outputs_pass_a_full_queue_because_their_input_is_paid_for(harness: Harness) -> None:
    sink = Recorder()
    harness.bus.subscribe("a", "a", Recorder(lambda item: [item.child("b", {"n": n}) for n in range(5)]))
    harness.bus.subscribe("b", "b", sink, Policy(max_queue_size=1))
    await harness.bus.start()
    await harness.publish("a")
    await harness.finish()

    assert sink.texts == [0, 1, 2, 3, 4]


async def test_a_delayed_message_comes_at_its_time_and_holds_neither_lane_nor_drain(harness: Harness) -> None:
    entry = Recorder()
    harness.bus.subscribe("#", "entry", entry)
    await harness.bus.start()
    await harness.publish(not_before=harness.time.now + timedelta(hours=24), data={"n": "late"})
    await harness.publish(data={"n": "now"})
    await harness.bus.drain(5)
    assert entry.texts == ["now"]

    harness.time.advance(24 * 3600)
    await until(lambda: len(entry.got) == 2, lambda: harness.time.jump(1))
    await harness.finish()


async def test_drain_says_when_its_limit_passed(harness: Harness) -> None:
    handler, go, _ = blocking()
    harness.bus.subscribe("#", "entry", handler)
    await harness.bus.start()
    await harness.publish()

    with pytest.raises(TimeoutError):
        await harness.bus.drain(0.01)
    go.set()


async def test_a_bus_that_does_not_run_takes_nothing(harness: Harness) -> None:
    harness.bus.subscribe("#", "entry", Recorder())
    with pytest.raises(BusStopped):
        await harness.publish()
    await harness.bus.start()
    await harness.bus.stop(1)

    with pytest.raises(BusStopped):
        await harness.publish()


async def test_a_bus_that_broke_down_says_so_and_takes_nothing(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def bug(*_: object) -> None:
        raise KeyError("a bug in the backend")

    harness.bus.subscribe("#", "entry", Recorder())
    await harness.bus.start()
    assert harness.bus.running
    monkeypatch.setattr(harness.backend, "settle", bug)
    await harness.publish()
    await until(lambda: not harness.bus.running)

    with pytest.raises(BusStopped):
        await harness.publish()
    with pytest.raises(ExceptionGroup):
        await harness.bus.stop(1)
    assert "the bus broke down" in caplog.text


async def test_stop_lets_a_running_handler_finish_and_begins_no_other(harness: Harness) -> None:
    handler, go, begun = blocking()
    harness.bus.subscribe("#", "entry", handler, Policy(concurrency=1))
    await harness.bus.start()
    first, second = await harness.publish(), await harness.publish()
    await until(lambda: len(begun) == 1)
    stopping = asyncio.create_task(harness.bus.stop(10))
    await asyncio.sleep(0)
    go.set()
    await stopping

    assert await harness.states() == {(first.id, "entry"): State.DONE, (second.id, "entry"): State.QUEUED}


async def test_what_stop_cuts_off_is_handled_after_the_next_start_without_burning_an_attempt(harness: Harness) -> None:
    handler, _, begun = blocking()
    harness.bus.subscribe("#", "entry", handler)
    await harness.bus.start()
    sent = await harness.publish(data={"n": 1})
    await harness.publish(data={"n": 2})
    await until(lambda: len(begun) == 1)
    await harness.bus.stop(0.01)
    again = Recorder()
    harness.build().subscribe("#", "entry", again)
    await harness.bus.start()
    await harness.finish()

    assert again.texts == [1, 2]
    assert (again.got[0], again.deliveries[0].attempt, again.deliveries[0].redelivered) == (sent, 1, True)


async def test_routes_change_while_running_and_what_is_queued_is_still_handled(harness: Harness) -> None:
    handler, go, begun = blocking()
    harness.bus.subscribe("ticket.created", "entry", handler, Policy(concurrency=1))
    await harness.bus.start()
    await harness.publish()
    await harness.publish()
    late = Recorder()
    harness.bus.unsubscribe("entry", "ticket.created")
    harness.bus.subscribe("ticket.created", "late", late)
    third = await harness.publish()
    go.set()
    await harness.finish()

    assert len(begun) == 2
    assert late.got == [third]


async def test_a_delivery_whose_subscription_is_gone_after_a_restart_is_a_dead_letter(harness: Harness) -> None:
    harness.expected_dead = {"entry"}
    harness.bus.subscribe("ticket.#", "entry", Recorder())
    await harness.bus.start()
    await harness.publish(not_before=harness.time.now + timedelta(seconds=5))
    await harness.bus.stop(1)
    harness.build().subscribe("order.#", "entry", Recorder())
    await harness.bus.start()
    await until(lambda: bool(harness.hops), lambda: harness.time.jump(10))

    assert "no subscription 'entry:ticket.#'" in (await harness.only()).error


async def test_a_replayed_dead_letter_keeps_its_identity_and_can_be_done(harness: Harness) -> None:
    handler, seen = failing(PermanentError("broken"))
    harness.bus.subscribe("#", "entry", handler)
    await harness.bus.start()
    sent = await harness.publish(ttl_s=10)
    await harness.finish()
    harness.time.advance(3600)
    replayed = await harness.backend.requeue(sent.id, "entry:#")
    await harness.finish()

    assert replayed
    assert seen[1].message == sent
    assert (seen[1].attempt, seen[1].redelivered) == (1, True)
    assert (await harness.only()).state is State.DONE


async def test_a_replayed_suspended_message_may_run(harness: Harness) -> None:
    entry = Recorder()
    harness.bus.subscribe("#", "entry", entry, Policy(max_hops=3))
    await harness.bus.start()
    sent = await harness.publish(hops=4)
    await harness.finish()
    await harness.backend.requeue(sent.id, "entry:#")
    await harness.finish()

    assert entry.got == [sent]


async def test_only_a_dead_letter_can_be_dropped_or_replayed(harness: Harness) -> None:
    handler, _ = failing(PermanentError("broken"))
    harness.bus.subscribe("#", "entry", handler)
    await harness.bus.start()
    dead, done = await harness.publish(), await harness.publish()
    await harness.finish()
    backend = harness.backend

    assert [await backend.drop(done.id, "entry:#"), await backend.requeue(done.id, "entry:#")] == [False, False]
    assert [await backend.drop(dead.id, "entry:#"), await backend.requeue(dead.id, "entry:#")] == [True, False]
    assert await harness.states() == {(dead.id, "entry"): State.CANCELLED, (done.id, "entry"): State.DONE}


async def test_counts_and_find_tell_where_messages_are(harness: Harness) -> None:
    harness.expected_dead = {"b"}
    dying, _ = failing(PermanentError("broken"))
    harness.bus.subscribe("x", "a", Recorder())
    harness.bus.subscribe("#", "b", dying)
    await harness.bus.start()
    first, second = await harness.publish("x"), await harness.publish("x")
    await harness.finish()
    backend = harness.backend

    assert await backend.counts() == {("a", State.DONE): 2, ("b", State.DONE): 1, ("b", State.DEAD): 1}
    assert {item.agent for item in await backend.find(message_id=second.id)} == {"a", "b"}
    assert [item.message for item in await backend.find(states=[State.DEAD])] == [first]
    assert len(await backend.find(limit=3)) == 3
    assert backend.queue_size("a") == 0
