"""What a record of a call may keep of its arguments: enough for a person to see what was meant, and nobody's data.

Numbers, dates and identifiers stay. Free text is told by its length, an e-mail address by its domain, long numbers (a
card, a phone) by their last digits; what is named a secret is hidden.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hermes_bot.observe.redact import HIDDEN, Redactor

_SECRET = re.compile(r"token|secret|password|passwd|authori[sz]ation|api_?key|signature|cvv|cvc|\bpin\b", re.IGNORECASE)
_IDENTIFIER = re.compile(r"#?(?=[\w.-]*\d)[A-Za-z0-9][\w.-]{0,63}")
_EMAIL = re.compile(r"[^@\s]+@(?P<domain>[^@\s]+)")
_LONG_NUMBER = re.compile(r"\+?[\d\s().-]{11,}")
_LONG = 10**11  # as long as a card or a phone number
_MOST_ITEMS = 20
_MAX_DEPTH = 6
_REDACTOR = Redactor()


def redacted(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments as a record may keep them."""
    return {str(name): _field(str(name), value, 0) for name, value in arguments.items()}


def _field(name: str, value: Any, depth: int) -> Any:
    if value not in (None, "") and _SECRET.search(name):
        return HIDDEN
    if depth > _MAX_DEPTH:
        return HIDDEN
    if isinstance(value, Mapping):
        return {str(key): _field(str(key), each, depth + 1) for key, each in list(value.items())[:_MOST_ITEMS]}
    if isinstance(value, list | tuple):
        return [_field(name, each, depth + 1) for each in value[:_MOST_ITEMS]]
    if isinstance(value, int) and abs(value) >= _LONG:
        return f"{HIDDEN}{str(value)[-4:]}"
    return value if isinstance(value, bool | int | float) or value is None else _text(str(value))


def _text(value: str) -> str:
    if email := _EMAIL.fullmatch(value):
        return f"{HIDDEN}@{email['domain']}"
    if _LONG_NUMBER.fullmatch(value):
        return f"{HIDDEN}{re.sub(r'[^0-9]', '', value)[-4:]}"
    if not value or _IDENTIFIER.fullmatch(value):
        return _REDACTOR.text(value)
    return f"text of {len(value)} characters"
