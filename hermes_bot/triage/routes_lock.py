"""One writer of the routes file at a time: the bot and a command may both be asked to add a line."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def routes_lock(file: Path) -> Iterator[None]:
    """Hold the lock of the file's folder. Blocks while another process has it, which takes milliseconds."""
    folder = os.open(file.resolve().parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)
