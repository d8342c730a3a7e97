"""The port to whoever decides the next step, and the run that it decides on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol

from agents.action import Action, CallTool
from hermes_bot.errors import HermesError
from hermes_bot.tickets.thread import ThreadLine
from hermes_bot.tickets.ticket import Ticket


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What came of a tool call, or of parts that were delegated.

    `status` is done, waiting (an approval was asked for), asked_before (one waits for the same already), refused,
    invalid, repeated (the same call was made before, and was not made again), failed, or rejected (by a person).
    `result` is the tool's answer, or `{"approval_id": …}`. `code` says why it was refused, `problems` what is wrong
    with the arguments.
    """

    status: str
    result: dict[str, Any] = field(default_factory=dict)
    code: str = ""
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One turn of the loop."""

    call: CallTool
    observation: Observation


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Everything a planner may look at. `memory` is the agent's own state, `board` what all agents of the ticket share.

    `identified` says whether the requester is a customer of the shop, `locale` how the shop writes to them.
    `message_id` is the message that is handled now, `at` when the customer asked. `request` is the original request,
    whole. A `task` is worked on for another agent: `expects` is the JSON Schema of its result, and `ticket` may be
    None. `history` and `facts` are working memory and recalled facts, as texts. `thread` is what stood there before
    the customer called us: only the lines that are their `own` are their words.
    """

    ticket: Ticket | None
    agent: str
    text: str
    language: str
    locale: str = ""
    choice: str = ""
    identified: bool = True
    memory: dict[str, Any] = field(default_factory=dict)
    board: dict[str, Any] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    message_id: str = ""
    at: datetime | None = None
    request: str = ""
    expects: dict[str, Any] | None = None
    history: str = ""
    facts: tuple[str, ...] = ()
    task: bool = False
    thread: tuple[ThreadLine, ...] = ()

    def after(self, call: CallTool, observation: Observation) -> Run:
        """Return the run with one more step."""
        return replace(self, steps=(*self.steps, Step(call=call, observation=observation)))

    def seen(self, call: CallTool) -> Observation | None:
        """Return what the same call has shown in this run, or None."""
        return next((step.observation for step in self.steps if step.call == call), None)

    @property
    def waits(self) -> bool:
        """Whether a person was asked to allow something in this run and has not answered yet."""
        asked: list[str] = []
        for step in self.steps:
            if step.observation.status == "waiting":
                asked.append(step.call.tool)
            elif step.call.tool in asked and step.observation.status in {"done", "refused", "rejected"}:
                asked.remove(step.call.tool)
        return bool(asked)


class GaveUp(HermesError):
    """A planner cannot decide; somebody else has to, in the same run."""


class Planner(Protocol):
    """Decides the next action. It must not change anything itself. It is asked again and again within one handling."""

    async def plan(self, run: Run) -> Action:
        """Return the next action, given all steps so far."""
        ...


class Stepwise(ABC):
    """A planner that takes its time: each of its steps is a message of its own, and the run is kept between them.

    `fallback` decides where it gives up; None: people do. `fingerprint` changes with whatever a run relies on: a run
    that was begun under another one is not carried on. `rounds` limits how often one part of a task is done.
    """

    fallback: Planner | None = None
    fingerprint: str = ""
    max_steps: int = 15
    rounds: int = 3

    @abstractmethod
    async def plan(self, run: Run) -> Action:
        """Return the next action, given all steps so far; raise GaveUp."""
