"""What `configs/agents.yaml` says of each agent: who decides for it, with which prompt, tools and limits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from hermes_bot.settings.section import Count, Seconds, Section, Words

MOST_STEPS = 15
MOST_TOKENS = 100_000
SHOWN_CHARACTERS = 40

Share = Annotated[float, Field(ge=0, le=1)]
LevelName = Literal["L0", "L1", "L2", "L3"]

_NOT_FOR = re.compile(r"\bnot\b|\bnever\b|不", re.IGNORECASE)


class Budget(Section):
    """How much may be spent: tokens in and out together, and US dollars; what is not given is not limited."""

    tokens: Count | None = None
    usd: Annotated[float, Field(gt=0)] | None = None


class Budgets(Section):
    """`budgets`: for one ticket, and for all agents together on one day (UTC)."""

    ticket: Budget = Budget(tokens=60_000)
    day: Budget = Budget()
    alarm_at: Share = 0.8


class Price(Section):
    """`prices.<model>`: US dollars for a million tokens."""

    input: Annotated[float, Field(ge=0)]
    output: Annotated[float, Field(ge=0)]

    def cost(self, tokens_in: int, tokens_out: int) -> float:
        """Return what so many tokens cost, in US dollars."""
        return (tokens_in * self.input + tokens_out * self.output) / 1_000_000


class AgentSpec(Section):
    """`agents.<name>`: one agent. `planner: model` needs a prompt; without a model the agent's rules decide.

    `budget` is that of one day. `delegates` are message types that it may name. `expects` is the JSON Schema of its
    result. `rounds` limits how often it may have the same part of a task done. `timeout_s` limits one step.
    `checked_by` names one of its tools: code in its answers must be code that this tool has run and passed.
    """

    planner: Literal["rules", "model"] = "rules"
    model: str = ""
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    prompt: str = ""
    capabilities: dict[str, Share] = Field(default_factory=dict)
    tools: Words = ()
    delegates: Words = ()
    checked_by: str = ""
    expects: dict[str, Any] | None = None
    concurrency: Count | None = None
    timeout_s: Seconds | None = None
    task_timeout_s: Seconds = 300.0
    max_steps: Annotated[int, Field(ge=1, le=MOST_STEPS)] = MOST_STEPS
    max_tokens: Annotated[int, Field(ge=64, le=MOST_TOKENS)] | None = None
    rounds: Count = 3
    budget: Budget = Budget()

    @model_validator(mode="after")
    def _a_prompt_says_who_it_is(self) -> AgentSpec:
        if self.planner == "model" and not self.prompt.strip():
            raise ValueError("planner model needs a prompt")
        if self.prompt.strip() and not _NOT_FOR.search(self.identity):
            shown = self.identity[:SHOWN_CHARACTERS]
            raise ValueError(f"the prompt's first line must say who the agent is and what it is not for, not {shown!r}")
        return self

    @property
    def identity(self) -> str:
        """The prompt's first line."""
        return next(iter(self.prompt.strip().splitlines()), "")


class ToolSpec(Section):
    """`tools.<name>`: what an admin decides about a tool; `level` replaces the one that it brings."""

    level: LevelName


class AgentsFile(Section):
    """Every key that `configs/agents.yaml` may hold. `tool_files` are Python files with tools, relative to it."""

    agents: dict[str, AgentSpec] = Field(default_factory=dict)
    budgets: Budgets = Budgets()
    prices: dict[str, Price] = Field(default_factory=dict)
    tools: dict[str, ToolSpec] = Field(default_factory=dict)
    tool_files: Words = ()

    def of(self, agent: str) -> AgentSpec:
        """Return what is said of the agent; one that the file does not name has its rules and no tools."""
        return self.agents.get(agent, NOTHING_SAID)

    @property
    def allowed(self) -> Mapping[str, tuple[str, ...]]:
        """The tools that each agent may call."""
        return {name: spec.tools for name, spec in self.agents.items()}

    @property
    def with_model(self) -> frozenset[str]:
        """The agents for which a model decides, where there is one."""
        return frozenset(name for name, spec in self.agents.items() if spec.planner == "model")


NOTHING_SAID = AgentSpec()
NO_FILE = AgentsFile()
