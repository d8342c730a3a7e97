"""The workspace's memory between two runs: one JSON file, replaced as a whole and never written over when unreadable.

Kept are messages, ephemerals, files, conversations, how far everybody has read, and events that the app has not taken
yet. Not kept are open modals, response URLs and sockets: they end with the process, as they end soon in Slack. The
contents of files lie in a folder beside it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from hermes_bot.errors import SettingsError
from hermes_bot.workspace.files import StoredFile
from hermes_bot.workspace.people import Channel
from hermes_bot.workspace.posts import Json, Post
from hermes_bot.workspace.read_marks import Marks

_log = logging.getLogger(__name__)
_TS = re.compile(r"\d{1,12}\.\d{6}")
VERSION = 1
WRITE_EVERY_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedState:
    """What is kept."""

    version: int
    team: str
    channels: tuple[Channel, ...]
    posts: tuple[Post, ...]
    undelivered: tuple[Json, ...]
    files: tuple[StoredFile, ...] = ()
    read_marks: Marks = field(default_factory=dict)


_FORM = TypeAdapter(SavedState)


def load_state(path: Path, team: str) -> SavedState | None:
    """Return what the file holds, None when there is no file; raise SettingsError when it cannot be used."""
    try:
        state = _FORM.validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SettingsError(
            f"the workspace's conversations cannot be read: {error.strerror}", file=str(path)
        ) from error
    except ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(str(step) for step in fault["loc"]) or "the file"
        raise SettingsError(
            f"not a file of workspace conversations ({place}: {fault['msg']}); move it away to start anew",
            file=str(path),
        ) from error
    wrong = next((post.ts for post in state.posts if not _TS.fullmatch(post.ts)), None)
    if wrong is not None:
        raise SettingsError(f"not a file of workspace conversations (ts {wrong!r}); move it away", file=str(path))
    if (state.version, state.team) != (VERSION, team):
        raise SettingsError(
            f"made for version {state.version} and team {state.team}, not {VERSION} and {team}; move it away",
            file=str(path),
        )
    return state


def save_state(path: Path, state: SavedState) -> None:
    """Replace the file in one step; it is readable by its owner alone, because it holds what customers wrote."""
    raw = _FORM.dump_json(state)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(raw)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise SettingsError(
            f"the workspace's conversations cannot be kept: {error.strerror}", file=str(path)
        ) from error


class StateKeeper:
    """Writes the state when something changed, at most once a second, and a last time at the end."""

    def __init__(self, path: Path, snapshot: Callable[[], SavedState]) -> None:
        self._path = path
        self._snapshot = snapshot
        self._changed = asyncio.Event()
        self._closing = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to write. The first write comes at once, so that a folder that cannot be written is known early."""
        save_state(self._path, self._snapshot())
        self._task = asyncio.get_running_loop().create_task(self._run(), name="workspace-state")

    def touch(self) -> None:
        """Note that the state changed."""
        self._changed.set()

    async def close(self) -> None:
        """Write the state a last time, if it changed since the last."""
        if self._task is None:
            return
        self._closing.set()
        await self._task
        if self._changed.is_set():
            await self._save()

    async def _run(self) -> None:
        while not self._closing.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(WRITE_EVERY_S):
                    await self._closing.wait()
            if self._changed.is_set():
                self._changed.clear()
                await self._save()

    async def _save(self) -> None:
        try:
            await asyncio.to_thread(save_state, self._path, self._snapshot())
        except SettingsError:
            _log.exception("workspace_state_not_kept", extra={"path": str(self._path)})
