"""Code in an answer, and whether the agent's own tool has run exactly this code and found nothing wrong with it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence

from agents.action import Finish, Outcome
from agents.planner import Step

CODE = "code"
"""The key of a result that holds code."""

_BLOCK = re.compile(r"^[ \t]*```[^\n`]*\n(?P<body>.*?)^[ \t]*```", re.DOTALL | re.MULTILINE)


def digest_of(code: str) -> str:
    """Return what a tool that has run the code gives as `checked`."""
    return hashlib.sha256(code.strip().encode()).hexdigest()


def unchecked(end: Finish, steps: Sequence[Step], tool: str) -> tuple[str, ...]:
    """Return what is wrong with an answer whose code must have passed `tool` in this run, in words for the model."""
    if end.outcome is not Outcome.ANSWERED:
        return ()
    shown = tuple(_code_in(end))
    if not shown:
        return (f"There is no code in the answer. Give the code that {tool} has checked, in a block between ```.",)
    passed = {
        str(step.observation.result.get("checked", ""))
        for step in steps
        if step.call.tool == tool and step.observation.status == "done" and step.observation.result.get("passed")
    }
    if all(digest_of(code) in passed for code in shown):
        return ()
    return (f"The code in the answer is not, character for character, code that {tool} has run and that passed.",)


def _code_in(end: Finish) -> Iterator[str]:
    for text in (end.text, end.private.text if end.private else ""):
        yield from (match["body"] for match in _BLOCK.finditer(text))
    if isinstance(end.result.get(CODE), str):
        yield end.result[CODE]
