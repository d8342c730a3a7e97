"""The support desk of the harness with a model that decides: a scripted server instead of a real endpoint."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from agents.desk import Agent
from agents.entry import EntryAgent
from agents.handoff import HandoffAgent
from agents.model.meter import Meter, ModelCall
from agents.model.planner import ModelPlanner, Models
from agents.order import OrderAgent
from agents.planner import Planner
from agents.refund import RefundAgent
from agents.rules.order import OrderPlanner
from agents.rules.refund import RefundPlanner
from agents.spec import AgentsFile, Budgets
from agents.spec_file import read_specs
from agents.texts import Texts
from agents.unknown import UnknownAgent
from hermes_bot.llm.openai_chat import OpenAIChat
from hermes_bot.store.agent_runs import AgentRuns
from hermes_bot.store.database import Database
from hermes_bot.store.usage import UsageStore
from tests.agents.harness import Clock, Pump
from tests.llm.model_server import ModelServer, model_server

CONFIGS = Path(__file__).parents[2] / "configs"
SHIPPED, _ = read_specs(CONFIGS / "agents.yaml")
POLICY = (CONFIGS / "policies.yaml").read_text(encoding="utf-8")


@dataclass(kw_only=True)
class ModelDesk:
    """A pump whose agents ask `server`, and what was counted."""

    pump: Pump
    server: ModelServer
    usage: UsageStore
    runs: AgentRuns
    calls: list[ModelCall] = field(default_factory=list)
    alarms: list[tuple[str, str]] = field(default_factory=list)

    def meter(self, specs: AgentsFile) -> Meter:
        """Return what counts into this desk."""
        return Meter(
            self.usage,
            budgets=specs.budgets,
            of_agent={name: spec.budget for name, spec in specs.agents.items()},
            prices=specs.prices,
            on_call=self.calls.append,
            on_alarm=lambda subject, text, *, reference: self.alarms.append((subject, f"{text} {reference}")),
        )


def _agents(pump: Pump, models: Models, texts: Texts, specs: AgentsFile, *, rules: bool) -> tuple[Agent, ...]:
    def planner(name: str, fallback: Planner) -> ModelPlanner:
        tools = pump.desk.toolbox.tools_for(name)
        return ModelPlanner(name, specs.of(name), tools, models, fallback=fallback if rules else None)

    return (
        EntryAgent(),
        OrderAgent(planner("order", OrderPlanner(texts))),
        RefundAgent(planner("refund", RefundPlanner(texts))),
        HandoffAgent(),
        UnknownAgent(),
    )


@asynccontextmanager
async def with_model(
    pump: Pump,
    server: ModelServer,
    database: Database,
    clock: Clock,
    texts: Texts,
    *,
    specs: AgentsFile = SHIPPED,
    rules: bool = True,
    more: Sequence[Agent] = (),
    **options: Any,
) -> AsyncIterator[ModelDesk]:
    """Open the desk with model planners for order and refund; `options` are the chat client's."""

    async def no_sleep(_seconds: float) -> None:
        return

    client: dict[str, Any] = {"sleep": no_sleep, "timeout_s": 60.0} | options
    chat = OpenAIChat("scripted", base_url=server.base_url, **client)
    usage, runs = UsageStore(database, clock=clock), AgentRuns(database, clock=clock)
    desk = ModelDesk(pump=pump, server=server, usage=usage, runs=runs)
    models = Models(
        chat=chat,
        meter=desk.meter(specs),
        policy=POLICY,
        details=lambda language: texts.render(language, "model.details"),
    )

    agents = (*_agents(pump, models, texts, specs, rules=rules), *more)
    desk.pump = replace(pump, desk=replace(pump.desk, agent_runs=runs), agents={agent.name: agent for agent in agents})
    try:
        yield desk
    finally:
        await chat.close()


def limited(**budgets: Any) -> AgentsFile:
    """Return the shipped agents' file with other budgets."""
    return SHIPPED.model_copy(update={"budgets": Budgets.model_validate(budgets)})


class Opens:
    """Opens desks for one test."""

    def __init__(self, parts: AsyncExitStack, pump: Pump, database: Database, clock: Clock, texts: Texts) -> None:
        self._open = (pump, database, clock, texts)
        self._parts = parts

    async def __call__(self, *replies: Any, specs: AgentsFile = SHIPPED, **options: Any) -> ModelDesk:
        pump, database, clock, texts = self._open
        server: ModelServer = await self._parts.enter_async_context(model_server())
        server.replies += replies
        opened = with_model(pump, server, database, clock, texts, specs=specs, **options)
        return await self._parts.enter_async_context(opened)
