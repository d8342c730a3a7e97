"""The port to a language model: a conversation and what it may do in, one answer out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, Protocol

from hermes_bot.errors import HermesError

Role = Literal["system", "user", "assistant"]
OnDelta = Callable[[str], None]
"""Hears each piece of the answer's text as it is written."""


class ModelUnavailable(HermesError):
    """The model gives no answer now; `reason` is down, slow, refused or open (no request is made for a while)."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class ChatProtocol(StrEnum):
    """How the model says what it wants to do."""

    TOOLS = "tools"  # it calls one of the functions
    SCHEMA = "schema"  # JSON that fits a JSON Schema, which the endpoint enforces
    PLAIN = "plain"  # JSON as ordinary text


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatFunction:
    """A function that the model may call; `parameters` is a JSON Schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """A turn of the conversation."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatAsk:
    """What the model is asked. `functions` and `schema` say the same in two ways; the endpoint takes one of them.

    An empty `model` and no `max_tokens` mean the client's own.
    """

    messages: tuple[ChatMessage, ...]
    functions: tuple[ChatFunction, ...] = ()
    schema: Mapping[str, Any] | None = None
    model: str = ""
    temperature: float = 0.0
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionCall:
    """A function that the model calls; `arguments` is what it wrote, JSON if all is well."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatAnswer:
    """What came back. `tries` counts requests; `counted` is false where the endpoint told no tokens: an estimate."""

    text: str
    calls: tuple[FunctionCall, ...] = ()
    model: str = ""
    protocol: ChatProtocol = ChatProtocol.PLAIN
    tokens_in: int = 0
    tokens_out: int = 0
    counted: bool = True
    seconds: float = 0.0
    tries: int = 1
    complete: bool = True


class Chat(Protocol):
    """Asks a model."""

    @property
    def model(self) -> str:
        """The name of the model that is asked where an ask names none."""
        ...

    async def ask(self, ask: ChatAsk, *, on_delta: OnDelta | None = None) -> ChatAnswer:
        """Return the answer; raise ModelUnavailable, after the client's own retries and within its own limit."""
        ...


def estimated_tokens(text: str) -> int:
    """Return about how many tokens a text has, rather too many: a character beyond ASCII is one, four others are."""
    plain = sum(character < "\x80" for character in text)
    return (len(text) - plain) + (plain + 3) // 4
