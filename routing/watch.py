"""Notices that a file was saved: its stat is looked at often, its content only where that may have changed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

YOUNG_S = 2.0  # a file this young may be saved again within one tick of its file system's clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """What a file holds at one moment. `content` is None for a file that is not there or cannot be read."""

    digest: str
    content: bytes | None = None
    why: str = ""

    @property
    def known(self) -> bool:
        """Whether there is a file."""
        return self.content is not None


class FileWatch:
    """Returns a new version once it has been seen twice in a row, so that a file in the midst of a save is let be."""

    def __init__(self, path: Path, *, clock: Callable[[], datetime], seen: str = "") -> None:
        self.path = path
        self._clock = clock
        self._told = seen
        self._last = Version(digest=seen)
        self._stat: tuple[int, int, int] | None = None

    def poll(self) -> Version | None:
        """Return the version that differs from the one returned last, or None. Blocks for a read."""
        before = self._last
        self._last = self._look()
        if self._last.digest != before.digest or self._last.digest == self._told:
            return None
        self._told = self._last.digest
        return self._last

    def _look(self) -> Version:
        try:
            stat = self.path.stat()
            key = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
            if key == self._stat and self._clock().timestamp() - stat.st_mtime > YOUNG_S:
                return self._last
            content = self.path.read_bytes()
        except OSError as error:
            self._stat = None
            return Version(digest=f"gone:{error.errno}", why=error.strerror or "cannot be read")
        self._stat = key
        return Version(digest=digest_of(content), content=content)


def digest_of(content: bytes) -> str:
    """Return what tells one content from another."""
    return hashlib.sha256(content).hexdigest()
