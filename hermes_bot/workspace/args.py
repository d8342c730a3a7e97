"""The arguments of a Web API call, merged from query string, form and JSON body."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from aiohttp import web

from hermes_bot.workspace.posts import Json
from hermes_bot.workspace.refusal import Refusal

T = TypeVar("T")


class Args:
    """Typed access to the arguments; a wrong or missing one raises `invalid_arguments`."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = {key: value for key, value in values.items() if value is not None}

    def given(self, name: str) -> bool:
        """Return whether the argument was sent."""
        return name in self._values

    def any(self, name: str) -> Any:
        """Return the argument as it was sent, None when it was not."""
        return self._values.get(name)

    def all(self) -> Json:
        """Return all arguments but the token."""
        return {key: value for key, value in self._values.items() if key != "token"}

    def text(self, name: str) -> str:
        """Return a string argument, empty when it was not sent."""
        value = self._values.get(name, "")
        if not isinstance(value, str):
            raise Refusal("invalid_arguments", [f"[ERROR] must be a string [json-pointer:/{name}]"])
        return value

    def required(self, name: str) -> str:
        """Return a string argument that must be there."""
        value = self.text(name)
        if not value:
            raise Refusal("invalid_arguments", [f"[ERROR] missing required field: {name}"])
        return value

    def without(self, name: str) -> Args:
        """Return the same arguments but for this one."""
        return Args({key: value for key, value in self._values.items() if key != name})

    def with_text(self, text: str) -> Args:
        """Return the same arguments with another text."""
        return Args({**self._values, "text": text})

    def flag(self, name: str) -> bool:
        """Return a yes or no, no when it was not sent."""
        return str(self._values.get(name, "false")).lower() in ("true", "1")

    def limit(self, default: int, most: int, wrong: str) -> int:
        """Return the page size; raise `wrong` for what is no number from 1 to `most`."""
        try:
            number = int(str(self._values.get("limit", default)))
        except ValueError:
            raise Refusal(wrong) from None
        if not 1 <= number <= most:
            raise Refusal(wrong)
        return number

    def structure(self, name: str, *, wrong: str) -> Any:
        """Return a nested argument, sent as JSON or as a string that holds JSON; `wrong` is the error otherwise."""
        value = self._values.get(name)
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except ValueError:
            raise Refusal(wrong) from None


async def arguments_of(request: web.Request) -> dict[str, Any]:
    """Return the arguments of a request, the body's before the query's, for any verb."""
    values: dict[str, Any] = dict(request.query)
    if request.content_type == "application/json":
        raw = await request.text()
        try:
            body = json.loads(raw) if raw.strip() else {}
        except ValueError:
            raise Refusal("invalid_json") from None
        if not isinstance(body, dict):
            raise Refusal("json_not_object")
        return values | body
    form = await request.post()
    return values | {key: value for key, value in form.items() if isinstance(value, str)}


def token_of(request: web.Request, values: Mapping[str, Any]) -> str:
    """Return the token from the header or, without one, from the arguments."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else str(values.get("token", ""))


def page_of(
    items: Sequence[T], args: Args, *, default: int, most: int, wrong: str = "invalid_arguments"
) -> tuple[list[T], Json]:
    """Return one page of `items` and its `response_metadata`; the cursor is opaque, as Slack's is.

    `wrong` is what the method answers to a page size that cannot be: few have a word of their own for it.
    """
    start = _cursor_start(args.text("cursor"))
    if start > len(items):
        raise Refusal("invalid_cursor")
    end = start + args.limit(default, most, wrong)
    more = base64.b64encode(f"at:{end}".encode()).decode() if end < len(items) else ""
    return list(items[start:end]), {"response_metadata": {"next_cursor": more}}


def _cursor_start(cursor: str) -> int:
    if not cursor:
        return 0
    try:
        kind, _, start = base64.b64decode(cursor, validate=True).decode().partition(":")
        if kind != "at":
            raise Refusal("invalid_cursor")
        return int(start)
    except (binascii.Error, ValueError):
        raise Refusal("invalid_cursor") from None
