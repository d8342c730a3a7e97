"""Scenes on redis: workers that are killed, and a server that stops, dies, hangs up, pauses or has no memory left."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from time import monotonic, sleep

from hermes_bot.bus.redis_backend import RedisBackend
from tests.fire.ledger import Ledger, ledger_at
from tests.fire.lives import Lives, Running, lives
from tests.fire.on_sqlite import finish, not_done, took, wait_until
from tests.fire.report import Report, Step, no_step, pause_s, report_of
from tests.fire.worker import ENDLESS
from tests.servers import Redis

WORKERS = 3
LIVES_S = (0.02, 0.5)
HANDLER_S = 0.05  # at most, so that some are in flight at every kill
GOES_ON = 50  # messages that must get through after each trouble

Trouble = Callable[[Redis], None]


def worker_kills(
    folder: Path,
    server: Redis,
    *,
    times: int,
    rate: float = 200.0,
    lease_s: float = 10.0,
    seed: int = 1,
    step: Step = no_step,
) -> Report:
    """`kill -9` of one of three workers, again and again, while another process publishes."""
    chance, began = Random(seed), monotonic()
    with lives(folder, server.url) as all_lives, ledger_at(folder / "ledger.db") as ledger:
        publisher = all_lives.start(publish=ENDLESS, rate=rate, concurrency=0)
        workers = [all_lives.start(lease_s=lease_s, handler_s=HANDLER_S) for _ in range(WORKERS)]
        for running in (publisher, *workers):
            running.wait_for("ready")
        for number in range(times):
            sleep(pause_s(chance, *LIVES_S))
            one = chance.randrange(WORKERS)
            all_lives.kill(workers[one])
            workers[one] = all_lives.start(lease_s=lease_s, handler_s=HANDLER_S)
            if chance.random() < 0.5:  # else the next kill may hit while one is missing
                workers[one].wait_for("ready")
            step(number + 1, times)
        problems = end(all_lives, ledger, server, publisher, workers)
        audit = ledger.audit(all_lives.killed)
    return report_of("kill -9 of a worker, redis", audit, problems, kills=times, rate=rate, seconds=took(began))


def end(all_lives: Lives, ledger: Ledger, server: Redis, publisher: Running, workers: list[Running]) -> tuple[str, ...]:
    """Let everybody finish, one after another; return what is wrong in the bus."""
    publisher.drain()
    for worker in workers:
        worker.wait_for("ready")
    for worker in workers:
        worker.drain()
    problems = finish(all_lives, ledger, RedisBackend(server.url))
    return (*problems, *not_done(RedisBackend(server.url)))


def stop_and_start(server: Redis) -> None:
    """SIGTERM and a new start."""
    server.stop()
    sleep(0.5)
    server.start()


def kill_and_start(server: Redis) -> None:
    """`kill -9` and a new start, from the append-only file."""
    server.kill()
    sleep(0.5)
    server.start()


def hang_up(server: Redis) -> None:
    """CLIENT KILL of every connection, ten times."""
    for _ in range(10):
        with server.client() as client:
            client.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        sleep(0.1)


def stand_still(server: Redis) -> None:
    """CLIENT PAUSE for two seconds."""
    with server.client() as client:
        client.execute_command("CLIENT", "PAUSE", "2000", "ALL")
    sleep(2)


def no_memory(server: Redis) -> None:
    """No new message can be stored for two seconds."""
    with server.client() as client:
        client.config_set("maxmemory", 1_000_000)
        sleep(2)
        client.config_set("maxmemory", 0)


TROUBLES: dict[str, Trouble] = {
    "stopped and started": stop_and_start,
    "killed and started": kill_and_start,
    "CLIENT KILL": hang_up,
    "CLIENT PAUSE": stand_still,
    "out of memory": no_memory,
}


def troubles(folder: Path, server: Redis, *, rounds: int = 1, rate: float = 200.0, step: Step = no_step) -> Report:
    """Each trouble in turn, under load; nobody is killed but the server, so nothing may run twice."""
    began, of = monotonic(), rounds * len(TROUBLES)
    with lives(folder, server.url) as all_lives, ledger_at(folder / "ledger.db") as ledger:
        publisher = all_lives.start(publish=ENDLESS, rate=rate, concurrency=0)
        workers = [all_lives.start(lease_s=30.0) for _ in range(2)]
        for running in (publisher, *workers):
            running.wait_for("ready")
        for number in range(of):
            wait_for_more(ledger)
            list(TROUBLES.values())[number % len(TROUBLES)](server)
            wait_for_more(ledger)
            step(number + 1, of)
        refused = ledger.count("refused")
        problems = end(all_lives, ledger, server, publisher, workers)
        audit = ledger.audit(all_lives.killed)
    return report_of("troubles of redis", audit, problems, troubles=of, refused=refused, seconds=took(began))


def wait_for_more(ledger: Ledger) -> None:
    """Return once messages get through from end to end."""
    acked, done = ledger.count("acked"), ledger.count("effects")
    wait_until(lambda: ledger.count("acked") > acked + GOES_ON and ledger.count("effects") > done + GOES_ON)
