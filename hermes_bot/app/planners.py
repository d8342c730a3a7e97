"""Chooses who decides for each agent: the model where the agents' file says so and there is one, else the rules."""

from __future__ import annotations

from agents.action import Action
from agents.model.meter import Meter
from agents.model.planner import ModelPlanner, Models
from agents.planner import GaveUp, Planner, Run, Stepwise
from agents.spec import AgentsFile
from agents.texts import Texts
from hermes_bot.app.build import Stores, secret
from hermes_bot.llm.chat import ChatProtocol
from hermes_bot.llm.openai_chat import LIMIT_IN_TIMEOUTS, OpenAIChat
from hermes_bot.settings import Settings
from hermes_bot.store.usage import UsageStore
from hermes_bot.tools.toolbox import Toolbox


class NoModel(Stepwise):
    """The planner of an agent that needs a model where there is none: people get its work."""

    fingerprint = "no model"

    async def plan(self, run: Run) -> Action:
        """Give up."""
        raise GaveUp(f"agent {run.agent} needs a model; model.name is empty")


class Planners:
    """Makes planners. Without `models` the rules decide."""

    def __init__(self, specs: AgentsFile, toolbox: Toolbox, models: Models | None = None) -> None:
        self.specs = specs
        self._toolbox = toolbox
        self._models = models

    def of(self, agent: str, rules: Planner) -> Planner | Stepwise:
        """Return who decides for an agent that has rules; a model falls back to them."""
        spec = self.specs.of(agent)
        if spec.planner != "model" or self._models is None:
            return rules
        return ModelPlanner(agent, spec, self._toolbox.tools_for(agent), self._models, fallback=rules)

    def alone(self, agent: str) -> Stepwise:
        """Return who decides for an agent that stands in the file alone."""
        if self._models is None:
            return NoModel()
        return ModelPlanner(agent, self.specs.of(agent), self._toolbox.tools_for(agent), self._models)


def build_chat(settings: Settings) -> OpenAIChat:
    """Return the client of the model that the settings name."""
    model, access = settings.model, settings.models
    return OpenAIChat(
        model.name,
        api_key=secret(access.api_key),
        base_url=model.base_url or access.base_url,
        protocol=None if model.protocol == "auto" else ChatProtocol(model.protocol),
        stream=model.stream,
        timeout_s=model.timeout_s,
        retries=model.retries,
        max_tokens=model.max_tokens,
        concurrency=model.concurrency,
        failure_threshold=model.failure_threshold,
        reset_timeout_s=model.reset_timeout_s,
    )


def build_models(settings: Settings, stores: Stores, texts: Texts, chat: OpenAIChat) -> Models:
    """Return what model planners share."""
    specs, reports = stores.specs, stores.watch.reports
    meter = Meter(
        UsageStore(stores.database, clock=stores.clock),
        budgets=specs.budgets,
        of_agent={name: spec.budget for name, spec in specs.agents.items()},
        prices=specs.prices,
        on_call=reports.model_call,
        on_alarm=stores.watch.alarms.told,
    )
    return Models(
        chat=chat,
        meter=meter,
        policy=settings.policies.file.read_text(encoding="utf-8"),
        details=lambda language: texts.render(language, "model.details"),
        limit_s=settings.model.timeout_s * LIMIT_IN_TIMEOUTS,
    )
