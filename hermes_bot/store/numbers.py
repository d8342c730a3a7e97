"""Ids that people read, such as T-17: a prefix and the number of a row."""

from __future__ import annotations

MOST_DIGITS = 18  # what every database takes as a number


def number_in(written: str, prefix: str) -> int | None:
    """Return the number in `<prefix>-17`; None where that is not what was written."""
    start, _, digits = written.partition("-")
    if start != prefix or not digits.isascii() or not digits.isdigit() or len(digits) > MOST_DIGITS:
        return None
    return int(digits)
