"""Keeps count of what a model was asked and cost, and says when no more may be spent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from agents.planner import Run
from agents.spec import Budget, Budgets, Price
from hermes_bot.llm.chat import ChatAnswer
from hermes_bot.store.usage import Spent, Usage, UsageStore


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """One request that was answered, as it is recorded: never with its words."""

    agent: str
    model: str
    seconds: float
    tokens_in: int
    tokens_out: int
    outcome: str
    cost_usd: float | None = None


OnCall = Callable[[ModelCall], None]


class OnAlarm(Protocol):
    """Hears that a budget is nearly or wholly spent."""

    def __call__(self, subject: str, text: str, *, reference: str) -> None:
        """Tell people, once in a while."""
        ...


def unheard(subject: str, text: str, *, reference: str) -> None:
    """Tell nobody."""


class Meter:
    """Counts by ticket, agent and day. What is over its budget is told with `on_alarm`."""

    def __init__(
        self,
        store: UsageStore,
        *,
        budgets: Budgets,
        of_agent: Mapping[str, Budget],
        prices: Mapping[str, Price],
        on_call: OnCall,
        on_alarm: OnAlarm = unheard,
    ) -> None:
        self._store = store
        self._budgets = budgets
        self._of_agent = of_agent
        self._prices = prices
        self._on_call = on_call
        self._on_alarm = on_alarm

    async def refuses(self, run: Run) -> str:
        """Return which budget is spent, in words, or nothing."""
        if run.ticket is not None and _over(await self._store.of_ticket(run.ticket.id), self._budgets.ticket):
            return f"the budget of ticket {run.ticket.id}"
        own = self._of_agent.get(run.agent, Budget())
        spent = f"the day's budget of agent {run.agent}"
        if _limited(own) and self._look(await self._store.today(run.agent), own, spent, run):
            return spent
        spent = "the day's budget of all agents"
        if _limited(self._budgets.day) and self._look(await self._store.today(), self._budgets.day, spent, run):
            return spent
        return ""

    async def record(self, run: Run, answer: ChatAnswer, *, outcome: str) -> None:
        """Keep what one answer cost."""
        price = self._prices.get(answer.model)
        cost = None if price is None else price.cost(answer.tokens_in, answer.tokens_out)
        await self._store.add(
            Usage(
                agent=run.agent,
                message_id=run.message_id,
                ticket_id=run.ticket.id if run.ticket else "",
                model=answer.model,
                tokens_in=answer.tokens_in,
                tokens_out=answer.tokens_out,
                seconds=answer.seconds,
                cost_usd=cost,
            )
        )
        self._on_call(
            ModelCall(
                agent=run.agent,
                model=answer.model,
                seconds=answer.seconds,
                tokens_in=answer.tokens_in,
                tokens_out=answer.tokens_out,
                outcome=outcome,
                cost_usd=cost,
            )
        )

    def failed(self, run: Run, model: str, seconds: float, reason: str) -> None:
        """Tell of a request that got no answer."""
        self._on_call(
            ModelCall(agent=run.agent, model=model, seconds=seconds, tokens_in=0, tokens_out=0, outcome=reason)
        )

    def _look(self, spent: Spent, budget: Budget, name: str, run: Run) -> bool:
        """Return whether it is spent; tell people then, and when it soon will be."""
        share = max(
            spent.tokens / budget.tokens if budget.tokens else 0.0, spent.usd / budget.usd if budget.usd else 0.0
        )
        if share >= 1:
            self._on_alarm(f"budget spent: {name}", f"{_capital(name)} is spent. Rules decide until tomorrow (UTC).",
                           reference=run.message_id)  # fmt: skip
        elif share >= self._budgets.alarm_at:
            text = f"{_capital(name)} is spent to {share:.0%}: {spent.tokens} tokens, {spent.usd:.2f} USD."
            self._on_alarm(f"budget: {name}", text, reference=run.message_id)
        return share >= 1


def _over(spent: Spent, budget: Budget) -> bool:
    over_tokens = budget.tokens is not None and spent.tokens >= budget.tokens
    return over_tokens or (budget.usd is not None and spent.usd >= budget.usd)


def _limited(budget: Budget) -> bool:
    return budget.tokens is not None or budget.usd is not None


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
