"""Asks the model for the next action; what cannot be used is sent back once, and then the rules decide."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from time import monotonic
from typing import Any

from agents.action import Action, CallTool, Finish, Outcome, Private
from agents.model.borrowed import borrowed
from agents.model.checks import PromptGuard, problems_of
from agents.model.evidence import Evidence
from agents.model.fence import Fence
from agents.model.meter import Meter
from agents.model.offer import Offer
from agents.model.privacy import parted, private_values_in
from agents.model.prompt import PromptParts, conversation, correction, secret_text
from agents.model.proof import unchecked
from agents.model.reading import NotAnAction, read_action
from agents.planner import GaveUp, Planner, Run, Stepwise
from agents.spec import AgentSpec
from hermes_bot.llm.chat import Chat, ChatAnswer, ChatAsk, ChatMessage, ModelUnavailable, OnDelta
from hermes_bot.tickets.ticket import TicketStatus
from hermes_bot.tools.registry import Level, Tool

CORRECTIONS = 1
QUESTIONS = frozenset({"waiting", "asked", "misses", "wish", "words", "delegated_to"})
PENDING = {"issue_refund": "refunds", "cancel_order": "cancels"}  # where the rules remember what waits for people

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """What every model planner needs: the client, the count of what is spent, the policy, words for an empty thread.

    `details` returns, for a language, the words that stand in a thread when all else of an answer is private.
    `limit_s` is the time for one decision, the correction of an answer included.
    """

    chat: Chat
    meter: Meter
    policy: str
    details: Callable[[str], str]
    limit_s: float = 36.0
    on_delta: OnDelta | None = None


class ModelPlanner(Stepwise):
    """Plans for one agent. It raises GaveUp where rules have to decide: no answer, no budget, or nonsense twice."""

    def __init__(
        self, agent: str, spec: AgentSpec, tools: Sequence[Tool], models: Models, *, fallback: Planner | None = None
    ) -> None:
        self.fallback = fallback
        self.fingerprint = fingerprint_of(agent, spec, tools)
        self.max_steps = spec.max_steps
        self.rounds = spec.rounds
        self._spec = spec
        self._tools = tools
        self._models = models
        self._parts = PromptParts(prompt=spec.prompt, policy=models.policy)

    async def plan(self, run: Run) -> Action:
        """Return the next action; raise GaveUp."""
        try:
            async with asyncio.timeout(self._models.limit_s):
                return await self._planned(run)
        except TimeoutError as error:
            raise GaveUp(f"no decision within {self._models.limit_s:g} s") from error

    async def _planned(self, run: Run) -> Action:
        spent = await self._models.meter.refuses(run)
        if spent:
            raise GaveUp(f"{spent} is spent")
        offer = self.offer(run)
        messages = conversation(run, self._parts, offer, Fence())
        problems: tuple[str, ...] = ()
        for _ in range(1 + CORRECTIONS):
            answer = await self._ask(run, messages, offer)
            try:
                action = self._used(run, read_action(answer, offer, task_timeout_s=self._spec.task_timeout_s))
            except NotAnAction as error:
                problems = error.problems
                await self._models.meter.record(run, answer, outcome="invalid")
                messages = (*messages, *correction(_written(answer), problems))
                continue
            await self._models.meter.record(run, answer, outcome="done")
            return action
        raise GaveUp(f"no usable action: {'; '.join(problems)}"[:300])

    def offer(self, run: Run) -> Offer:
        """Return what the model may do in this run."""
        customer = not run.task
        expects = None if customer else run.expects or self._spec.expects
        return Offer.of(self._tools, self._spec.delegates, expects=expects, customer=customer)

    async def _ask(self, run: Run, messages: tuple[ChatMessage, ...], offer: Offer) -> ChatAnswer:
        models, began = self._models, monotonic()
        ask = ChatAsk(
            messages=messages,
            functions=offer.functions,
            schema=offer.schema,
            model=self._spec.model,
            temperature=self._spec.temperature,
            max_tokens=self._spec.max_tokens,
        )
        try:
            return await models.chat.ask(ask, on_delta=models.on_delta)
        except ModelUnavailable as error:
            models.meter.failed(run, ask.model or models.chat.model, monotonic() - began, error.reason)
            raise GaveUp(str(error)) from error

    def _used(self, run: Run, action: Action) -> Action:
        """Return the action as it is carried out; raise NotAnAction for words that must not be said."""
        if isinstance(action, Finish) and self._spec.checked_by:
            wrong = unchecked(action, run.steps, self._spec.checked_by)
            if wrong:
                raise NotAnAction(*wrong)
        if isinstance(action, CallTool) and self._changes_something(action.tool):
            taken = borrowed(action, run)
            if taken:
                raise NotAnAction(*taken)
        if not isinstance(action, Finish) or run.task:
            return action
        results = [step.observation.result for step in run.steps if step.observation.result]
        waits = run.waits or (run.ticket is not None and run.ticket.status is TicketStatus.WAITING_APPROVAL)
        found = problems_of(
            action,
            evidence=self._evidence(run, results),
            guard=self._guard,
            language=run.language,
            steps=run.steps,
            waits=waits,
        )
        if found:
            raise NotAnAction(*found)
        return replace(self._in_private(run, action, results), memory=_memory_after(run, action))

    def _changes_something(self, tool: str) -> bool:
        return any(each.name == tool and each.level > Level.L0 for each in self._tools)

    def _evidence(self, run: Run, results: Sequence[Mapping[str, Any]]) -> Evidence:
        evidence = Evidence()
        own = (line.text for line in run.thread if line.own)
        for text in (run.text, run.request, run.history, self._models.policy, *run.facts, *own):
            evidence.add_text(text)
        for data in (*results, run.board, run.memory):
            evidence.add_data(data)
        if run.at is not None:
            evidence.add_text(run.at.date().isoformat())
        return evidence

    def _in_private(self, run: Run, end: Finish, results: Sequence[Mapping[str, Any]]) -> Finish:
        """Return the answer with what is the customer's alone out of the thread's text."""
        values = [value for data in results for value in private_values_in(data)]
        public, more = parted(end.text, values)
        private = "\n".join(filter(None, (more, end.private.text if end.private else "")))
        if not private:
            return end
        text = public or self._models.details(run.language)
        return replace(end, text=text, private=Private(text=private, tells=True))

    @cached_property
    def _guard(self) -> PromptGuard:
        return PromptGuard(secret_text(self._parts), [tool.name for tool in self._tools])


def _order_in(result: Mapping[str, Any]) -> str:
    """Return the number of the one order that a tool spoke of."""
    whole = result.get("order")
    inner = whole.get("id") if isinstance(whole, Mapping) else None
    return str(result.get("order_id") or inner or "")


def fingerprint_of(agent: str, spec: AgentSpec, tools: Sequence[Tool]) -> str:
    """Return what changes with anything that a run of this agent relies on."""
    said = [[tool.name, tool.level.name, tool.description, dict(tool.parameters)] for tool in tools]
    whole = [agent, spec.model_dump(mode="json"), said]
    return hashlib.sha256(json.dumps(whole, sort_keys=True, default=str).encode()).hexdigest()


def _written(answer: ChatAnswer) -> str:
    calls = " ".join(f"{call.name}({call.arguments})" for call in answer.calls)
    return "\n".join(filter(None, (answer.text, calls)))


def _memory_after(run: Run, end: Finish) -> dict[str, Any]:
    """Return what the agent keeps: the order that the talk was about, what waits for people, and an open question."""
    memory = {key: value for key, value in run.memory.items() if key not in QUESTIONS}
    for step in run.steps:
        order = _order_in(step.observation.result)
        if step.observation.status == "done" and order:
            memory["order"] = order
        kept, asked = PENDING.get(step.call.tool, ""), str(step.call.arguments.get("order_id", ""))
        if step.observation.status == "waiting" and kept and asked:
            memory[kept] = {**memory.get(kept, {}), asked: "pending"}
    if end.outcome is Outcome.ASK_CUSTOMER:
        memory["waiting"] = "answer"
    return memory
