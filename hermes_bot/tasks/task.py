"""What is asked for: a part of a task, how long it may take, and what follows when it fails."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from hermes_bot.errors import PermanentError

PART_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
TIMEOUT_S = 30.0


class OnFailure(msgspec.Struct, frozen=True, kw_only=True):
    """What follows when a part fails: it is sent again up to `retries` times; then the whole task fails.

    With `optional` the task goes on without its result, and what comes after it is still sent.
    """

    retries: int = 0
    optional: bool = False


FAIL = OnFailure()
CONTINUE = OnFailure(optional=True)


def retry(times: int, *, then: OnFailure = FAIL) -> OnFailure:
    """Return the policy that sends a failed part again up to `times` times, and then does what `then` says."""
    return OnFailure(retries=times, optional=then.optional)


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """One part of a task: a message that somebody else answers with `task.result`.

    `type` must be one that the delegating agent may name; the route table chooses who gets it. `expects` is a JSON
    Schema for the result. It is sent once all parts in `after` have ended, with their results in its data under
    `results`, by name. `timeout_s` counts from each sending.
    """

    name: str
    type: str
    data: dict[str, Any] = {}
    after: tuple[str, ...] = ()
    expects: dict[str, Any] | None = None
    timeout_s: float = TIMEOUT_S
    on_failure: OnFailure = FAIL


def part_task(key: str, name: str, round_: int) -> str:
    """Return the `task_id` of a part's message; each round is a task of its own."""
    return f"{key}/{name}" if round_ == 1 else f"{key}/{name}.r{round_}"


def read_part_task(task: str) -> tuple[str, str, int]:
    """Return (key, name, round) of a part's `task_id`; raise PermanentError where it is none."""
    key, slash, rest = task.rpartition("/")
    name, dot, number = rest.partition(".r")
    if not slash or not PART_NAME.fullmatch(name) or (dot and not number.isdecimal()):
        raise PermanentError(f"{task!r} is not the task of a part")
    return key, name, int(number) if dot else 1
