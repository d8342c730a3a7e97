"""The pipeline as its README tells it: planned, written, run, sent back, written again, and only then answered."""

from __future__ import annotations

import asyncio
import html
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from hermes_bot.bus.inspect import BusFile
from hermes_bot.workspace.server import WorkspaceServer
from tests.examples.kit import EMMA, EXAMPLES, LIMIT_S, SUPPORT, Scene, example, role_of
from tests.examples.urls_code import CHECK, DRAFT, EASY_CHECK, FINISHED
from tests.llm.model_server import Action, Asked, ModelServer, Silent, answer, call, model_server
from tests.scenario.bot_process import BotProcess, environment

REQUEST = "Write a Python function that takes a list of URLs, downloads the HTML and extracts the titles."
PLANNER, CODER, REVIEWER = "You lead a", "You write Python", "You review Python"
TEMPERATURES = {PLANNER: 0.3, CODER: 0.1, REVIEWER: 0.5}
PROBLEM = "a page without a title ends it with an AttributeError"


def shared(text: str) -> dict[str, Any]:
    code = {"name": "code", "type": "job.code", "text": text}
    review = {"name": "review", "type": "job.review", "text": "Review it.", "after": ["code"]}
    return {"action": "delegate", "tasks": [code, review]}


def answered(code: str) -> Action:
    return answer(f"`titles` gives the title of each page, or None.\n```python\n{code}```\nIt follows no scripts.")


class Team:
    """Three models that work as the example's prompts tell them to, and check what they are asked."""

    def __init__(self, *, content_in_round: int = 2) -> None:
        self.content_in_round = content_in_round
        self.reviews = 0
        self.first_answer = FINISHED

    def script(self, asked: Asked) -> Any:
        role = role_of(asked)
        assert asked.body["temperature"] == TEMPERATURES[role]
        return {PLANNER: self.planner, CODER: self.coder, REVIEWER: self.reviewer}[role](asked)

    def planner(self, asked: Asked) -> Any:
        if asked.corrected:
            return answered(FINISHED)
        if asked.done == 0:
            return shared("A function titles(urls).")
        seen = asked.fenced["what you did and what came of it"]
        if "too_many_rounds" not in seen and '"good":false' in seen.splitlines()[-1]:
            return shared(f"Better: {PROBLEM}")
        if '"passed":true' in seen:
            return answered(self.first_answer)
        return call("run_python", code=FINISHED, check=CHECK)

    def coder(self, asked: Asked) -> Any:
        assert asked.fenced["original request"] == REQUEST
        again = '"round"' in asked.text
        code, check = (FINISHED, CHECK) if again else (DRAFT, EASY_CHECK)
        if asked.done == 0:
            return call("run_python", code=code, check=check if again else check.replace('["One', '["Two'))
        passed = '"passed":true' in asked.fenced["what you did and what came of it"]
        return (
            answer("", result={"code": code, "check": check}) if passed else call("run_python", code=code, check=check)
        )

    def reviewer(self, asked: Asked) -> Any:
        assert asked.fenced["original request"] == REQUEST
        assert '"results"' in asked.text
        self.reviews += 1
        good = self.reviews >= self.content_in_round
        return answer("", result={"good": good, "problems": [] if good else [PROBLEM]})


def tasks_of(data: Path, type_: str) -> list[str]:
    """Return the tasks of a type in the order in which they were begun."""
    file = BusFile(data / "bus.db")
    try:
        found = {each.message.id: each.message for each in file.find(limit=10_000) if each.message.type == type_}
    finally:
        file.close()
    return [message.task for message in sorted(found.values(), key=lambda each: each.created_at)]


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with model_server() as server:
        yield server


async def test_the_request_ends_with_code_that_was_sent_back_once_and_then_passed(
    tmp_path: Path, model: ModelServer
) -> None:
    model.otherwise = Team().script
    async with example("pipeline", tmp_path, model=model) as stage:
        told = html.unescape(await stage.ask(EMMA, SUPPORT, REQUEST))
        tasks = tasks_of(stage.data, "job.code")

    assert FINISHED in told
    assert [role_of(asked) for asked in model.asked] == [
        *(PLANNER, CODER, CODER, CODER, REVIEWER),
        *(PLANNER, CODER, CODER, REVIEWER),
        *(PLANNER, PLANNER),
    ]
    assert tasks == [tasks[0], tasks[0].replace("/code", ".r2/code")]
    assert model.asked[1].functions == ("run_python", "finish")
    assert "(L1)" in model.asked[1].system


async def test_whoever_writes_reviews_and_answers_reads_the_code_whole(tmp_path: Path, model: ModelServer) -> None:
    model.otherwise = Team().script
    async with example("pipeline", tmp_path, model=model) as stage:
        await stage.ask(EMMA, SUPPORT, REQUEST)

    as_data = json.dumps(FINISHED, ensure_ascii=False)
    before_the_coder_ends, second_review, *answering = model.asked[-4:]
    for asked in (before_the_coder_ends, second_review, *answering):
        assert as_data in asked.user


async def test_code_that_is_not_what_passed_is_sent_back(tmp_path: Path, model: ModelServer) -> None:
    team = Team(content_in_round=1)
    team.first_answer = FINISHED.replace("timeout_s=10", "timeout_s=30")
    model.otherwise = team.script
    async with example("pipeline", tmp_path, model=model) as stage:
        told = html.unescape(await stage.ask(EMMA, SUPPORT, REQUEST))

    assert "character for character" in model.asked[-1].corrected
    assert FINISHED in told
    assert team.first_answer not in told


async def test_after_three_rounds_the_planner_answers_with_what_has_passed(tmp_path: Path, model: ModelServer) -> None:
    team = Team(content_in_round=99)
    model.otherwise = team.script
    async with example("pipeline", tmp_path, model=model) as stage:
        told = html.unescape(await stage.ask(EMMA, SUPPORT, REQUEST))
        tasks = tasks_of(stage.data, "job.code")

    assert team.reviews == 3
    assert [task.rpartition("/")[0][-3:] for task in tasks[1:]] == [".r2", ".r3"]
    assert FINISHED in told


async def test_a_bot_that_is_killed_in_the_middle_goes_on_where_it_stood(tmp_path: Path, model: ModelServer) -> None:
    team, in_the_middle = Team(), asyncio.Event()

    def script(asked: Asked) -> Any:
        if role_of(asked) == REVIEWER and not in_the_middle.is_set():
            in_the_middle.set()
            return Silent()
        return team.script(asked)

    model.otherwise = script
    async with WorkspaceServer(port=0) as server:
        data = tmp_path / "data"
        variables = environment(server, data, HERMES_MODEL__NAME="scripted", OPENAI_BASE_URL=model.base_url)
        command = ("run", "--config", str(EXAMPLES / "pipeline" / "hermes.yaml"))
        stage = Scene(server, data)
        async with BotProcess(variables, tmp_path, command) as bot:
            talk = await stage.say(EMMA, SUPPORT, REQUEST)
            async with asyncio.timeout(LIMIT_S):
                await in_the_middle.wait()
            await bot.kill()
            await bot.start()
            told = html.unescape(await stage.answer(talk))
            await stage.quiet()

    assert FINISHED in told
    assert len(stage.replies(talk)) == 1
    drafts = [asked for asked in model.asked if role_of(asked) == CODER and '"round"' not in asked.text]
    assert [asked.done for asked in drafts] == [0, 1, 2], "what was done before the kill is not done again"


async def test_where_no_code_passes_a_person_gets_the_request(tmp_path: Path, model: ModelServer) -> None:
    model.otherwise = lambda asked: {"action": "finish", "outcome": "handoff", "reason": "default"}
    async with example("pipeline", tmp_path, model=model) as stage:
        await stage.say(EMMA, SUPPORT, REQUEST)
        await stage.until(lambda: stage.cards("handoff", "Python"))

    assert len(model.asked) == 1
