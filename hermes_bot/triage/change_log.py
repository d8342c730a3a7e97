"""Writes down what people changed in the routes file by hand, once it has taken effect."""

from __future__ import annotations

import logging
from pathlib import Path

from hermes_bot.errors import HermesError
from hermes_bot.triage.proposals import Proposals
from routing.edit import changed_lines
from routing.watch import digest_of

LINES_CHARACTERS = 20_000

log = logging.getLogger(__name__)


class ChangeLog:
    """Records each new content once; what an accepted suggestion wrote stands there already, with its author."""

    def __init__(self, proposals: Proposals, file: Path) -> None:
        self._proposals = proposals
        self._file = file

    async def record(self, before: bytes, after: bytes) -> None:
        """Keep the changed lines. A store that is away is no reason to route by the old file: it is logged."""
        digest = digest_of(after)
        try:
            if await self._proposals.wrote(digest):
                return
            await self._proposals.record_change(
                f"file:{digest_of(before)[:20]}:{digest[:20]}",
                by="",
                file=str(self._file),
                digest=digest,
                lines=changed_lines(before, after, name=self._file.name)[:LINES_CHARACTERS],
            )
        except HermesError as error:
            log.warning("a change of the routes file was not recorded", extra={"error": str(error)})
