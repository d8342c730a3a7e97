"""Who calls a tool, and what can come of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from hermes_bot.tools.order import Customer


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """On whose behalf a tool runs. `customer` comes from the Slack user's e-mail and never from what they wrote.

    `user` is the Slack user, `language` that of the customer's message. `asked_at` is when the customer asked, where
    that is earlier than now: policies with a window count from it, so that a slow approval costs nobody their right.
    """

    customer: Customer | None
    agent: str
    ticket_id: str
    user: str
    language: str
    asked_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What a privileged tool is about to do, in words. `arguments` are complete: what is shown is what will run.

    `internal` (label and value) is what only staff may read beside it: the policy's check, the customer's history.
    """

    title: str
    shown: tuple[tuple[str, str], ...]
    arguments: dict[str, Any] = field(default_factory=dict)
    internal: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """The tool ran; `result` is a JSON object."""

    result: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class NeedsApproval:
    """The tool did not run: a person must allow exactly these arguments. `level` is "L2" or "L3".

    `title` and `shown` (label and value) are what the approval card says, `internal` what it says to staff alone.
    `fingerprint` is the tool's: one that has changed by then must not run on this word.
    """

    tool: str
    level: str
    arguments: dict[str, Any]
    title: str
    shown: tuple[tuple[str, str], ...]
    internal: tuple[tuple[str, str], ...] = ()
    fingerprint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """The tool did not run and will not: not_allowed, unknown_customer, may_have_run, or a code of the tool's own."""

    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Invalid:
    """The arguments cannot be used; one precise sentence per problem, for the planner that sent them."""

    problems: tuple[str, ...]


Outcome = Done | NeedsApproval | Refused | Invalid
