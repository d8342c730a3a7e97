"""Reads what an endpoint answers, whole or in a stream of pieces, and trusts none of it to be there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from hermes_bot.llm.chat import ChatAnswer, ChatAsk, FunctionCall, OnDelta, estimated_tokens

MOST_CHARACTERS = 400_000
"""More than any limit of tokens gives; an endpoint that ignores its limit is cut off here."""


def read_whole(reply: Any, ask: ChatAsk) -> ChatAnswer:
    """Return the answer of a completion that came in one."""
    choice = next(iter(getattr(reply, "choices", None) or ()), None)
    message = getattr(choice, "message", None)
    text = str(getattr(message, "content", None) or "")[:MOST_CHARACTERS]
    functions = [
        each.function for each in getattr(message, "tool_calls", None) or () if getattr(each, "function", None)
    ]
    calls = tuple(FunctionCall(name=str(each.name), arguments=str(each.arguments or "")) for each in functions)
    return _answer(ask, text, calls, getattr(reply, "usage", None), getattr(choice, "finish_reason", None))


async def read_stream(pieces: AsyncIterator[Any], ask: ChatAsk, on_delta: OnDelta | None) -> ChatAnswer | None:
    """Return the answer that the pieces make; None where there was not a single one."""
    text: list[str] = []
    calls: dict[int, list[str]] = {}
    usage, finished, seen, size = None, None, False, 0
    async for piece in pieces:
        usage = getattr(piece, "usage", None) or usage
        for choice in getattr(piece, "choices", None) or ():
            seen, delta = True, getattr(choice, "delta", None)
            finished = getattr(choice, "finish_reason", None) or finished
            said = str(getattr(delta, "content", None) or "")
            size += len(said) + _add_calls(calls, getattr(delta, "tool_calls", None) or ())
            if said:
                text.append(said)
                if on_delta is not None:
                    on_delta(said)
        if size > MOST_CHARACTERS:
            finished = "length"
            break
    if not seen:
        return None
    made = tuple(FunctionCall(name=name, arguments=arguments) for name, arguments in map(tuple, calls.values()))
    return _answer(ask, "".join(text), made, usage, finished)


def _add_calls(calls: dict[int, list[str]], pieces: Any) -> int:
    """Put pieces of function calls where they belong; return how many characters came."""
    size = 0
    for piece in pieces:
        call = calls.setdefault(int(getattr(piece, "index", 0) or 0), ["", ""])
        function = getattr(piece, "function", None)
        name, arguments = str(getattr(function, "name", None) or ""), str(getattr(function, "arguments", None) or "")
        call[0] += name
        call[1] += arguments
        size += len(name) + len(arguments)
    return size


def _answer(ask: ChatAsk, text: str, calls: tuple[FunctionCall, ...], usage: Any, finished: str | None) -> ChatAnswer:
    tokens_in, tokens_out = getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None)
    counted = isinstance(tokens_in, int) and isinstance(tokens_out, int)
    if not counted:
        tokens_in = sum(estimated_tokens(each.text) for each in ask.messages)
        tokens_out = estimated_tokens(text + "".join(each.arguments for each in calls))
    return ChatAnswer(
        text=text,
        calls=calls,
        tokens_in=int(tokens_in or 0),
        tokens_out=int(tokens_out or 0),
        counted=counted,
        complete=finished not in {"length", "content_filter"},
    )
