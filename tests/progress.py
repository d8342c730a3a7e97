"""Tells which file each worker is at: where several run tests, dots alone do not say where one hangs."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest


class Progress:
    """Writes a line when a worker has come to another file, with the time, and one for each test that fails."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._files: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Look at what a worker did last."""
        node: Any = getattr(report, "node", None)
        worker, file = str(node.gateway.id) if node else "", report.nodeid.partition("::")[0]
        if self._files.get(worker) != file:
            self._files[worker] = file
            self._write(f"{worker} {file}")
        if report.failed:
            self._write(f"{worker} failed: {report.nodeid}")

    def _write(self, line: str) -> None:
        terminal: Any = self._config.pluginmanager.getplugin("terminalreporter")
        if terminal is not None:
            terminal.write_line(f"\n{datetime.now().astimezone():%H:%M:%S} {line}")
