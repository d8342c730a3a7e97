"""What is wrong in a settings file, collected so that a person sees all of it at once."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from hermes_bot.errors import SettingsError


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong: `place` is a file or the name of a variable, `line` counts from 1, 0 where unknown."""

    text: str
    place: str = ""
    line: int = 0
    key: str = ""


def refuse(problems: Sequence[Problem]) -> NoReturn:
    """Raise one SettingsError that tells every problem, one a line; its attributes are those of the first."""
    in_order = sorted(problems, key=lambda each: (each.place, each.line))
    first = in_order[0]
    errors = [SettingsError(each.text, file=each.place, line=each.line, key=each.key) for each in in_order]
    if len(errors) == 1:
        raise errors[0]
    whole = SettingsError("\n".join(str(error) for error in errors), key=first.key)
    whole.file, whole.line = first.place, first.line
    raise whole


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return the known word nearest to `word`, empty when none is near."""
    by_folded = {each.casefold(): each for each in known}
    near = difflib.get_close_matches(word.casefold(), list(by_folded), n=1, cutoff=0.6)
    return by_folded[near[0]] if near else ""
