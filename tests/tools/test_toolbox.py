import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from hermes_bot.errors import PermanentError, SettingsError, TransientError
from hermes_bot.tools.outcome import Caller, Done, Invalid, NeedsApproval, Preview, Refused
from hermes_bot.tools.registry import Level, ToolRefusal, tool
from hermes_bot.tools.toolbox import Toolbox, ToolCall


class Log:
    """A service that remembers what tools did."""

    def __init__(self) -> None:
        self.ran: list[tuple[str, str]] = []


@tool(level=Level.L0)
async def read(key: str, times: int = 1, *, caller: Caller, log: Log) -> dict[str, Any]:
    """Read something."""
    log.ran.append(("read", key))
    return {"key": key, "times": times, "agent": caller.agent}


@tool(level=Level.L1)
async def refuse() -> dict[str, Any]:
    """Refuse, always."""
    raise ToolRefusal("closed")


@tool(level=Level.L0)
async def hang() -> dict[str, Any]:
    """Wait for ever."""
    await asyncio.Event().wait()
    return {}


async def describe(key: str, times: int, *, log: Log) -> Preview:
    if key == "forbidden":
        raise ToolRefusal("forbidden")
    return Preview(title=f"Pay {key}", shown=(("Key", key),), arguments={"key": key.upper(), "times": times})


@tool(level=Level.L2, describe=describe)
async def pay(key: str, times: int = 1, *, log: Log, approval_id: str) -> dict[str, Any]:
    """Pay."""
    log.ran.append((key, approval_id))
    return {"paid": key}


async def describe_erase(*, log: Log) -> Preview:
    return Preview(title="Erase", shown=())


@tool(level="whatever", describe=describe_erase)
async def erase(*, log: Log) -> dict[str, Any]:
    """Erase all."""
    log.ran.append(("erase", ""))
    return {}


TOOLS = (read, refuse, hang, pay, erase)
ALLOWED = {"helper": ["read", "refuse", "hang", "pay", "erase"], "reader": ["read"], "nobody": []}


@pytest.fixture
def log() -> Log:
    return Log()


@pytest.fixture
def toolbox(log: Log) -> Toolbox:
    return Toolbox(TOOLS, allowed=ALLOWED, services={"log": log}, timeout_s=0.05)


def caller(agent: str = "helper") -> Caller:
    return Caller(customer=None, agent=agent, ticket_id="T-1", user="U0EMMA", language="en")


async def test_a_reading_tool_runs_at_once_with_checked_arguments(toolbox: Toolbox) -> None:
    outcome = await toolbox.call("read", '```json\n{"key": "a", "times": "3 times"}\n```', caller())

    assert outcome == Done(result={"key": "a", "times": 3, "agent": "helper"})


@pytest.mark.parametrize(
    "agent, name", [("reader", "pay"), ("nobody", "read"), ("stranger", "read"), ("helper", "none")]
)
async def test_what_is_not_allowed_does_not_run(toolbox: Toolbox, log: Log, agent: str, name: str) -> None:
    called = await toolbox.call(name, {"key": "a"}, caller(agent))
    approved = await toolbox.run_approved(name, {"key": "a"}, caller(agent), approval_id="APR-1")

    assert called == approved == Refused(code="not_allowed")
    assert log.ran == []


async def test_wrong_arguments_are_told_and_nothing_runs(toolbox: Toolbox, log: Log) -> None:
    outcome = await toolbox.call("read", {"kee": "a", "caller": "me"}, caller())

    assert outcome == Invalid(
        problems=(
            "key: is missing",
            "kee: there is no such argument; did you mean 'key'?",
            "caller: there is no such argument; there are key, times",
        )
    )
    assert log.ran == []


async def test_a_privileged_tool_asks_with_what_will_run(toolbox: Toolbox, log: Log) -> None:
    outcome = await toolbox.call("pay", {"key": "a"}, caller())
    tool = toolbox.get("pay")

    assert tool is not None
    assert outcome == NeedsApproval(
        tool="pay",
        level="L2",
        arguments={"key": "A", "times": 1},
        title="Pay a",
        shown=(("Key", "a"),),
        fingerprint=tool.fingerprint,
    )
    assert log.ran == []


async def test_a_tool_of_unknown_level_asks_as_the_highest(toolbox: Toolbox, log: Log) -> None:
    outcome = await toolbox.call("erase", {}, caller())

    assert isinstance(outcome, NeedsApproval)
    assert outcome.level == "L3"
    assert log.ran == []


@pytest.mark.parametrize(
    "name, arguments, code", [("refuse", {}, "closed"), ("pay", {"key": "forbidden"}, "forbidden")]
)
async def test_a_refusal_of_the_tool_keeps_its_code(
    toolbox: Toolbox, name: str, arguments: Mapping[str, Any], code: str
) -> None:
    assert await toolbox.call(name, arguments, caller()) == Refused(code=code)


async def test_an_approved_run_hands_the_approval_to_the_tool(toolbox: Toolbox, log: Log) -> None:
    outcome = await toolbox.run_approved("pay", {"key": "A", "times": 1}, caller(), approval_id="APR-1")

    assert outcome == Done(result={"paid": "A"})
    assert log.ran == [("A", "APR-1")]


async def test_an_approved_run_checks_its_arguments(toolbox: Toolbox, log: Log) -> None:
    outcome = await toolbox.run_approved("pay", {"kee": "A"}, caller(), approval_id="APR-1")

    assert outcome == Refused(code="invalid_arguments")
    assert log.ran == []


async def test_a_run_without_an_approval_is_an_error(toolbox: Toolbox) -> None:
    with pytest.raises(PermanentError, match="approval"):
        await toolbox.run_approved("pay", {"key": "A"}, caller(), approval_id="")


async def test_a_reading_tool_does_not_run_as_an_approved_one(toolbox: Toolbox) -> None:
    assert await toolbox.run_approved("read", {"key": "a"}, caller(), approval_id="A") == Refused(code="not_allowed")


async def test_a_tool_that_takes_no_key_is_never_run_again(toolbox: Toolbox, log: Log) -> None:
    first = await toolbox.run_approved("erase", {}, caller(), approval_id="APR-1")
    again = await toolbox.run_approved("erase", {}, caller(), approval_id="APR-1", repeated=True)

    assert (first, again) == (Done(result={}), Refused(code="may_have_run"))
    assert log.ran == [("erase", "")]


async def test_a_tool_that_takes_too_long_is_stopped(toolbox: Toolbox) -> None:
    with pytest.raises(TransientError, match="hang took longer"):
        await toolbox.call("hang", {}, caller())


def test_the_listing_names_levels_and_agents(toolbox: Toolbox) -> None:
    listed = {each.name: each for each in toolbox.listing()}

    assert list(listed) == ["erase", "hang", "pay", "read", "refuse"]
    assert (listed["read"].level, listed["read"].agents) == ("L0", ("helper", "reader"))
    assert (listed["erase"].level, listed["erase"].description) == ("L3", "Erase all.")


def test_an_agent_is_shown_its_own_tools(toolbox: Toolbox) -> None:
    assert [each.name for each in toolbox.tools_for("reader")] == ["read"]
    assert toolbox.tools_for("stranger") == ()


@pytest.mark.parametrize(
    "allowed, services, words",
    [
        ({"helper": ["reed"]}, ["log"], "did you mean 'read'"),
        ({}, [], "needs log"),
    ],
)
def test_a_toolbox_that_cannot_work_is_not_built(
    log: Log, allowed: Mapping[str, Sequence[str]], services: Sequence[str], words: str
) -> None:
    with pytest.raises(SettingsError, match=words):
        Toolbox(TOOLS, allowed=allowed, services=dict.fromkeys(services, log))


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(SettingsError, match="same name"):
        Toolbox([hang, hang], allowed={}, services={})


CALLER = Caller(customer=None, agent="helper", ticket_id="T-1", user="U1", language="en")


@pytest.mark.parametrize(
    "name, arguments, outcome, error",
    [
        ("read", {"key": "secret words"}, "done", ""),
        ("read", {"times": "x"}, "invalid", ""),
        ("refuse", {}, "refused", "closed"),
        ("pay", {"key": "a"}, "needs_approval", ""),
        ("unknown", {}, "refused", "not_allowed"),
    ],
)
async def test_every_call_is_told_with_name_level_and_outcome_and_never_with_arguments(
    log: Log, name: str, arguments: Mapping[str, Any], outcome: str, error: str
) -> None:
    told: list[ToolCall] = []
    toolbox = Toolbox(TOOLS, allowed=ALLOWED, services={"log": log}, on_call=told.append)
    await toolbox.call(name, arguments, CALLER)

    (call,) = told
    levels = {"read": "L0", "refuse": "L1", "pay": "L2", "unknown": ""}
    assert (call.tool, call.level, call.agent, call.outcome, call.error) == (
        name,
        levels[name],
        "helper",
        outcome,
        error,
    )
    assert "secret words" not in repr(call)
    assert call.seconds >= 0


async def test_a_call_that_fails_is_told_with_the_kind_of_error(log: Log) -> None:
    told: list[ToolCall] = []
    toolbox = Toolbox(TOOLS, allowed=ALLOWED, services={"log": log}, timeout_s=0.01, on_call=told.append)
    with pytest.raises(TransientError):
        await toolbox.call("hang", {}, CALLER)

    assert [(call.outcome, call.error) for call in told] == [("failed", "TransientError")]


async def test_an_approved_run_is_told_once(log: Log) -> None:
    told: list[ToolCall] = []
    toolbox = Toolbox(TOOLS, allowed=ALLOWED, services={"log": log}, on_call=told.append)
    await toolbox.run_approved("pay", {"key": "a"}, CALLER, approval_id="APR-1")

    assert [(call.tool, call.outcome) for call in told] == [("pay", "done")]


async def test_without_effects_tools_read_and_say_what_they_would_do_and_write_nothing(log: Log) -> None:
    toolbox = Toolbox(TOOLS, allowed=ALLOWED, services={"log": log}, effects=False)

    assert isinstance(await toolbox.call("read", {"key": "a"}, CALLER), Done)
    assert isinstance(await toolbox.call("pay", {"key": "a"}, CALLER), NeedsApproval)
    assert await toolbox.call("refuse", {}, CALLER) == Refused(code="replay")
    assert await toolbox.run_approved("pay", {"key": "a"}, CALLER, approval_id="A") == Refused(code="replay")
    assert log.ran == [("read", "a")]
