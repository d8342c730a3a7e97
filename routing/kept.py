"""Arrays kept on disk as a cache: a file that is damaged or cannot be written costs time, never an answer."""

from __future__ import annotations

import hashlib
import logging
import os
import re
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_log = logging.getLogger(__name__)

Arrays = Mapping[str, NDArray[Any]]


def file_for(folder: Path, name: str, *, kind: str) -> Path:
    """Return the file for an encoder's name, which may hold any character."""
    digest = hashlib.blake2b(name.encode(), digest_size=4).hexdigest()
    return folder / f"{re.sub(r'[^A-Za-z0-9._-]+', '-', name)[:60]}-{digest}-{kind}.npz"


def load(path: Path) -> dict[str, NDArray[Any]] | None:
    """Return the arrays of the file, or None when there is none or it is damaged."""
    if not path.exists():
        return None
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            return {name: stored[name] for name in stored.files}
    except (OSError, ValueError, KeyError, EOFError, AttributeError, zipfile.BadZipFile) as error:
        _log.warning("cache file is damaged and will be rebuilt", extra={"path": str(path), "cause": str(error)})
        return None


def save(path: Path, arrays: Arrays) -> None:
    """Write beside the file and rename, so that a crash leaves the old file or the new one."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, written = tempfile.mkstemp(dir=path.parent, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                np.savez(file, allow_pickle=False, **dict(arrays))
            Path(written).replace(path)
        finally:
            Path(written).unlink(missing_ok=True)
    except OSError as error:
        _log.warning("cache file cannot be written", extra={"path": str(path), "cause": str(error)})
