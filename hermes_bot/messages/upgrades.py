"""Reads envelopes of older versions: one step for each version, from the oldest up to the present one.

A new optional field needs no new version: an old reader keeps fields that it does not know, and a new reader takes
the default where they are missing. A version is for what an old reader would get wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from hermes_bot.errors import PermanentError

VERSION = 1
"""The version that this program writes."""

UNMARKED = 1
"""What an envelope without a version is, for ever: version 1 left its number out as a default."""

Fields = dict[str, Any]


def upgraded(fields: Fields, steps: Mapping[int, Callable[[Fields], Fields]] | None = None) -> Fields:
    """Return the envelope's fields as the present version has them; raise PermanentError for a newer one."""
    ladder = STEPS if steps is None else steps
    version = fields.get("version", UNMARKED)
    if isinstance(version, bool) or not isinstance(version, int):
        raise PermanentError(f"not a message: version {version!r} is not a whole number")
    newest = max(ladder, default=VERSION - 1) + 1
    if version > newest:
        raise PermanentError(f"message version {version} is newer than {newest}, the newest that is known here")
    while version < newest:
        step = ladder.get(version)
        if step is None:
            raise PermanentError(f"message version {version} is not known")
        version += 1
        fields = {**step(fields), "version": version}
    return fields


def _from_version_0(fields: Fields) -> Fields:
    """Version 0 said `payload` for `data` and `timestamp`, in seconds since 1970, for `created_at`."""
    new = dict(fields)
    if "payload" in new:
        new["data"] = new.pop("payload")
    if "timestamp" in new:
        new["created_at"] = _moment(new.pop("timestamp"))
    return new


def _moment(seconds: object) -> str:
    try:
        return datetime.fromtimestamp(float(str(seconds)), UTC).isoformat()
    except (ValueError, OverflowError, OSError) as error:
        raise PermanentError(f"not a message: timestamp {seconds!r} is not a time") from error


STEPS: Mapping[int, Callable[[Fields], Fields]] = {0: _from_version_0}
