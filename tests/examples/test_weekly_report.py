"""The weekly report as its README tells it: history and documents at once, a file in Markdown, one answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from hermes_bot.app.agents_file import tools_in
from hermes_bot.tools.registry import Level, Tool, ToolRefusal
from tests.examples.kit import EMMA, EXAMPLES, SUPPORT, example, role_of
from tests.examples.weekly import HISTORIAN, LIBRARIAN, REQUEST, WRITER, laid_out, script
from tests.llm.model_server import Asked, ModelServer, model_server

BOTH_LIMIT_S = 60.0


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with model_server(script) as server:
        yield server


def tools(examples: Path) -> dict[str, Tool]:
    return {each.name: each for each in tools_in(examples / "weekly_report" / "tools.py")}


async def test_a_report_is_written_from_history_and_documents_and_the_answer_names_it(
    tmp_path: Path, model: ModelServer
) -> None:
    async with example("weekly_report", tmp_path, model=model, examples=laid_out(tmp_path)) as stage:
        told = await stage.ask(EMMA, SUPPORT, REQUEST)

    (file,) = (tmp_path / "reports").iterdir()
    assert file.name in told
    report = file.read_text(encoding="utf-8")
    assert report.startswith("# Refunds\n")
    assert "Refunds: the window is checked" in report
    assert "within 30 days [refunds.md#Window]" in report
    assert "Cats" not in report


async def test_history_and_documents_are_worked_on_at_once_and_the_report_after_both(
    tmp_path: Path, model: ModelServer
) -> None:
    both = asyncio.Barrier(2)

    async def meeting(asked: Asked) -> Any:
        if role_of(asked) in (HISTORIAN, LIBRARIAN) and not asked.done:
            async with asyncio.timeout(BOTH_LIMIT_S):
                await both.wait()  # neither is answered before both have asked
        return script(asked)

    model.otherwise = meeting
    async with example("weekly_report", tmp_path, model=model, examples=laid_out(tmp_path)) as stage:
        told = await stage.ask(EMMA, SUPPORT, REQUEST)

    assert ".md" in told
    order = [role_of(asked) for asked in model.asked]
    assert order.index(WRITER) > max(place for place, role in enumerate(order) if role in (HISTORIAN, LIBRARIAN))
    assert all(
        asked.fenced.get("original request") == REQUEST for asked in model.asked if asked.fenced.get("your task")
    )


async def test_history_counts_by_what_subjects_begin_with(tmp_path: Path) -> None:
    told = await tools(laid_out(tmp_path))["git_history"].function(days=7)

    assert told["total"] == 4
    assert [(each["group"], each["commits"]) for each in told["groups"]] == [("Refunds", 2), ("other", 1), ("Docs", 1)]
    assert told["authors"] == {"Ada": 4}


async def test_where_there_is_no_repository_the_tool_says_so(tmp_path: Path) -> None:
    examples = laid_out(tmp_path)
    (tmp_path / "repository" / ".git").rename(tmp_path / "gone")

    with pytest.raises(ToolRefusal, match="no_git_repository"):
        await tools(examples)["git_history"].function(days=7)


async def test_documents_are_found_by_the_words_of_the_query_with_their_source(tmp_path: Path) -> None:
    find = tools(laid_out(tmp_path))["find_documents"].function

    assert [each["source"] for each in (await find(query="refund window"))["passages"]] == ["refunds.md#Window"]
    assert (await find(query="submarine"))["passages"] == []


async def test_the_same_call_writes_one_file_and_another_call_another(tmp_path: Path) -> None:
    write = tools(laid_out(tmp_path))["write_report"].function

    first = await write(title="A", markdown="text", key="run:1")
    again = await write(title="A", markdown="text", key="run:1")
    other = await write(title="A", markdown="text", key="run:2")

    assert first == again != other
    assert {each.name for each in (tmp_path / "reports").iterdir()} == {first["file"], other["file"]}


def test_only_the_report_is_written() -> None:
    levels = {name: tool.level for name, tool in tools(EXAMPLES).items()}

    assert levels == {"git_history": Level.L0, "find_documents": Level.L0, "write_report": Level.L1}
