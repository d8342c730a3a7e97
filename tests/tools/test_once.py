"""A call that writes happens at most once, whatever is retried; on SQLite and PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hermes_bot.errors import PermanentError, TransientError
from hermes_bot.store.database import Database
from hermes_bot.store.schema import migrate
from hermes_bot.tools.call_log import CallLog, CallStatus
from hermes_bot.tools.outcome import Caller, Done, Preview, Refused
from hermes_bot.tools.registry import Level, Tool, ToolRefusal, ToolUnavailable, tool
from hermes_bot.tools.toolbox import Toolbox

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
CALLER = Caller(customer=None, agent="helper", ticket_id="T-1", user="U1", language="en")
KEY = "MSG-1:helper:0"


class Effects:
    """What was done, and what goes wrong: `before` or `after` the effect."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.before: Exception | None = None
        self.after: BaseException | None = None

    def write(self, word: str) -> dict[str, Any]:
        if self.before is not None:
            raise self.before
        self.done.append(word)
        if self.after is not None:
            raise self.after
        return {"number": len(self.done)}


@tool(level=Level.L1)
async def note(word: str, *, effects: Effects) -> dict[str, Any]:
    """Write something that cannot be recognised again."""
    return effects.write(word)


@tool(level=Level.L1)
async def keyed(word: str, *, effects: Effects, key: str) -> dict[str, Any]:
    """Write something under a key."""
    return effects.write(word) if key not in effects.done else {"known": key}


async def describe(word: str, *, effects: Effects) -> Preview:
    return Preview(title=word, shown=())


@tool(level=Level.L2, describe=describe)
async def erase(word: str, *, effects: Effects) -> dict[str, Any]:
    """Erase for good, without a key."""
    return effects.write(word)


@pytest.fixture
async def log(url: str) -> AsyncIterator[CallLog]:
    database = Database(url)
    await database.open()
    await migrate(database)
    yield CallLog(database, clock=lambda: NOW)
    await database.close()


@pytest.fixture
def effects() -> Effects:
    return Effects()


@pytest.fixture
def toolbox(log: CallLog, effects: Effects) -> Toolbox:
    return boxed([note, keyed, erase], log, effects)


def boxed(tools: list[Tool], log: CallLog, effects: Effects) -> Toolbox:
    names = [each.name for each in tools]
    return Toolbox(tools, allowed={"helper": names}, services={"effects": effects}, calls=log, timeout_s=30)


async def test_a_repeat_gets_the_recorded_result_and_has_no_second_effect(toolbox: Toolbox, effects: Effects) -> None:
    first = await toolbox.call("note", {"word": "a"}, CALLER, key=KEY)
    again = await toolbox.call("note", '{"word": "a"}', CALLER, key=KEY)
    other = await toolbox.call("note", {"word": "a"}, CALLER, key="MSG-1:helper:1")

    assert first == again == Done(result={"number": 1})
    assert other == Done(result={"number": 2})
    assert effects.done == ["a", "a"]


async def test_a_call_that_died_midway_is_not_repeated_but_asked_about(toolbox: Toolbox, effects: Effects) -> None:
    effects.after = TransientError("the connection broke")
    with pytest.raises(TransientError):
        await toolbox.call("note", {"word": "a"}, CALLER, key=KEY)
    effects.after = None

    assert await toolbox.call("note", {"word": "a"}, CALLER, key=KEY) == Refused(code="may_have_run")
    assert await toolbox.call("note", {"word": "a"}, CALLER, key=KEY) == Refused(code="may_have_run")
    assert effects.done == ["a"]


async def test_a_call_that_was_cancelled_midway_is_not_repeated(toolbox: Toolbox, effects: Effects) -> None:
    effects.after = asyncio.CancelledError()
    with pytest.raises(asyncio.CancelledError):
        await toolbox.call("note", {"word": "a"}, CALLER, key=KEY)
    effects.after = None

    assert await toolbox.call("note", {"word": "a"}, CALLER, key=KEY) == Refused(code="may_have_run")


async def test_a_tool_that_takes_the_key_may_run_again(toolbox: Toolbox, effects: Effects) -> None:
    effects.before = TransientError("away")
    with pytest.raises(TransientError):
        await toolbox.call("keyed", {"word": "a"}, CALLER, key=KEY)
    effects.before = None

    assert await toolbox.call("keyed", {"word": "a"}, CALLER, key=KEY) == Done(result={"number": 1})


async def test_a_call_that_was_never_sent_may_be_made_again(toolbox: Toolbox, effects: Effects) -> None:
    effects.before = ToolUnavailable("nobody listens")
    with pytest.raises(ToolUnavailable):
        await toolbox.call("note", {"word": "a"}, CALLER, key=KEY)
    effects.before = None

    assert await toolbox.call("note", {"word": "a"}, CALLER, key=KEY) == Done(result={"number": 1})


async def test_what_the_tool_refused_stays_refused(toolbox: Toolbox, effects: Effects) -> None:
    effects.before = ToolRefusal("closed")
    first = await toolbox.call("note", {"word": "a"}, CALLER, key=KEY)
    effects.before = None

    assert first == await toolbox.call("note", {"word": "a"}, CALLER, key=KEY) == Refused(code="closed")
    assert effects.done == []


async def test_another_call_under_the_same_key_does_not_run(toolbox: Toolbox, effects: Effects) -> None:
    await toolbox.call("note", {"word": "a"}, CALLER, key=KEY)

    assert await toolbox.call("note", {"word": "b"}, CALLER, key=KEY) == Refused(code="may_have_run")
    assert await toolbox.call("keyed", {"word": "a"}, CALLER, key=KEY) == Refused(code="may_have_run")
    assert effects.done == ["a"]


async def test_an_approved_run_happens_once_also_when_it_died_midway(toolbox: Toolbox, effects: Effects) -> None:
    done = await toolbox.run_approved("erase", {"word": "a"}, CALLER, approval_id="APR-1")
    again = await toolbox.run_approved("erase", {"word": "a"}, CALLER, approval_id="APR-1", repeated=True)
    effects.after = TransientError("the connection broke")
    with pytest.raises(TransientError):
        await toolbox.run_approved("erase", {"word": "b"}, CALLER, approval_id="APR-2")
    effects.after = None

    assert done == again == Done(result={"number": 1})
    second = await toolbox.run_approved("erase", {"word": "b"}, CALLER, approval_id="APR-2", repeated=True)
    assert second == Refused(code="may_have_run")
    assert effects.done == ["a", "b"]


async def test_an_approved_run_that_was_redelivered_before_it_began_runs(toolbox: Toolbox, effects: Effects) -> None:
    outcome = await toolbox.run_approved("erase", {"word": "a"}, CALLER, approval_id="APR-1", repeated=True)

    assert outcome == Done(result={"number": 1})


async def test_a_write_without_a_key_is_an_error(toolbox: Toolbox, effects: Effects) -> None:
    with pytest.raises(PermanentError, match="key"):
        await toolbox.call("note", {"word": "a"}, CALLER)
    assert effects.done == []


async def test_many_attempts_at_once_have_one_effect(toolbox: Toolbox, effects: Effects) -> None:
    outcomes = await asyncio.gather(*(toolbox.call("note", {"word": "a"}, CALLER, key=KEY) for _ in range(8)))

    assert effects.done == ["a"]
    assert Done(result={"number": 1}) in outcomes
    assert set(map(repr, outcomes)) <= {repr(Done(result={"number": 1})), repr(Refused(code="may_have_run"))}


async def test_the_record_tells_what_was_called_without_anybodys_data(toolbox: Toolbox, log: CallLog) -> None:
    await toolbox.call("note", {"word": "my secret wish"}, CALLER, key=KEY)
    kept = await log.find(KEY)

    assert kept is not None
    assert (kept.tool, kept.level, kept.agent, kept.ticket_id) == ("note", "L1", "helper", "T-1")
    assert (kept.status, kept.started_at, kept.finished_at) == (CallStatus.DONE, NOW, NOW)
    assert kept.arguments == {"word": "text of 14 characters"}


async def test_what_ended_is_pruned_and_what_did_not_stays(toolbox: Toolbox, log: CallLog, effects: Effects) -> None:
    await toolbox.call("note", {"word": "a"}, CALLER, key=KEY)
    effects.after = TransientError("broke")
    with pytest.raises(TransientError):
        await toolbox.call("note", {"word": "b"}, CALLER, key="MSG-2:helper:0")
    later = NOW + timedelta(days=1)

    assert await log.prune(before=later) == 1
    assert [each.key for each in await log.unfinished(before=later)] == ["MSG-2:helper:0"]
    assert await log.forget(["T-1"]) == 1


Step = st.sampled_from(["fine", "away", "broken", "cancelled", "refused"])


@hypothesis_settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(Step, min_size=1, max_size=6))
async def test_whatever_goes_wrong_and_however_often_it_is_retried_there_is_one_effect(
    log: CallLog, steps: list[str]
) -> None:
    effects = Effects()
    wrong: dict[str, tuple[str, BaseException]] = {
        "away": ("before", ToolUnavailable("away")),
        "broken": ("after", TransientError("broken")),
        "cancelled": ("after", asyncio.CancelledError()),
        "refused": ("before", ToolRefusal("closed")),
    }
    toolbox, key = boxed([note], log, effects), f"MSG-{uuid4()}"
    for step in steps:
        effects.before = effects.after = None
        if step in wrong:
            setattr(effects, *wrong[step])
        try:
            await toolbox.call("note", {"word": "a"}, CALLER, key=key)
        except (TransientError, asyncio.CancelledError):
            continue

    assert len(effects.done) <= 1
