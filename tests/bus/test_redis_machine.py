"""Any order of publishing, leasing, settling and dying on redis: the backend against the model of it."""

import asyncio

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule, run_state_machine_as_test

from hermes_bot.bus.port import Backend, State
from hermes_bot.bus.redis_backend import RedisBackend
from tests.bus.conftest import redis_on_fake_time
from tests.bus.test_machine import AGENTS, STEPS, BackendMachine, Known
from tests.servers import Redis

EVERYTHING = 10_000


class RedisMachine(BackendMachine):
    """On redis a lane counts from when its head may run, and now and then the process dies."""

    server: Redis

    def __init__(self) -> None:
        super().__init__()
        self.may_run_since: dict[tuple[str, str], float] = {}

    def new_backend(self) -> Backend:
        return redis_on_fake_time(self.server, self.time)

    @property
    def redis(self) -> RedisBackend:
        assert isinstance(self.backend, RedisBackend)
        return self.backend

    @invariant()
    def note_heads(self) -> None:
        now = self.time.now.timestamp()
        heads = [head.delivery.key for agent in AGENTS for head in self.leaseable(agent)]
        self.may_run_since = {key: self.may_run_since.get(key, now) for key in heads}

    def urgency(self, known: Known) -> float:
        return self.may_run_since[known.delivery.key] - known.delivery.message.priority * 5.0

    def nothing_to_lease(self, agent: str) -> None:
        leasing = self.loop.create_task(self.backend.lease(agent))
        for _ in range(3):  # an answer comes after those to earlier questions
            self.wait(self.backend.counts())
        assert not leasing.done(), "something was handed out that is not due"
        leasing.cancel()
        self.loop.run_until_complete(asyncio.gather(leasing, return_exceptions=True))

    @rule(seconds=st.sampled_from([1, 11]))
    def time_passes(self, seconds: int) -> None:
        for _ in range(seconds):
            self.time.advance(1)
            self.wait(self.redis._run("promote", EVERYTHING))
            self.note_heads()

    @rule()
    def crash(self) -> None:
        """Stop listening without a word, as a killed process does; another one takes over what it held."""
        abandoned, upkeep, prefix = self.redis, self.upkeep, self.redis._address.prefix
        upkeep.cancel()
        self.loop.run_until_complete(asyncio.gather(upkeep, return_exceptions=True))
        abandoned._leases.clear()
        self.open(redis_on_fake_time(self.server, self.time, prefix=prefix))
        self.wait(self.redis._run("recover", 0, EVERYTHING))
        self.wait(abandoned.close())
        for key in self.leased:
            known = self.known[key]
            at = self.cancelled_at.get(known.delivery.message.context_id)
            cancelled = at is not None and known.delivery.queued_at <= at
            known.state, known.attempt = State.CANCELLED if cancelled else State.QUEUED, known.attempt + 1
        self.leased.clear()


@pytest.fixture
def machine(redis_server: Redis) -> type[RedisMachine]:
    RedisMachine.server = redis_server
    return RedisMachine


def test_any_order_of_steps_and_deaths_loses_doubles_and_starves_nothing(machine: type[RedisMachine]) -> None:
    run_state_machine_as_test(machine, settings=STEPS)
