"""An agent from agents.yaml alone answers a customer, asks a person, and goes on when the person has decided."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from agents.model.agent import ModelAgent
from agents.model.meter import Meter
from agents.model.planner import ModelPlanner, Models
from agents.spec import AgentSpec, Budgets
from hermes_bot.llm.openai_chat import OpenAIChat
from hermes_bot.messages.payloads import APPROVAL_REQUESTED, HANDOFF_REQUESTED
from hermes_bot.store.agent_runs import AgentRuns
from hermes_bot.store.database import Database
from hermes_bot.store.usage import UsageStore
from hermes_bot.tickets.ticket import TicketStatus
from tests.agents.harness import Clock, Pump, Turn
from tests.agents.test_settling import settled
from tests.llm.model_server import ModelServer, answer, call, model_server

SPEC = AgentSpec(planner="model", prompt="You undo orders; you are not for anything else.", tools=("cancel_order",))
CANCEL = call("cancel_order", order_id="10587")


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with model_server() as server:
        yield server


class Office:
    """A desk with the agent `undo` alone, which has the tools of the order agent."""

    def __init__(self, pump: Pump, models: Models, runs: AgentRuns) -> None:
        self._models = models
        self.pump = replace(pump, desk=replace(pump.desk, agent_runs=runs), agents=dict(pump.agents))
        self.employs(SPEC)

    def employs(self, spec: AgentSpec) -> None:
        tools = [tool for tool in self.pump.desk.toolbox.tools_for("order") if tool.name in spec.tools]
        planner = ModelPlanner("order", spec, tools, self._models)
        self.pump.agents["order"] = ModelAgent("order", planner, capabilities={})

    async def asked(self, text: str) -> Turn:
        return await self.pump.says("U0EMMA", text)


@pytest.fixture
async def office(pump: Pump, server: ModelServer, database: Database, clock: Clock) -> AsyncIterator[Office]:
    chat = OpenAIChat("scripted", base_url=server.base_url, timeout_s=60.0)
    meter = Meter(
        UsageStore(database, clock=clock), budgets=Budgets(), of_agent={}, prices={}, on_call=lambda _call: None
    )
    models = Models(chat=chat, meter=meter, policy="", details=lambda _language: "Here it is.")
    yield Office(pump, models, AgentRuns(database, clock=clock))
    await chat.close()


WISH = "Please cancel order 10587"


async def test_what_was_approved_is_done_once_and_the_model_tells_the_customer(
    office: Office, server: ModelServer, pump: Pump
) -> None:
    server.replies += [CANCEL, answer("Your wish was passed on."), answer("Your order has been cancelled.")]

    asked = await office.asked(WISH)
    done = await office.pump.decides("U0OMAR", asked, "approve")

    emma = await pump.desk.book.customer_by_email("emma.fischer@example.com")
    assert emma is not None
    order = await pump.desk.book.order(emma.id, "10587")
    assert asked.answer.text == "Your wish was passed on."
    assert done.answer.text == "Your order has been cancelled."
    assert order is not None
    assert order.status == "cancelled"
    assert (await pump.desk.tickets.get(asked.answer.ticket_id)).status is TicketStatus.SOLVED


async def test_what_was_rejected_is_not_done_and_the_model_hears_so(office: Office, server: ModelServer) -> None:
    server.replies += [CANCEL, answer("Your wish was passed on."), answer("That was not possible.")]

    asked = await office.asked(WISH)
    done = await office.pump.decides("U0OMAR", asked, "reject", reason="too late")

    assert done.answer.text == "That was not possible."
    assert "rejected" in server.asked[-1].user


async def test_an_approval_for_an_agent_that_changed_meanwhile_runs_nothing_and_calls_a_person(
    office: Office, server: ModelServer, pump: Pump
) -> None:
    server.replies += [CANCEL, answer("Your wish was passed on.")]
    asked = await office.asked(WISH)
    office.employs(SPEC.model_copy(update={"temperature": 1.0}))

    done = await office.pump.decides("U0OMAR", asked, "approve")

    emma = await pump.desk.book.customer_by_email("emma.fischer@example.com")
    assert emma is not None
    order = await pump.desk.book.order(emma.id, "10587")
    assert len(asked.of(APPROVAL_REQUESTED)) == len(done.of(HANDOFF_REQUESTED)) == 1
    assert order is not None
    assert order.status != "cancelled"
    assert len(server.asked) == 2


async def test_a_wish_that_was_edited_is_not_answered_beside_the_new_words(office: Office, server: ModelServer) -> None:
    server.replies += [CANCEL, answer("Your wish was passed on.")]
    asked = await office.asked(WISH)

    done = await settled(office.pump, asked, "cancelled", "edited")

    assert done.replies == []
    assert len(server.asked) == 2
