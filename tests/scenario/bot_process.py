"""Hermes as a process of its own, started the way a user starts it, so that a test can kill it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from hermes_bot.workspace.server import WorkspaceServer

START_LIMIT_S = 180.0
STOP_LIMIT_S = 60.0


def environment(server: WorkspaceServer, data: Path, **more: str) -> dict[str, str]:
    """Return what connects a bot to the test's workspace and keeps it away from everything else on the machine."""
    app = server.world.app
    return {
        "SLACK_BOT_TOKEN": app.bot_token,
        "SLACK_APP_TOKEN": app.app_token,
        "SLACK_API_URL": server.api_url,
        "HERMES_DATA__PATH": str(data),
        "HERMES_HTTP__PORT": "0",
        "HERMES_ENCODER__PROFILE": "light",
        "HERMES_SLACK__HANDOFF_CHANNEL": "C0HANDOFF",
        "HERMES_APPROVALS__APPROVERS": '["S0APPROVERS"]',
        "HERMES_PEOPLE__OPERATORS": '["S0OPERATORS"]',
        "HERMES_PEOPLE__ADMINS": '["U0ADA"]',
        **more,
    }


class BotProcess:
    """`async with BotProcess(environment, folder):` runs `hermes-bot run`, or `command`, until the block ends."""

    def __init__(self, variables: Mapping[str, str], folder: Path, command: Sequence[str] = ("run",)) -> None:
        self._command = command
        self._variables = dict(variables)
        self._folder = folder
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> dict[str, Any]:
        """Return what the program says of itself once it listens."""
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "hermes_bot",
            *self._command,
            "--json",
            cwd=self._folder,
            env={"PATH": os.environ["PATH"], "HOME": str(self._folder), **self._variables},
            stdout=asyncio.subprocess.PIPE,
        )
        assert self._process.stdout is not None
        async with asyncio.timeout(START_LIMIT_S):
            line = await self._process.stdout.readline()
        assert line, f"the bot ended with {await self._process.wait()}"
        told: dict[str, Any] = json.loads(line)
        return told

    @property
    def running(self) -> bool:
        """Whether it was started, and neither stopped nor killed."""
        return self._process is not None and self._process.returncode is None

    async def kill(self) -> None:
        """End the process at once, as a power cut would."""
        await self._end(signal.SIGKILL)

    async def stop(self) -> int:
        """Ask the process to stop and return its exit code."""
        return await self._end(signal.SIGTERM)

    async def _end(self, number: signal.Signals) -> int:
        process, self._process = self._process, None
        if process is None or process.returncode is not None:
            return 0
        process.send_signal(number)
        async with asyncio.timeout(STOP_LIMIT_S):
            return await process.wait()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()
