"""Agents that stand in agents.yaml alone, in the whole program: they share work, send it back, and wait for people."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import select

from hermes_bot.app import HermesApp
from hermes_bot.approvals.approvals import Approvals
from hermes_bot.approvals.request import ApprovalRequest, ApprovalStatus
from hermes_bot.errors import SettingsError
from hermes_bot.messages.message import Kind, Message, utc_now
from hermes_bot.messages.payloads import ApprovalClicked
from hermes_bot.messages.task_payloads import TaskResult, TaskStatus
from hermes_bot.store.database import Database
from hermes_bot.store.tables import journal
from hermes_bot.tasks.requests import TaskFailed
from tests.llm.model_server import Asked, Fails, ModelServer, answer, call, model_server

REQUEST = "Write a Python function that adds two numbers."
AGENTS = """
agents:
  planner:
    planner: model
    temperature: 0.3
    prompt: You plan; you are not for writing code.
    delegates: [job.code, job.review]
    rounds: 2
    expects: {type: object, properties: {code: {type: string}}, required: [code]}
  coder:
    planner: model
    temperature: 0.1
    prompt: You write code; you are not for planning.
    tools: [add_numbers, launch]
    expects: {type: object, properties: {code: {type: string}}, required: [code]}
  reviewer:
    planner: model
    temperature: 0.5
    prompt: You review code; you are not for writing it.
    expects: {type: object, properties: {good: {type: boolean}}, required: [good]}
tools:
  add_numbers: {level: L1}
tool_files: [own_tools.py]
"""
ROUTES = """
routes:
  - {name: plan, type: job.plan, agent: planner}
  - {name: code, type: job.code, agent: coder}
  - {name: review, type: job.review, agent: reviewer}
"""
TOOLS = '''
from hermes_bot.tools.outcome import Preview
from hermes_bot.tools.registry import tool

CALLS = []


async def shown(a: int, b: int) -> Preview:
    return Preview(title="Add", shown=(("a", str(a)), ("b", str(b))))


@tool(level="L2", describe=shown)
async def add_numbers(a: int, b: int) -> dict[str, int]:
    """Return the sum."""
    return {"sum": a + b}


async def told(name: str) -> Preview:
    return Preview(title="Launch", shown=(("Name", name),))


@tool(level="L2", describe=told)
async def launch(name: str, *, approval_id: str) -> dict[str, str]:
    """Launch something; it comes back with its id."""
    return {"launched": name}
'''


def role(asked: Asked) -> str:
    return asked.system.split()[1]


def parts(*tasks: dict[str, Any]) -> dict[str, Any]:
    return {"action": "delegate", "tasks": list(tasks)}


CODE = {"name": "code", "type": "job.code", "text": "Write it."}
REVIEW = {"name": "review", "type": "job.review", "text": "Review it.", "after": ["code"]}


@asynccontextmanager
async def running(
    folder: Path, server: ModelServer, *, agents: str = AGENTS, routes: str = ROUTES, **more: Any
) -> AsyncIterator[HermesApp]:
    (folder / "agents.yaml").write_text(agents, encoding="utf-8")
    (folder / "routing.yaml").write_text(routes, encoding="utf-8")
    (folder / "own_tools.py").write_text(TOOLS, encoding="utf-8")
    model = {"name": "scripted", "base_url": server.base_url} | more
    settings: dict[str, Any] = {
        "data": {"path": f"{folder}/data"},
        "encoder": {"profile": "light"},
        "bus": {"backend": "memory"},
    }
    settings |= {"model": model, "approvals": {"approvers": ["U0BOSS"], "allow_requester": True}}
    (folder / "hermes.yaml").write_text(json.dumps(settings), encoding="utf-8")
    app = HermesApp(config=folder / "hermes.yaml", environ={})
    try:
        await app.start()
        yield app
    finally:
        await app.stop()


async def asked_for(app: HermesApp, **more: Any) -> TaskResult:
    message = Message(
        type="job.plan", sender="test", context_id="test:1", kind=Kind.REQUEST, data={"text": REQUEST}, **more
    )
    return await app.request(message, timeout_s=120)


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with model_server() as server:
        yield server


async def test_work_is_shared_and_sent_back_until_the_reviewer_is_content(tmp_path: Path, server: ModelServer) -> None:
    def script(asked: Asked) -> Any:
        if role(asked) == "plan;":
            content = '"good":true' in asked.user
            return answer("done", result={"code": "def add"}) if content else parts(CODE, REVIEW)
        if role(asked) == "write":
            return answer("", result={"code": "def add" if '"round": 2' in asked.text else "def ad"})
        return answer("", result={"good": '"def add"' in asked.text})

    server.otherwise = script
    async with running(tmp_path, server) as app:
        result = await asked_for(app)

    assert (result.status, result.result) == (TaskStatus.DONE, {"code": "def add"})
    assert [role(asked) for asked in server.asked] == [
        *("plan;", "write", "review", "plan;", "write", "review"),
        "plan;",
    ]
    reviewed = [asked for asked in server.asked if role(asked) == "review"]
    assert all(asked.fenced["original request"] == REQUEST for asked in reviewed)
    assert [asked.body["temperature"] for asked in server.asked[:3]] == [0.3, 0.1, 0.5]


async def test_each_round_is_a_task_of_its_own(tmp_path: Path, server: ModelServer) -> None:
    rounds = [parts(CODE), parts(CODE), answer("", result={"code": "x"})]
    server.otherwise = lambda asked: rounds.pop(0) if role(asked) == "plan;" else answer("", result={"code": "x"})
    async with running(tmp_path, server) as app:
        await asked_for(app)
        tasks = await tasks_of(app, "job.code")

    assert len(tasks) == 2
    assert tasks[1] == tasks[0].replace("/code", ".r2/code")


async def tasks_of(app: HermesApp, type: str) -> list[str]:
    backend = app.bus._backend  # type: ignore[union-attr]  # what went over the bus is told nowhere else
    found = [each.message for each in await backend.find(limit=1000) if each.message.type == type]
    return [message.task for message in sorted(found, key=lambda each: each.created_at)]


async def test_more_rounds_than_allowed_are_refused_once_and_then_the_task_fails(
    tmp_path: Path, server: ModelServer
) -> None:
    server.otherwise = lambda asked: parts(CODE) if role(asked) == "plan;" else answer("", result={"code": "x"})
    async with running(tmp_path, server) as app:
        with pytest.raises(TaskFailed, match="too_many_steps"):
            await asked_for(app)

    assert [role(asked) for asked in server.asked].count("write") == 2
    assert "too_many_rounds" in server.asked[-1].user


async def test_a_result_that_is_not_what_is_expected_is_sent_back(tmp_path: Path, server: ModelServer) -> None:
    server.replies += [answer("", result={"cod": 1}), answer("", result={"code": "x"})]
    async with running(tmp_path, server) as app:
        result = await asked_for(app)

    assert result.result == {"code": "x"}
    assert "$.result" in server.asked[1].corrected


async def test_a_tool_whose_level_the_file_lowers_runs_at_once(tmp_path: Path, server: ModelServer) -> None:
    server.replies += [parts(CODE), call("add_numbers", a=2, b=3), answer("", result={"code": "5"})]
    server.otherwise = lambda _asked: answer("", result={"code": "5"})
    async with running(tmp_path, server) as app:
        result = await asked_for(app)

    assert result.result == {"code": "5"}
    assert '"sum":5' in server.asked[2].user


async def test_a_task_rests_until_a_person_has_allowed_a_call(tmp_path: Path, server: ModelServer) -> None:
    server.replies += [parts(CODE), call("launch", name="rocket")]
    server.otherwise = lambda asked: answer("", result={"code": "launched" if '"launched"' in asked.user else "no"})
    async with running(tmp_path, server) as app:
        message = Message(
            type="job.plan", sender="test", context_id="test:1", kind=Kind.REQUEST, data={"text": REQUEST}
        )
        await app.publish(message)
        await app.drain()
        request = await waiting_request(tmp_path)
        click = ApprovalClicked(
            approval_id=request.id, decision="approve", shown_hash=request.shown_hash, user="U0BOSS",
            team="library", channel="", message_ts="",
        )  # fmt: skip
        assert len(server.asked) == 2
        await app.publish(
            Message(type="approval.clicked", sender="test", context_id="test:1", data=msgspec.to_builtins(click))
        )
        await app.drain()

    assert "launched" in server.asked[2].user


async def waiting_request(folder: Path) -> ApprovalRequest:
    database = Database(f"sqlite:///{folder}/data/hermes.db")
    await database.open()
    try:
        (request,) = await Approvals(database, clock=utc_now, expires_after_s=1).listing(status=ApprovalStatus.PENDING)
    finally:
        await database.close()
    return request


@pytest.mark.parametrize(
    "change, told",
    [
        (("planner: model", "planner: modl"), "agents.planner.planner"),
        (("tools: [add_numbers, launch]", "tools: [add_number]"), "did you mean 'add_numbers'"),
        (("You plan; you are not for writing code.", "Plan!"), "who the agent is and what it is not for"),
        (("delegates: [job.code, job.review]", "delegate: [job.code]"), "did you mean 'agents.planner.delegates'"),
        (("required: [good]", "required: good"), "no JSON Schema"),
        (("tool_files: [own_tools.py]", "tool_files: [other.py]"), "no Python file"),
        (("  add_numbers: {level: L1}", "  add_numbers: {level: L9}"), "tools.add_numbers.level"),
    ],
)
async def test_a_wrong_file_never_takes_effect_and_is_told_with_its_place(
    tmp_path: Path, server: ModelServer, change: tuple[str, str], told: str
) -> None:
    wrong = AGENTS.replace(*change, 1)
    assert wrong != AGENTS

    with pytest.raises(SettingsError, match=told.replace("(", r"\(").replace("[", r"\[")):
        async with running(tmp_path, server, agents=wrong):
            pass


async def test_an_agent_that_needs_a_model_does_not_start_without_one(tmp_path: Path, server: ModelServer) -> None:
    with pytest.raises(SettingsError, match=r"needs a model: set model\.name"):
        async with running(tmp_path, server, name="", base_url=""):
            pass


async def test_what_a_model_was_asked_stands_in_the_journal_and_a_spent_budget_is_told(
    tmp_path: Path, server: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    priced = AGENTS + "prices: {scripted: {input: 1, output: 10}}\nbudgets: {day: {tokens: 100}}\n"
    server.replies += [answer("", result={"code": "x"})]
    async with running(tmp_path, server, agents=priced) as app:
        first = await asked_for(app)
        with pytest.raises(TaskFailed):
            await asked_for(app, task_id="second")

    database = Database(f"sqlite:///{tmp_path}/data/hermes.db")
    await database.open()
    rows = await database.run(
        lambda connection: connection.execute(select(journal).where(journal.c.kind == "model")).all()
    )
    await database.close()
    assert first.result == {"code": "x"}
    assert [(row.agent, row.name, row.tokens_in, row.tokens_out, row.cost_usd) for row in rows] == [
        ("planner", "scripted", 100, 20, 0.0003)
    ]
    assert rows[0].message_id
    assert any(getattr(record, "subject", "").startswith("budget spent") for record in caplog.records)


async def test_a_customer_is_answered_by_the_model_and_by_the_rules_when_it_is_down(
    tmp_path: Path, server: ModelServer
) -> None:
    server.replies += [call("find_order", order_id="10002"), answer("It is on its way.")]
    server.otherwise = lambda _asked: Fails(status=500)
    shipped = (Path(__file__).parents[2] / "configs" / "agents.yaml").read_text(encoding="utf-8")
    routes = "routes:\n  - {name: order, type: ticket.order, agent: order, keywords: {phrases: [order]}}\n"
    async with running(tmp_path, server, agents=shipped, routes=routes, retries=0) as app:
        first = await said_to(app, "lib:1")
        second = await said_to(app, "lib:2")

    assert first == "It is on its way."
    assert "10002" in second
    assert len(server.asked) == 3


async def said_to(app: HermesApp, context_id: str) -> str:
    data = {"user": "U1", "text": "Where is my order 10002?", "customer_email": "emma.fischer@example.com"}
    await app.publish(Message(type="ticket.created", sender="test", context_id=context_id, data=data))
    (reply,) = await app.drain()
    return str(reply.data["text"])
