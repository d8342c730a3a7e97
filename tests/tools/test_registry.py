from typing import Any

import pytest

from hermes_bot.tools.discovery import discover
from hermes_bot.tools.outcome import Preview
from hermes_bot.tools.registry import Level, Tool, tool


async def look_up(order_id: str, limit: int = 5, *, caller: object, shop: object) -> dict[str, Any]:
    """Look an order up,
    and say where it is.

    This paragraph is for readers of the code.
    """
    return {"order_id": order_id, "limit": limit}


async def describe(order_id: str, limit: int, *, caller: object, shop: object) -> Preview:
    return Preview(title=f"Look up {order_id}", shown=())


def test_what_is_not_given_is_derived_from_signature_and_docstring() -> None:
    made = tool(level=Level.L0)(look_up)

    assert made.name == "look_up"
    assert made.description == "Look an order up, and say where it is."
    assert made.needs == {"caller", "shop"}
    assert set(made.parameters["properties"]) == {"order_id", "limit"}
    assert made.parameters["required"] == ["order_id"]
    assert made.parameters["additionalProperties"] is False


def test_what_is_given_wins() -> None:
    made = tool(level="L1", name="find", description="Find it.", parameters={"type": "object"})(look_up)

    assert (made.name, made.description, made.parameters) == ("find", "Find it.", {"type": "object"})
    assert made.level is Level.L1


@pytest.mark.parametrize("word", ["L4", "", "read", None, 0, "admin"])
def test_an_unknown_level_is_the_highest(word: Any) -> None:
    assert tool(level=word, describe=describe)(look_up).level is Level.L3


@pytest.mark.parametrize("word, level", [("L0", Level.L0), ("l2", Level.L2), (Level.L1, Level.L1), (" L3 ", Level.L3)])
def test_a_known_level_is_read(word: Any, level: Level) -> None:
    assert Level.of(word) is level


def test_a_tool_that_needs_approval_must_be_able_to_say_what_it_does() -> None:
    with pytest.raises(TypeError, match="needs `describe`"):
        tool(level=Level.L2)(look_up)


def test_what_the_card_is_made_of_takes_what_the_tool_takes() -> None:
    async def describe_less(order_id: str, *, caller: object) -> Preview:
        return Preview(title=order_id, shown=())

    with pytest.raises(TypeError, match="`describe` takes"):
        tool(level=Level.L2, describe=describe_less)(look_up)


def test_a_tool_is_an_async_function() -> None:
    def blocking() -> dict[str, Any]:
        """Block."""
        return {}

    with pytest.raises(TypeError, match="async function"):
        tool(level=Level.L0)(blocking)  # type: ignore[arg-type] # that is the mistake


def test_every_argument_of_a_tool_has_a_type() -> None:
    async def untyped(order_id) -> dict[str, Any]:  # type: ignore[no-untyped-def] # that is the mistake
        """Look up."""
        return {}

    async def open_ended(**rest: str) -> dict[str, Any]:
        """Look up."""
        return {}

    with pytest.raises(TypeError, match="'order_id' needs a type"):
        tool(level=Level.L0)(untyped)
    with pytest.raises(TypeError, match="'rest'"):
        tool(level=Level.L0)(open_ended)


def test_a_tool_needs_words() -> None:
    async def silent() -> dict[str, Any]:
        return {}

    with pytest.raises(TypeError, match="docstring"):
        tool(level=Level.L0)(silent)


def test_the_shipped_tools_are_discovered_with_their_levels() -> None:
    found = {each.name: each for each in discover("hermes_bot.tools")}

    assert {name: each.level.name for name, each in found.items()} == {
        "calculate": "L0",
        "cancel_order": "L2",
        "change_address": "L1",
        "find_order": "L0",
        "issue_refund": "L2",
        "list_orders": "L0",
        "list_refunds": "L0",
        "open_return": "L1",
        "order_invoice": "L0",
        "order_options": "L0",
        "refund_eligibility": "L0",
        "refund_status": "L0",
        "shop_policy": "L0",
    }
    assert found["issue_refund"].takes_key


@pytest.mark.parametrize("shipped", discover("hermes_bot.tools"), ids=lambda each: each.name)
def test_no_argument_of_a_shipped_tool_can_name_a_customer(shipped: Tool) -> None:
    assert not [name for name in shipped.parameters["properties"] if "customer" in name or "user" in name]
    nobodys = {"shop"} if not shipped.parameters["properties"] else set()
    assert "caller" in shipped.needs or shipped.needs == nobodys
