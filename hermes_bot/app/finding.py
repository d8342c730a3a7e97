"""What a look of `doctor` at one thing found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How serious a finding is. A `note` is worth knowing, a `problem` makes `doctor` fail."""

    OK = "ok"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a look at one thing found; `remedy` says what to do, empty where nothing is."""

    check: str
    level: Level
    text: str
    remedy: str = ""


def ok(check: str, text: str) -> Finding:
    """Return that all is well."""
    return Finding(check=check, level=Level.OK, text=text)


def note(check: str, text: str, remedy: str = "") -> Finding:
    """Return what is worth knowing."""
    return Finding(check=check, level=Level.NOTE, text=text, remedy=remedy)


def problem(check: str, text: str, remedy: str = "") -> Finding:
    """Return what is wrong."""
    return Finding(check=check, level=Level.PROBLEM, text=text, remedy=remedy)
