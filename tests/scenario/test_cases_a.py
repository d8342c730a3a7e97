"""Field cases of kind A, acknowledgements and duplicates: A1, A4, A6 and their relatives, over sockets and HTTP."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
import pytest_asyncio

from hermes_bot.bus.port import Delivery
from hermes_bot.bus.sqlite import SqliteBackend
from hermes_bot.errors import StoreError
from hermes_bot.workspace.clock import SettableClock
from hermes_bot.workspace.faults import Slow
from routing.choice import RouteChoice
from routing.live import LiveRouter
from tests.scenario.cases import playing
from tests.scenario.crowd import crowd
from tests.scenario.field import acknowledged, all_taken, deliver, held, noted, repeated, soon, tickets_of, tries_of
from tests.scenario.in_both_modes import MODES
from tests.scenario.stage import SUPPORT, Stage, Talk

pytestmark = pytest.mark.asyncio(loop_scope="module")

SEED, ROUNDS, MANY = 20261201, 20, 20
QUESTION = "Where is my order?"


@pytest.fixture(scope="module")
def clock() -> SettableClock:
    """The workspace's clock, which stands still: what is acknowledged was so in no time at all."""
    return SettableClock()


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=MODES)
async def stage(
    request: pytest.FixtureRequest, clock: SettableClock, vectors: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stage]:
    async with playing(request.param, tmp_path_factory.mktemp("cases"), vectors, clock=clock) as stage:
        yield stage


@contextmanager
def slow_classifier(monkeypatch: pytest.MonkeyPatch) -> Iterator[asyncio.Event]:
    """A classifier that answers once the event is set."""
    choose, go_on = LiveRouter.choose, asyncio.Event()

    async def slowly(router: LiveRouter, text: str) -> RouteChoice:
        await go_on.wait()
        return await choose(router, text)

    with monkeypatch.context() as patch:
        patch.setattr(LiveRouter, "choose", slowly)
        try:
            yield go_on
        finally:
            go_on.set()


async def one_answer(stage: Stage, talk: Talk) -> None:
    """Wait until all is done, and assert that the message became one ticket with one reply."""
    await stage.answer(talk)
    await stage.quiet()
    assert len(tickets_of(stage, talk)) == 1
    assert len(stage.replies(talk)) == 1


@pytest.mark.parametrize("number", range(ROUNDS))
async def test_a1_redelivered_while_the_classifier_is_slow_it_is_one_ticket_and_one_reply(
    stage: Stage, clock: SettableClock, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    chance = random.Random(f"{SEED}:{number}")
    again, at_once, released = chance.randint(1, 3), chance.randint(1, 3), chance.random() < 0.3
    with held(stage) as bodies:
        talk = await stage.say(crowd(2 + ROUNDS)[number], SUPPORT, QUESTION)
    with slow_classifier(monkeypatch) as go_on:
        deliver(stage, *bodies * at_once)
        if released:
            go_on.set()
        await repeated(stage, clock, bodies[0], again)
        assert released or not stage.replies(talk)
    await one_answer(stage, talk)


async def test_a1_what_was_not_taken_is_taken_when_it_comes_again(
    stage: Stage, clock: SettableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish, refused = SqliteBackend.publish, list[int]()

    async def not_at_first(backend: SqliteBackend, deliveries: Sequence[Delivery]) -> Sequence[bool]:
        if not refused:
            refused.append(len(deliveries))
            raise StoreError("the disk is full")
        return await publish(backend, deliveries)

    with held(stage) as bodies:
        talk = await stage.say("U0EMMA", SUPPORT, QUESTION)
    with monkeypatch.context() as patch:
        patch.setattr(SqliteBackend, "publish", not_at_first)
        deliver(stage, *bodies)
        await soon(lambda: refused and tries_of(stage, bodies[0]["event_id"]))
        clock.advance(3.5)
        await all_taken(stage, clock)

    await one_answer(stage, talk)


async def test_a1_two_messages_with_the_same_words_are_two(stage: Stage) -> None:
    first = await stage.say("U0LINA", SUPPORT, QUESTION)
    second = await stage.say("U0LINA", SUPPORT, QUESTION)

    await one_answer(stage, first)
    await one_answer(stage, second)


@pytest.mark.parametrize("place", ["channel", "dm"])
async def test_a4_a_second_delivery_after_the_ticket_exists_is_no_follow_up(
    stage: Stage, clock: SettableClock, place: str
) -> None:
    buyer = stage.next_buyer()
    with held(stage) as bodies:
        channel = SUPPORT if place == "channel" else buyer.dm
        talk = await stage.say(buyer.user, channel, f"Can I talk to a person? {place}")
    deliver(stage, *bodies)
    await stage.answer(talk)
    card = await stage.card("handoff", buyer.name)
    await stage.quiet()
    await repeated(stage, clock, bodies[0], 2)
    deliver(stage, bodies[0] | {"event_id": f"Ev0AGAIN{place}"})  # the same message under another event_id
    await stage.quiet()

    assert len(stage.replies(talk)) == 1
    assert noted(stage, card) == []
    assert len(stage.cards("handoff", buyer.name)) == 1


async def test_a4_a_reply_that_comes_twice_is_said_once_to_the_people_who_have_the_ticket(
    stage: Stage, clock: SettableClock
) -> None:
    buyer = stage.next_buyer()
    talk = await stage.say(buyer.user, SUPPORT, "Can I talk to a person?")
    await stage.answer(talk)
    card = await stage.card("handoff", buyer.name)
    with held(stage) as bodies:
        await stage.say(buyer.user, SUPPORT, "It is about a kettle", talk.root)
    await repeated(stage, clock, bodies[0], 3)
    await stage.quiet()

    assert len(noted(stage, card)) == 1


async def test_a6_twenty_messages_are_acknowledged_though_looking_people_up_takes_four_seconds(
    stage: Stage, clock: SettableClock
) -> None:
    people = crowd(60)[-MANY:]
    stage.server.faults.add(method="users.info", fault=Slow(4.0), times=MANY)
    began = clock.now()
    talks = await asyncio.gather(*(stage.say(user, SUPPORT, QUESTION) for user in people))
    await acknowledged(stage)
    assert clock.now() == began  # no look-up can have ended by now

    while not all(stage.replies(talk) for talk in talks):
        await soon(lambda: clock.waiting() or all(stage.replies(talk) for talk in talks))
        clock.advance(4.0)
        await asyncio.sleep(0)
    stage.server.faults.clear()
    await all_taken(stage, clock)
    for talk in talks:
        await one_answer(stage, talk)
