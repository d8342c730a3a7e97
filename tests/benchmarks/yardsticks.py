"""Other people's buses under the same load: `yardsticks.py NAME …`, run with the Python of `.venv-bench`.

Each has five handlers that return at once and a way of three hops, as plainly as its own documents show it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hermes_bot.cli.bench_load import AGENTS, TEXT, Contender, Done, from_arguments, measure

WAYS = {f"a{n}": "" for n in range(AGENTS)} | {"hop0": "hop1", "hop1": "hop2", "hop2": ""}
"""Each handler, and where it sends a message on."""


@dataclass
class Body:
    """autogen-core takes a message by its class."""

    n: int
    text: str


class Yardstick:
    """What they have in common: a message is a dictionary, and there is no server."""

    def _body(self, n: int) -> dict[str, Any]:
        return {"n": n, "text": TEXT, "id": secrets.token_hex(16)}

    def server_cpu_s(self) -> float:
        return 0.0


class Taskiq(Yardstick):
    """taskiq, in memory or with redis lists; the worker is this process, as in its own tests."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def start(self, done: Done, numbers: int) -> None:
        import taskiq  # type: ignore[import-not-found]  # stands in an environment of its own

        if self._url:
            from taskiq_redis import ListQueueBroker  # type: ignore[import-not-found]  # stands in an environment of its own

            self._broker: Any = ListQueueBroker(
                self._url, queue_name=f"taskiq-{secrets.token_hex(4)}", max_connection_pool_size=1000
            )
        else:
            self._broker = taskiq.InMemoryBroker(max_async_tasks=1000)
        self._tasks = [self._broker.register_task(_ends(done), task_name=f"a{n}") for n in range(AGENTS)]
        hops: list[Any] = [self._broker.register_task(_ends(done), task_name="hop2")]
        for hop in (1, 0):
            hops.insert(0, self._broker.register_task(_kicks(hops[0]), task_name=f"hop{hop}"))
        self._first = hops[0]
        self._receiving: asyncio.Task[None] | None = None
        self._broker.is_worker_process = bool(self._url)
        await self._broker.startup()
        if self._url:
            from taskiq.receiver import Receiver  # type: ignore[import-not-found]  # stands in an environment of its own

            receiver = Receiver(self._broker, run_startup=False, max_async_tasks=100)
            self._finish = asyncio.Event()
            self._receiving = asyncio.create_task(receiver.listen(self._finish), name="receiver")

    async def publish(self, n: int) -> None:
        await self._tasks[n % AGENTS].kiq(self._body(n))

    async def chain(self, n: int) -> None:
        await self._first.kiq(self._body(n))

    async def stop(self) -> None:
        if self._receiving is not None:
            self._finish.set()
            self._receiving.cancel()
            await asyncio.gather(self._receiving, return_exceptions=True)
        await self._broker.shutdown()


def _ends(done: Done) -> Callable[[dict[str, Any]], Any]:
    async def handler(body: dict[str, Any]) -> None:
        done(body["n"])

    return handler


def _kicks(following: Any) -> Callable[[dict[str, Any]], Any]:
    async def handler(body: dict[str, Any]) -> None:
        await following.kiq(body)

    return handler


class Autogen(Yardstick):
    """autogen-core's single-threaded runtime, publishing to topics."""

    async def start(self, done: Done, numbers: int) -> None:
        from autogen_core import ClosureAgent, SingleThreadedAgentRuntime, TopicId, TypeSubscription  # type: ignore[import-not-found]  # stands in an environment of its own

        self._runtime = SingleThreadedAgentRuntime()
        self._topics = {name: TopicId(type=name, source="bench") for name in WAYS}

        def closure(following: str) -> Any:
            async def handle(_agent: Any, message: Body, _context: Any) -> None:
                if following:
                    await self._runtime.publish_message(message, topic_id=self._topics[following])
                else:
                    done(message.n)

            return handle

        for name, following in WAYS.items():
            await ClosureAgent.register_closure(
                self._runtime,
                name,
                closure(following),
                subscriptions=_only(TypeSubscription(topic_type=name, agent_type=name)),
                unknown_type_policy="ignore",
            )
        self._runtime.start()

    async def publish(self, n: int) -> None:
        await self._runtime.publish_message(Body(n, TEXT), topic_id=self._topics[f"a{n % AGENTS}"])

    async def chain(self, n: int) -> None:
        await self._runtime.publish_message(Body(n, TEXT), topic_id=self._topics["hop0"])

    async def stop(self) -> None:
        await self._runtime.stop_when_idle()


def _only(subscription: Any) -> Callable[[], list[Any]]:
    return lambda: [subscription]


class FastStream(Yardstick):
    """FastStream's redis broker, with its test broker in memory or with streams on a server."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def start(self, done: Done, numbers: int) -> None:
        from faststream.redis import RedisBroker, StreamSub, TestRedisBroker  # type: ignore[import-not-found]  # stands in an environment of its own

        self._prefix = f"fs{secrets.token_hex(4)}"
        broker = RedisBroker(self._url or "redis://127.0.0.1:6379", logger=None, max_connections=1000)

        def sub(name: str) -> Any:
            stream = f"{self._prefix}-{name}"
            return StreamSub(stream, group="g", consumer="c", max_records=100) if self._url else StreamSub(stream)

        def ends() -> Any:
            async def handler(body: dict[str, Any]) -> None:
                done(body["n"])

            return handler

        def goes_on(following: str) -> Any:
            async def handler(body: dict[str, Any]) -> None:
                await self._send(body, following)

            return handler

        for name, following in WAYS.items():
            broker.subscriber(stream=sub(name))(goes_on(following) if following else ends())
        self._broker: Any = broker
        self._test: Any = None if self._url else TestRedisBroker(broker)
        if self._test is not None:
            await self._test.__aenter__()
        else:
            await broker.start()

    async def _send(self, body: dict[str, Any], name: str) -> None:
        await self._broker.publish(body, stream=f"{self._prefix}-{name}")

    async def publish(self, n: int) -> None:
        await self._send(self._body(n), f"a{n % AGENTS}")

    async def chain(self, n: int) -> None:
        await self._send(self._body(n), "hop0")

    async def stop(self) -> None:
        if self._test is not None:
            await self._test.__aexit__(None, None, None)
        else:
            await self._broker.stop()


class Arq(Yardstick):
    """arq's worker with its default poll of half a second."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def start(self, done: Done, numbers: int) -> None:
        from arq import create_pool, func  # type: ignore[import-not-found]  # stands in an environment of its own
        from arq.connections import RedisSettings  # type: ignore[import-not-found]  # stands in an environment of its own
        from arq.worker import Worker  # type: ignore[import-not-found]  # stands in an environment of its own

        settings, queue = RedisSettings.from_dsn(self._url), f"arq-{secrets.token_hex(4)}"
        self._pool = await create_pool(settings, default_queue_name=queue)

        async def ends(_context: Any, body: dict[str, Any]) -> None:
            done(body["n"])

        def goes_on(following: str) -> Any:
            async def handler(_context: Any, body: dict[str, Any]) -> None:
                await self._pool.enqueue_job(following, body)

            return handler

        functions = [func(ends, name=f"a{n}") for n in range(AGENTS)]
        functions += [func(goes_on("hop1"), name="hop0"), func(goes_on("hop2"), name="hop1"), func(ends, name="hop2")]
        self._worker = Worker(
            functions, redis_pool=self._pool, queue_name=queue, max_jobs=100, keep_result=0, handle_signals=False
        )
        self._running = asyncio.create_task(self._worker.async_run(), name="worker")

    async def publish(self, n: int) -> None:
        await self._pool.enqueue_job(f"a{n % AGENTS}", self._body(n))

    async def chain(self, n: int) -> None:
        await self._pool.enqueue_job("hop0", self._body(n))

    async def stop(self) -> None:
        await asyncio.gather(*self._worker.tasks.values(), return_exceptions=True)
        self._running.cancel()
        await asyncio.gather(self._running, return_exceptions=True)
        await self._pool.aclose()


def maker(name: str, url: str) -> Callable[[], Contender]:
    makers: dict[str, Callable[[], Contender]] = {
        "taskiq": lambda: Taskiq(""),
        "autogen-core": Autogen,
        "FastStream": lambda: FastStream(""),
        "taskiq redis": lambda: Taskiq(url),
        "FastStream redis": lambda: FastStream(url),
        "arq": lambda: Arq(url),
    }
    return makers[name]


def main(arguments: list[str]) -> None:
    logging.disable(logging.ERROR)
    name, load, _, url = from_arguments(arguments)
    sys.stdout.write(json.dumps(measure(maker(name, url), load)) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
