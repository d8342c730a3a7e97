"""A scripted OpenAI-compatible server on loopback: says what a test tells it to, and remembers what it was asked.

It can stream or not, count tokens or not, refuse what real endpoints refuse, be slow, fail, and answer nonsense.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

_FENCED = re.compile(
    r"<<(?P<label>[^<>]+) (?P<mark>[0-9a-f]{12})>>\n(?P<body>.*?)\n<<end of (?P=label) (?P=mark)>>", re.DOTALL
)
_STEP = re.compile(r"^\d+\. ", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request as it came."""

    body: Mapping[str, Any]
    key: str = ""

    @property
    def protocol(self) -> str:
        """How an action is wanted: tools, schema or plain."""
        return "tools" if "tools" in self.body else "schema" if "response_format" in self.body else "plain"

    @property
    def system(self) -> str:
        """What the model is told before anything else."""
        return str(self.body["messages"][0]["content"])

    @property
    def user(self) -> str:
        """What the model is told of the case."""
        return str(self.body["messages"][1]["content"])

    @property
    def corrected(self) -> str:
        """What the answer before this was sent back with, empty where nothing was."""
        messages = self.body["messages"]
        return str(messages[-1]["content"]) if len(messages) > 2 else ""

    @property
    def fenced(self) -> dict[str, str]:
        """The fenced blocks by their label."""
        return {match["label"]: match["body"] for match in _FENCED.finditer(self.user)}

    @property
    def text(self) -> str:
        """The customer's message or the task."""
        return self.fenced.get("customer's message") or self.fenced.get("your task", "")

    @property
    def done(self) -> int:
        """How many steps the run has so far."""
        return len(_STEP.findall(self.fenced.get("what you did and what came of it", "")))

    @property
    def functions(self) -> tuple[str, ...]:
        """The names of the functions that may be called."""
        return tuple(each["function"]["name"] for each in self.body.get("tools", ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Says:
    """Ordinary text."""

    text: str
    finish_reason: str = "stop"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fails:
    """An error; `says` is its message."""

    status: int
    says: str = "no"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """Bytes that may be anything, with the content type of JSON."""

    body: bytes


class Silent:
    """No answer until the server is told to speak."""


Action = Mapping[str, Any]
Reply = Says | Fails | Raw | Silent | Action
Script = Callable[[Asked], Reply | Awaitable[Reply]]


def call(tool: str, **arguments: Any) -> Action:
    """Return the action that calls a tool."""
    return {"action": "call_tool", "tool": tool, "arguments": arguments}


def answer(text: str, **more: Any) -> Action:
    """Return the action that ends with an answer."""
    return {"action": "finish", "outcome": "answered", "text": text, **more}


class ModelServer:
    """Answers as the next of `replies` says, then as `otherwise` does; see the module for what it can."""

    def __init__(self, otherwise: Script | None = None) -> None:
        self.asked: list[Asked] = []
        self.replies: deque[Reply] = deque()
        self.otherwise = otherwise or (lambda _asked: answer("ok"))
        self.refuses: set[str] = set()
        self.streams = True
        self.counts = True
        self.speaks = asyncio.Event()
        self.arrived = asyncio.Event()
        self.at_once = 0
        self.most_at_once = 0
        self.base_url = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        asked = Asked(body=body, key=request.headers.get("Authorization", ""))
        self.asked.append(asked)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        self.arrived.set()
        try:
            refused = next((name for name in sorted(self.refuses) if name in body), None)
            if refused is not None:
                return _error(Fails(status=400, says=f"{refused} is not supported"))
            found = self.replies.popleft() if self.replies else self.otherwise(asked)
            reply = await found if isinstance(found, Awaitable) else found
            if isinstance(reply, Silent):
                await self.speaks.wait()
                reply = answer("late")
            return await self._sent(request, asked, reply)
        finally:
            self.at_once -= 1

    async def _sent(self, request: web.Request, asked: Asked, reply: Says | Fails | Raw | Action) -> web.StreamResponse:
        if isinstance(reply, Fails):
            return _error(reply)
        if isinstance(reply, Raw):
            return web.Response(body=reply.body, content_type="application/json")
        message, finish = _message(asked, reply)
        usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120} if self.counts else None
        if asked.body.get("stream") and self.streams:
            return await _streamed(request, message, finish, usage if "stream_options" in asked.body else None)
        choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
        return web.json_response(_envelope("chat.completion", choices=[choice], usage=usage))


@asynccontextmanager
async def model_server(otherwise: Script | None = None) -> AsyncIterator[ModelServer]:
    """Serve until the block ends."""
    server = ModelServer(otherwise)
    app = web.Application()
    app.router.add_post("/v1/chat/completions", server.handle)
    async with TestServer(app) as running:
        server.base_url = f"http://127.0.0.1:{running.port}/v1"
        try:
            yield server
        finally:
            server.speaks.set()


def _message(asked: Asked, reply: Says | Action) -> tuple[dict[str, Any], str]:
    """Return the message in the way that was asked for."""
    if isinstance(reply, Says):
        return {"content": reply.text}, reply.finish_reason
    if asked.protocol != "tools":
        return {"content": json.dumps(reply, ensure_ascii=False)}, "stop"
    fields = dict(reply)
    kind = fields.pop("action")
    name, arguments = (fields["tool"], fields["arguments"]) if kind == "call_tool" else (kind, fields)
    written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    function = {"name": name, "arguments": written}
    return {"content": None, "tool_calls": [{"id": "call_1", "type": "function", "function": function}]}, "tool_calls"


async def _streamed(
    request: web.Request, message: Mapping[str, Any], finish: str, usage: Mapping[str, int] | None
) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for delta in _deltas(message):
        await _piece(response, [{"index": 0, "delta": delta, "finish_reason": None}])
    await _piece(response, [{"index": 0, "delta": {}, "finish_reason": finish}])
    if usage is not None:
        await _piece(response, [], usage=usage)
    await response.write(b"data: [DONE]\n\n")
    return response


def _deltas(message: Mapping[str, Any]) -> Sequence[dict[str, Any]]:
    """Return the message in small pieces, as endpoints send it; of a long one in not much more than a hundred."""
    text = message.get("content") or ""
    size = max(7, len(text) // 100)
    pieces: list[dict[str, Any]] = [{"content": text[at : at + size]} for at in range(0, len(text), size)]
    for each in message.get("tool_calls", ()):
        name, written = each["function"]["name"], each["function"]["arguments"]
        head = {"index": 0, "id": each["id"], "type": "function", "function": {"name": name, "arguments": ""}}
        pieces.append({"tool_calls": [head]})
        pieces += [
            {"tool_calls": [{"index": 0, "function": {"arguments": written[at : at + 9]}}]}
            for at in range(0, len(written), 9)
        ]
    return pieces


async def _piece(response: web.StreamResponse, choices: Sequence[Any], **more: Any) -> None:
    body = json.dumps(_envelope("chat.completion.chunk", choices=list(choices), **more))
    await response.write(f"data: {body}\n\n".encode())


def _envelope(kind: str, **more: Any) -> dict[str, Any]:
    return {"id": "cmpl-1", "object": kind, "created": 1, "model": "scripted", **more}


def _error(fails: Fails) -> web.Response:
    body = {"error": {"message": fails.says, "type": "invalid_request_error"}}
    return web.json_response(body, status=fails.status, headers=dict(fails.headers))
