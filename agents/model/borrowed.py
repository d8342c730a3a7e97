"""What a call takes over from people who are not the customer: in a thread anybody can write an address."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any

from agents.action import CallTool
from agents.hands import IN_OWN_WORDS
from agents.planner import Run

_TOKEN = re.compile(r"[a-z0-9]*\d[a-z0-9]*|[^\W\d_\u4e00-\u9fff]{4,}")
_PAIR = re.compile(r"(?=([\u4e00-\u9fff]{2}))")


def borrowed(call: CallTool, run: Run) -> tuple[str, ...]:
    """Return what is wrong with a call that changes something, where a value of it is known from others alone.

    The customer's own words and what tools have shown may be used, whoever else said the same.
    """
    others = _tokens(line.text for line in run.thread if not line.own)
    if not others:
        return ()
    said = (run.text, run.request, run.history, *(line.text for line in run.thread if line.own))
    shown = (step.observation.result for step in run.steps)
    known = _tokens([*said, *run.facts, *map(str, shown), str(run.board), str(run.memory)])
    values = {name: value for name, value in call.arguments.items() if name not in IN_OWN_WORDS}
    taken = sorted(_tokens(_texts(values)) & others - known)
    if not taken:
        return ()
    return (
        f"Only others in the thread said {', '.join(taken[:5])}, not the customer and no tool. "
        "Ask the customer, or leave it.",
    )


def _tokens(texts: Iterable[str]) -> set[str]:
    plain = [unicodedata.normalize("NFKC", text).casefold() for text in texts]
    return {token for text in plain for kind in (_TOKEN, _PAIR) for token in kind.findall(text)}


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)
    elif value is not None and not isinstance(value, bool):
        yield str(value)
