"""Hot reload: a saved routes file takes effect while the bot runs; a bad one never does, and people are told."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path

from hermes_bot.errors import HermesError, SettingsError
from routing.watch import Version

POLL_S = 0.25  # a new content is seen twice before it counts: both looks and the building stay within two seconds

log = logging.getLogger(__name__)

Apply = Callable[[bytes], Awaitable[None]]
Tell = Callable[[str, str], Awaitable[None]]


class Reload:
    """Looks at the file again and again; hands what is new to `apply`, and what is wrong with it to `tell`.

    `poll` returns a new version of the file once (see `FileWatch`) and blocks. `apply` raises SettingsError for a
    content that may not take effect, having changed nothing. `tell(text, key)` reaches people; one key, one message.
    `digest` is that of the content in effect.
    """

    def __init__(
        self,
        file: Path,
        poll: Callable[[], Version | None],
        apply: Apply,
        tell: Tell,
        *,
        digest: str,
        clock: Callable[[], datetime],
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._file = file
        self._poll = poll
        self._apply = apply
        self._tell = tell
        self._clock = clock
        self._sleep = sleep
        self._good = digest
        self._bad = ""

    async def run(self) -> None:
        """Watch until cancelled. What goes wrong is logged and told, and never ends the watch."""
        while True:
            await self._sleep(POLL_S)
            try:
                await self.look()
            except Exception:  # an edge to people's files: the bot runs on with the last good one
                log.exception("routes file was not looked at")

    async def look(self) -> None:
        """Look once."""
        version = await asyncio.to_thread(self._poll)
        if version is not None:
            await self._take(version)

    async def _take(self, version: Version) -> None:
        error = await self._why_not(version)
        if error is not None:
            self._bad = version.digest
            await self._say_bad(error, version)
            return
        if version.digest != self._good:
            log.info("routes file took effect", extra={"file": str(self._file), "digest": version.digest[:12]})
        self._good = version.digest
        if self._bad:
            self._bad = ""
            await self._say(f":white_check_mark: `{self._file}` is good again and in effect.", "good", version)

    async def _why_not(self, version: Version) -> SettingsError | None:
        """Let the version take effect, or return what is wrong with it."""
        if version.content is None:
            return SettingsError(version.why, file=str(self._file))
        try:
            if version.digest != self._good:
                await self._apply(version.content)
        except SettingsError as error:
            return error
        return None

    async def _say_bad(self, error: SettingsError, version: Version) -> None:
        fields = {"file": error.file, "line": error.line, "column": error.column, "error": str(error)}
        log.error("routes file is refused, the last good one stays in effect", extra=fields)
        text = (
            f":warning: {self._file.name} was changed and is not used: {error}\n"
            "The last good version stays in effect. Mend the file and save it; nothing has to be restarted."
        )
        await self._say(text, "bad", version)

    async def _say(self, text: str, kind: str, version: Version) -> None:
        moment = "" if kind == "bad" and version.known else f":{self._clock():%Y%m%d%H%M%S}"
        try:
            await self._tell(text, f"routes-file:{kind}:{version.digest[:32]}{moment}")
        except HermesError:
            log.exception("nobody could be told about the routes file")
