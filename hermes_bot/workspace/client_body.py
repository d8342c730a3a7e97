"""The JSON body of a request of the client API, read with its types."""

from __future__ import annotations

import json
from typing import Any

from aiohttp import web

from hermes_bot.workspace.posts import Json
from hermes_bot.workspace.refusal import Refusal


class Body:
    """A JSON body with typed access; a wrong kind raises `invalid_arguments`."""

    def __init__(self, values: Json) -> None:
        self._values = values

    @classmethod
    async def of(cls, request: web.Request) -> Body:
        """Return the request's body."""
        try:
            values = await request.json()
            json.dumps(values, ensure_ascii=False).encode()  # half a character can be written in JSON and kept nowhere
        except (ValueError, RecursionError):
            raise Refusal("invalid_json") from None
        if not isinstance(values, dict):
            raise Refusal("json_not_object")
        return cls(values)

    def any(self, name: str) -> Any:
        """Return the field, None when it is not there."""
        return self._values.get(name)

    def text(self, name: str) -> str:
        """Return a string field, empty when it is not there."""
        value = self._values.get(name) or ""
        if not isinstance(value, str):
            raise Refusal("invalid_arguments")
        return value

    def values(self, name: str) -> dict[str, dict[str, Any]]:
        """Return what was filled in, as `{block_id: {action_id: value}}`."""
        value = self._values.get(name) or {}
        if not isinstance(value, dict) or not all(isinstance(one, dict) for one in value.values()):
            raise Refusal("invalid_arguments")
        return value
