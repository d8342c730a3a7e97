"""What one endpoint takes of OpenAI's protocol, learned from what it refuses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from hermes_bot.llm.chat import ChatAsk, ChatProtocol

ACTION = "action"
_ORDER = (ChatProtocol.TOOLS, ChatProtocol.SCHEMA, ChatProtocol.PLAIN)
_REFUSALS = frozenset({400, 404, 405, 415, 422, 501})
_CAN_GO = ("stream_options", "temperature", "tool_choice", "parallel_tool_calls")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How requests to one model are written. `protocol` None: the best that was not refused, `found`."""

    protocol: ChatProtocol | None = None
    found: ChatProtocol = ChatProtocol.TOOLS
    stream: bool = True
    dropped: frozenset[str] = frozenset()
    completion_tokens: bool = False

    @property
    def used(self) -> ChatProtocol:
        """The way in which the model says what it wants to do."""
        return self.protocol or self.found

    def unstreamed(self) -> Dialect:
        """Return the dialect of an endpoint that does not stream."""
        return replace(self, stream=False)

    def request(self, model: str, ask: ChatAsk, *, max_tokens: int) -> dict[str, Any]:
        """Return the arguments of `chat.completions.create`."""
        limit = "max_completion_tokens" if self.completion_tokens else "max_tokens"
        wanted: dict[str, Any] = {
            "model": model,
            "messages": [{"role": each.role, "content": each.text} for each in ask.messages],
            "temperature": ask.temperature,
            limit: max_tokens,
            **self._form(ask),
        }
        if self.stream:
            wanted |= {"stream": True, "stream_options": {"include_usage": True}}
        return {name: value for name, value in wanted.items() if name not in self.dropped}

    def _form(self, ask: ChatAsk) -> dict[str, Any]:
        if self.used is ChatProtocol.TOOLS and ask.functions:
            functions = [
                {"name": each.name, "description": each.description, "parameters": dict(each.parameters)}
                for each in ask.functions
            ]
            tools = [{"type": "function", "function": each} for each in functions]
            return {"tools": tools, "tool_choice": "required", "parallel_tool_calls": False}
        if self.used is ChatProtocol.SCHEMA and ask.schema is not None:
            form = {"name": ACTION, "schema": dict(ask.schema)}
            return {"response_format": {"type": "json_schema", "json_schema": form}}
        return {}

    def without_what_was_refused(self, error: Exception) -> Dialect | None:
        """Return a simpler dialect, or None where the request was not refused for its form, or none is simpler.

        What an error names is left out; where it names nothing, the next simpler way to answer is asked for.
        """
        import openai

        if not isinstance(error, openai.APIStatusError) or error.status_code not in _REFUSALS:
            return None
        said = error.response.text.lower()
        if "max_completion_tokens" in said and not self.completion_tokens:
            return replace(self, completion_tokens=True)
        named = next((name for name in _CAN_GO if name in said and name not in self.dropped), None)
        if named is not None:
            return replace(self, dropped=self.dropped | {named})
        if self.protocol is not None or self.found is ChatProtocol.PLAIN:
            return None
        return replace(self, found=_ORDER[_ORDER.index(self.found) + 1])
