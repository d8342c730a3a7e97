"""Lengths of time, sizes and counts as people write them, and read from what they type."""

from __future__ import annotations

import re
from datetime import datetime

import typer

_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_RATES = {"s": 1, "m": 60, "h": 3_600}


def seconds_of(text: str) -> float:
    """Return the seconds in `90`, `90s`, `15m`, `2h` or `1d`; raise BadParameter for anything else."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhd]?)", text.strip())
    if found is None:
        raise typer.BadParameter(f"{text!r} is no length of time; write 90s, 15m, 2h or 1d")
    return float(found[1]) * _UNITS[found[2] or "s"]


def pause_of(rate: str) -> float:
    """Return the seconds between two of `10/s`, `30/m` or `5/h`, 0 for no limit; raise BadParameter else."""
    if not rate:
        return 0.0
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*/\s*([smh])", rate.strip())
    if found is None or float(found[1]) == 0:
        raise typer.BadParameter(f"{rate!r} is no rate; write 10/s, 30/m or 5/h")
    return _RATES[found[2]] / float(found[1])


def took(milliseconds: float) -> str:
    """Return how long something took."""
    if milliseconds >= 10_000:
        return long(milliseconds / 1000)
    if milliseconds >= 1000:
        return f"{milliseconds / 1000:.1f} s"
    return f"{milliseconds:.0f} ms" if milliseconds >= 10 else f"{milliseconds:.1f} ms"


def long(seconds: float) -> str:
    """Return a length of time to its largest two units: `1 d 3 h`, `2 min 5 s`."""
    whole = round(seconds)
    units = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))
    parts = []
    for name, size in units:
        count, whole = divmod(whole, size)
        if count:
            parts.append(f"{count} {name}")
    return " ".join(parts[:2]) or "0 s"


def last(now: datetime, since: datetime) -> str:
    """Return how long it has been, or how long it is still: `in 23 h 5 min`."""
    seconds = (now - since).total_seconds()
    return long(seconds) if seconds >= 0 else f"in {long(-seconds)}"


def bytes_of(size: int) -> str:
    """Return a size: `512 B`, `3.4 kB`, `1.2 MB`."""
    if size < 1000:
        return f"{size} B"
    return f"{size / 1000:.1f} kB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"


def plural(count: int, one: str, many: str = "") -> str:
    """Return the count with its word."""
    return f"{count} {one if count == 1 else many or one + 's'}"
