"""Levels that depend on the arguments, time limits of a tool's own, and tools that come from elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from hermes_bot.errors import TransientError
from hermes_bot.tools.outcome import Caller, Done, NeedsApproval, Preview, Refused
from hermes_bot.tools.registry import Level, ToolUnavailable, tool
from hermes_bot.tools.toolbox import Toolbox

CALLER = Caller(customer=None, agent="helper", ticket_id="T-1", user="U1", language="en")


def by_amount(arguments: Mapping[str, Any]) -> Level | str:
    """Return the level of a payment."""
    amount = arguments["amount"]
    if amount == 13:
        raise ValueError("nobody pays thirteen")
    return Level.L0 if amount == 0 else "L1" if amount < 10 else Level.L2 if amount < 100 else "enormous"


async def describe(amount: int) -> Preview:
    return Preview(title=f"Pay {amount}", shown=(), arguments={"amount": amount + (99 if amount == 50 else 0)})


@tool(level=by_amount, describe=describe)
async def pay(amount: int) -> dict[str, Any]:
    """Pay."""
    return {"paid": amount}


@tool(level=Level.L0, timeout_s=0.01)
async def slow() -> dict[str, Any]:
    """Wait for ever."""
    await asyncio.Event().wait()
    return {}


class Elsewhere:
    """A source whose tools can be away."""

    name = "docs"
    away = "the server is down"


def boxed(*sources: Elsewhere) -> Toolbox:
    allowed = {"helper": ["pay", "slow", *(f"{each.name}__search" for each in sources)]}
    return Toolbox([pay, slow], allowed=allowed, services={}, sources=sources, timeout_s=30)


@pytest.mark.parametrize("amount, level", [(12, "L2"), (99, "L2"), (100, "L3"), (13, "L3"), (50, "L3")])
async def test_a_level_can_depend_on_the_arguments_that_will_run(amount: int, level: str) -> None:
    outcome = await boxed().call("pay", {"amount": amount}, CALLER)

    assert isinstance(outcome, NeedsApproval)
    assert outcome.level == level


@pytest.mark.parametrize("amount", [0, 9])
async def test_a_call_of_a_low_level_runs(amount: int) -> None:
    assert await boxed().call("pay", {"amount": amount}, CALLER, key="K") == Done(result={"paid": amount})


def test_a_tool_whose_level_depends_is_listed_with_the_highest() -> None:
    assert {each.name: each.level for each in boxed().listing()} == {"pay": "L3", "slow": "L0"}


async def test_an_admins_level_replaces_the_rule() -> None:
    lowered = Toolbox([pay.at("L1")], allowed={"helper": ["pay"]}, services={})

    assert await lowered.call("pay", {"amount": 500}, CALLER, key="K") == Done(result={"paid": 500})
    assert len({pay.fingerprint, pay.at("L1").fingerprint, pay.at("L2").fingerprint}) == 3


async def test_a_tool_has_a_time_limit_of_its_own() -> None:
    with pytest.raises(TransientError, match=r"slow took longer than 0\.01 s"):
        await boxed().call("slow", {}, CALLER)


async def test_a_tool_of_a_source_that_is_away_says_so_and_comes_later() -> None:
    source = Elsewhere()
    toolbox = boxed(source)
    with pytest.raises(ToolUnavailable, match="docs__search: the server is down"):
        await toolbox.call("docs__search", {}, CALLER)
    assert toolbox.comes_later("docs__search")

    @tool(level=Level.L0, name="docs__search")
    async def search() -> dict[str, Any]:
        """Search."""
        return {"found": True}

    source.away = ""
    toolbox.put("docs", [search])
    assert await toolbox.call("docs__search", {}, CALLER) == Done(result={"found": True})
    toolbox.put("docs", [])
    assert await toolbox.call("docs__search", {}, CALLER) == Refused(code="not_allowed")


async def test_a_result_is_bounded() -> None:
    @tool(level=Level.L0)
    async def talk() -> dict[str, Any]:
        """Talk a lot."""
        return {"text": "a" * 100_000}

    toolbox = Toolbox([talk], allowed={"helper": ["talk"]}, services={}, result_limit=2_000)
    outcome = await toolbox.call("talk", {}, CALLER)

    assert isinstance(outcome, Done)
    assert len(str(outcome.result)) < 2_100
    assert "of 100000 characters" in str(outcome.result)
