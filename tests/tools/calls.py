"""Valid calls of the tools of the shared retail data, and of a few with the kinds of values that those do not take."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from hermes_bot.tools.arguments import SchemaArguments

Values = dict[str, Any]
TYPES: Mapping[str, Values] = {"str": {"type": "string"}, "List[str]": {"type": "array", "items": {"type": "string"}}}
TYPED: Mapping[str, Values] = {
    "offer_refund": {
        "order_id": {"type": "string", "description": "The order id, such as '#W0000000'."},
        "amount_cents": {"type": "integer", "minimum": 1},
        "currency": {"type": "string", "enum": ["EUR", "USD", "CNY"]},
        "note": {"type": "string", "description": "For staff.", "optional": True},
    },
    "plan_delivery": {
        "day": {"type": "string", "format": "date"},
        "window_days": {"type": "integer", "minimum": 1, "maximum": 60},
        "parcels": {"type": "integer", "minimum": 1},
        "express": {"type": "boolean"},
        "speed": {"type": "string", "enum": ["next-day", "standard", "economy"]},
    },
    "report": {
        "form": {"type": "string", "enum": ["json", "text"]},
        "share": {"type": "number"},
        "contact": {
            "type": "object",
            "properties": {"email": {"type": "string", "format": "email"}, "attempts": {"type": "integer"}},
            "required": ["email", "attempts"],
            "additionalProperties": False,
        },
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A valid call. `schema` describes its arguments."""

    tool: str
    schema: Mapping[str, Any]
    values: Values


def schemas(shared: Path) -> dict[str, Mapping[str, Any]]:
    """Return the JSON Schemas of all tools."""
    retail = json.loads((shared / "data" / "taubench" / "tools.json").read_text())
    found = {tool["name"]: _schema(_typed_parameters(tool["parameters"])) for tool in retail}
    return found | {name: _schema(parameters) for name, parameters in TYPED.items()}


def valid_calls(shared: Path, seed: int, each: int) -> list[Call]:
    """Return `each` valid calls of every tool that takes arguments; the same for the same seed."""
    shop = json.loads((shared / "data" / "taubench" / "db.json").read_text())
    drawn = random.Random(seed)
    made = []
    for name, schema in schemas(shared).items():
        for _ in range(each if schema["properties"] else 0):
            values = _typed_values(name, drawn) if name in TYPED else _retail_values(schema, shop, drawn)
            made.append(Call(tool=name, schema=schema, values=values))
    return made


def readers(calls: Sequence[Call]) -> dict[str, SchemaArguments]:
    """Return what reads the arguments of each tool."""
    return {call.tool: SchemaArguments(call.schema) for call in calls}


def _typed_parameters(parameters: Mapping[str, Values]) -> dict[str, Values]:
    return {name: TYPES[each["type"]] | {"description": each["description"]} for name, each in parameters.items()}


def _schema(parameters: Mapping[str, Values]) -> dict[str, Any]:
    plain = {
        name: {key: value for key, value in each.items() if key != "optional"} for name, each in parameters.items()
    }
    required = [name for name, each in parameters.items() if not each.get("optional")]
    return {"type": "object", "properties": plain, "required": required, "additionalProperties": False}


def _retail_values(schema: Mapping[str, Any], shop: Values, drawn: random.Random) -> Values:
    order = shop["orders"][drawn.choice(sorted(shop["orders"]))]
    user = shop["users"][order["user_id"]]
    product = shop["products"][drawn.choice(sorted(shop["products"]))]
    items = [item["item_id"] for item in order["items"]][: drawn.randint(1, 3)]
    variants = sorted(product["variants"])
    known: dict[str, Callable[[], Any]] = {
        "expression": lambda: f"{drawn.randint(2, 99)} * ({drawn.randint(2, 99)}.50 + {drawn.randint(2, 99)})",
        "order_id": lambda: order["order_id"],
        "reason": lambda: drawn.choice(["no longer needed", "ordered by mistake"]),
        "item_ids": lambda: items,
        "new_item_ids": lambda: [drawn.choice(variants) for _ in items],
        "payment_method_id": lambda: drawn.choice(sorted(user["payment_methods"])),
        "item_id": lambda: drawn.choice(variants),
        "product_id": lambda: product["product_id"],
        "user_id": lambda: user["user_id"],
        "email": lambda: user["email"],
        "summary": lambda: f"The customer asks about order {order['order_id']}, and wants a person.",
    }
    known |= {name: partial(user["name"].get, name) for name in ("first_name", "last_name")}
    known |= {name: partial(user["address"].get, name) for name in user["address"]}
    return {name: known[name]() for name in schema["properties"]}


def _typed_values(name: str, drawn: random.Random) -> Values:
    if name == "offer_refund":
        cents = drawn.randint(1, 99) * 10_000 + drawn.choice([25, 50, 99])
        return {
            "order_id": f"#W{drawn.randint(10**6, 10**7 - 1)}",
            "amount_cents": cents,
            "currency": drawn.choice(["EUR", "USD", "CNY"]),
        }
    if name == "plan_delivery":
        return {
            "day": (date(2026, 1, 1) + timedelta(days=drawn.randrange(365))).isoformat(),
            "window_days": drawn.choice([3, 14, 21, 28]),
            "parcels": drawn.randint(1, 30),
            "express": drawn.choice([True, False]),
            "speed": drawn.choice(["next-day", "standard", "economy"]),
        }
    return {
        "form": drawn.choice(["json", "text"]),
        "share": drawn.choice([0.25, 1.5, 12.75]),
        "contact": {"email": f"user{drawn.randint(1, 99)}@example.com", "attempts": drawn.randint(1, 9)},
    }
