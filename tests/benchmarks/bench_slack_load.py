"""Load over signed HTTP: 50 events a second while every tool takes seconds. How soon is each acknowledged, is any lost?

Goal: p99 of the acknowledgement at most 100 ms, nothing lost. The yardstick is a bare slack-bolt app that does nothing,
sent the same events in the same moments. Run: `python tests/benchmarks/bench_slack_load.py [seconds]` (default 120).
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sqlite3
import statistics
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import aiohttp

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from hermes_bot.edge.http_door import signature  # noqa: E402 - run as a script, from anywhere
from hermes_bot.workspace.server import WorkspaceServer  # noqa: E402 - the same
from tests.scenario.bot_process import environment  # noqa: E402 - the same
from tests.scenario.stage import buyers, story_world  # noqa: E402 - the same

RATE = 50
TOOL_S = 2.0
START_LIMIT_S = 120.0
SETTLE_LIMIT_S = 300.0
SERVE, BARE = "--serve", "--bare"


async def serve() -> None:
    """Run the bot of the environment, each of whose tools takes seconds."""
    from hermes_bot import settings
    from hermes_bot.app import HermesApp
    from hermes_bot.tools.toolbox import Toolbox

    quick = Toolbox.call

    async def slow(*arguments: Any, **named: Any) -> Any:
        await asyncio.sleep(TOOL_S)
        return await quick(*arguments, **named)

    Toolbox.call = slow  # type: ignore[method-assign]  # that is the point of it
    app = HermesApp(settings=settings.load(None), edge=True)
    await app.start()
    await app.run_until_stopped()


async def bare() -> None:
    """Run a slack-bolt app that acknowledges and does nothing else."""
    from aiohttp import web
    from slack_bolt.async_app import AsyncApp
    from slack_bolt.authorization import AuthorizeResult

    async def known(**_request: Any) -> AuthorizeResult:
        return AuthorizeResult(enterprise_id=None, team_id="T0HERMES", bot_user_id="U0HERMES", bot_token="xoxb-1")

    app = AsyncApp(signing_secret=os.environ["SLACK_SIGNING_SECRET"], authorize=known, process_before_response=True)

    @app.event("message")
    async def heard() -> None:
        """Do nothing."""

    runner = web.AppRunner(app.web_app(path="/slack/events"))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", int(os.environ["HERMES_HTTP__PORT"])).start()
    await asyncio.Event().wait()


class Load:
    """Sends the same events to both and keeps how long each acknowledgement took."""

    def __init__(self, session: aiohttp.ClientSession, secret: str, urls: dict[str, str]) -> None:
        self._session = session
        self._secret = secret.encode()
        self._urls = urls
        self.took_s: dict[str, list[float]] = {name: [] for name in urls}
        self.refused = dict.fromkeys(urls, 0)

    async def run(self, seconds: float) -> int:
        """Return how many events were sent."""
        people = [(buyer.user, buyer.order.id) for buyer in buyers()]
        begun, sent = time.perf_counter(), 0
        async with asyncio.TaskGroup() as sending:
            while (now := time.perf_counter() - begun) < seconds:
                if sent < now * RATE:
                    user, order = people[sent % len(people)]
                    raw = _event(sent, user, f"Where is my order {order}?")
                    for name in self._urls:
                        sending.create_task(self._send(name, raw), name=f"{name}-{sent}")
                    sent += 1
                else:
                    await asyncio.sleep(0.002)
        return sent

    async def _send(self, name: str, raw: bytes) -> None:
        stamp = str(int(time.time()))
        headers = {
            "Content-Type": "application/json",
            "X-Slack-Request-Timestamp": stamp,
            "X-Slack-Signature": signature(self._secret, stamp, raw).decode(),
        }
        started = time.perf_counter()
        async with self._session.post(self._urls[name], data=raw, headers=headers) as answer:
            await answer.read()
            self.refused[name] += answer.status != 200
        self.took_s[name].append(time.perf_counter() - started)


def _event(number: int, user: str, text: str) -> bytes:
    ts = f"{1_700_000_000 + number // 1000}.{number % 1000:06d}"
    message = {
        "type": "message",
        "channel": "C0SUPPORT",
        "channel_type": "channel",
        "user": user,
        "text": text,
        "ts": ts,
    }
    body = {"type": "event_callback", "team_id": "T0HERMES", "event_id": f"Ev{number}", "event": message}
    return json.dumps(body).encode()


def kept(data: Path) -> int:
    """Return how many of the messages stand on a ticket."""
    with closing(sqlite3.connect(data / "hermes.db")) as store:
        return int(store.execute("SELECT count(DISTINCT ts) FROM ticket_messages").fetchone()[0])


async def settled(data: Path, sent: int) -> int:
    """Return how many messages stand on tickets, once all do or time is up."""
    end = time.monotonic() + SETTLE_LIMIT_S
    while kept(data) < sent and time.monotonic() < end:  # noqa: ASYNC110 - the store is another process's
        await asyncio.sleep(0.5)
    return kept(data)


async def started(part: str, url: str, variables: dict[str, str], folder: Path) -> asyncio.subprocess.Process:
    """Return a process that listens there."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, __file__, part),
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), **variables},
        stderr=asyncio.subprocess.DEVNULL,
    )
    host, port = url.removeprefix("http://").split("/")[0].split(":")
    async with asyncio.timeout(START_LIMIT_S):
        while True:
            try:
                _, writer = await asyncio.open_connection(host, int(port))
            except OSError:
                await asyncio.sleep(0.1)
            else:
                writer.close()
                return process


async def ready(session: aiohttp.ClientSession, url: str) -> None:
    """Wait until the bot takes events."""
    async with asyncio.timeout(START_LIMIT_S):
        while True:
            async with session.get(url.replace("/slack/events", "/readyz")) as answer:
                if answer.status == 200:
                    return
            await asyncio.sleep(0.2)


def told(took_s: list[float]) -> dict[str, float]:
    """Return percentiles in milliseconds."""
    cuts = statistics.quantiles(took_s, n=100)
    return {
        "p50_ms": round(cuts[49] * 1000, 2),
        "p99_ms": round(cuts[98] * 1000, 2),
        "max_ms": round(max(took_s) * 1000, 1),
    }


def address() -> str:
    """Return an address on a port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return f"http://127.0.0.1:{probe.getsockname()[1]}/slack/events"


async def main(seconds: float) -> None:
    """Run both, send, and print what came of it."""
    urls = {"hermes": address(), "bare bolt": address()}
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        async with WorkspaceServer(world=story_world()) as server, aiohttp.ClientSession() as session:
            secret = server.world.app.signing_secret
            more = {"SLACK_APP_TOKEN": "", "SLACK_SIGNING_SECRET": secret}
            processes = []
            for (name, url), part in zip(urls.items(), (SERVE, BARE), strict=True):
                port = url.split(":")[2].split("/")[0]
                variables = environment(server, data, **more, HERMES_HTTP__PORT=port)
                processes.append(await started(part, url, variables, Path(folder)))
                if name == "hermes":
                    await ready(session, url)
            try:
                load = Load(session, secret, urls)
                sent = await load.run(seconds)
                stand = await settled(data, sent)
            finally:
                for process in processes:
                    process.terminate()
                    await process.wait()
    figures = {name: told(took) | {"refused": load.refused[name]} for name, took in load.took_s.items()}
    ratio = figures["hermes"]["p99_ms"] / figures["bare bolt"]["p99_ms"]
    print(json.dumps({"sent": sent, "lost": sent - stand, **figures, "p99_ratio": round(ratio, 2)}, indent=2))


if __name__ == "__main__":
    if SERVE in sys.argv:
        asyncio.run(serve())
    elif BARE in sys.argv:
        asyncio.run(bare())
    else:
        asyncio.run(main(float(sys.argv[1]) if len(sys.argv) > 1 else 120.0))
