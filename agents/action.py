"""What a planner may decide, exactly three things: call a tool, delegate, finish."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from hermes_bot.messages.payloads import Audience, Choice
from hermes_bot.tasks.task import Part

CHOICE_HUMAN = "human"
"""The choice by which a customer asks for a person, whichever agent offers it."""


class Outcome(StrEnum):
    """How an agent's work on a message ends."""

    ANSWERED = "answered"
    ASK_CUSTOMER = "ask_customer"
    HANDOFF = "handoff"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTool:
    """Call a tool; what comes back is the next observation.

    `written` is what a model wrote for arguments where that is no JSON: the toolbox may still make sense of it.
    """

    tool: str
    arguments: dict[str, Any]
    written: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delegate:
    """Leave the message to whoever takes this type; `choice` goes along as if the customer had pressed it.

    With `parts` it is not left: others carry the parts out, and what came of them is the next observation.
    """

    type: str = ""
    choice: str = ""
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Private:
    """What the customer alone may see. In a direct message it is shown together with the answer itself.

    `audience` says how it reaches them out of a channel: `owner` (a direct message) or `ephemeral`. With `tells` the
    text says something of its own, and stands in a direct message too, where the answer and this are one.
    """

    text: str
    audience: Audience = Audience.OWNER
    fields: tuple[tuple[str, str], ...] = ()
    choices: tuple[Choice, ...] = ()
    tells: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """End the work on this message.

    `text` is what the thread reads; for a handoff it stays empty and `reason` says why, in one word, `known` what
    was found out, in the staff's language. `memory` is the state that the agent keeps for the ticket's next message.
    `result` is what a task expects.
    """

    outcome: Outcome
    text: str = ""
    choices: tuple[Choice, ...] = ()
    private: Private | None = None
    reason: str = ""
    known: tuple[tuple[str, str], ...] = ()
    solved: bool = False
    memory: dict[str, Any] = field(default_factory=dict)
    result: dict[str, Any] = field(default_factory=dict)


Action = CallTool | Delegate | Finish
