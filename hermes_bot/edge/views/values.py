"""What a button of ours carries: written here, and read back defensively when it is pressed."""

from __future__ import annotations

import json
from typing import Any

from hermes_bot.edge.text import storable

VALUE_CHARACTERS = 2_000


def packed(**fields: str) -> str:
    """Return the fields as a button's value."""
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def unpacked(raw: object) -> dict[str, str]:
    """Return the string fields of a value; an empty mapping for anything that is not one of ours."""
    if not isinstance(raw, str) or len(raw) > VALUE_CHARACTERS:
        return {}
    try:
        fields: Any = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(fields, dict):
        return {}
    return {storable(str(name)): storable(text) for name, text in fields.items() if isinstance(text, str)}
