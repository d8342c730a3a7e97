"""What a tool is: an ordinary typed async function with a name, a level and a description for planners.

What stands before the `*` in its signature are arguments, chosen by a planner and checked. What stands after it comes
from Hermes alone: `caller`, `approval_id`, `key`, and services by their name. So no argument can name another
customer.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import re
import typing
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

from pydantic import ConfigDict, create_model

from hermes_bot.errors import PermanentError, TransientError
from hermes_bot.tools.arguments import Arguments, TypedArguments
from hermes_bot.tools.outcome import Preview

ToolFunction = Callable[..., Awaitable[dict[str, Any]]]
Describe = Callable[..., Awaitable[Preview]]

KEYS = frozenset({"approval_id", "key"})  # names of parameters that get the key of the call

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


class Level(IntEnum):
    """How much care a tool asks for."""

    L0 = 0  # reads
    L1 = 1  # writes what can be undone
    L2 = 2  # money, or not to be undone: one approval
    L3 = 3  # many things at once, destructive, or above an amount: two different approvers

    @classmethod
    def of(cls, word: object) -> Level:
        """Return the level that `word` names; L3 for whatever is not one."""
        return cls.__members__.get(str(getattr(word, "name", word)).strip().upper(), cls.L3)


LevelRule = Callable[[Mapping[str, Any]], Level | str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool, ready to be called by a `Toolbox`. `needs` are the names of its parameters after the `*`.

    `level` is the highest that a call can have; `rule` gives that of one call, from its validated arguments.
    `parameters` is the JSON Schema that planners are shown. `whole`: the function takes its arguments as one mapping.
    `timeout_s` is its own time limit. `repeatable`: calling it twice does no more than calling it once. `source` says
    where it comes from.
    """

    name: str
    level: Level
    description: str
    parameters: Mapping[str, Any]
    arguments: Arguments
    needs: frozenset[str]
    function: ToolFunction
    describe: Describe | None = None
    rule: LevelRule | None = None
    timeout_s: float | None = None
    whole: bool = False
    repeatable: bool = False
    source: str = ""

    @property
    def privileged(self) -> bool:
        """Whether it may ask for an approval."""
        return self.level >= Level.L2

    @property
    def takes_key(self) -> bool:
        """Whether a repeat of the same call is recognised by the tool itself, or does no harm."""
        return self.repeatable or bool(KEYS & self.needs)

    @property
    def fingerprint(self) -> str:
        """What changes when the tool does: its level, or what it takes. For runs that wait while a bot is upgraded."""
        ruled = getattr(self.rule, "__qualname__", "") if self.rule else ""
        told = json.dumps([self.name, self.level.name, ruled, self.parameters], sort_keys=True, default=str)
        return hashlib.sha256(told.encode()).hexdigest()[:16]

    def level_of(self, arguments: Mapping[str, Any]) -> Level:
        """Return the level of a call with these validated arguments; L3 where its rule cannot say."""
        if self.rule is None:
            return self.level
        try:
            return Level.of(self.rule(arguments))
        except Exception:  # noqa: BLE001 - a rule that fails must not let a call through
            return Level.L3

    def at(self, level: Level | str) -> Tool:
        """Return the tool at the level that an admin has given it, whatever its own rule says."""
        return replace(self, level=Level.of(level), rule=None)


class ToolRefusal(PermanentError):
    """A tool will not do it, for a reason that has a code, such as window_closed."""

    def __init__(self, code: str) -> None:
        super().__init__(f"refused: {code}")
        self.code = code


class ToolUnavailable(TransientError):
    """What the tool needs is away, and nothing was sent to it: the call had no effect and may be made again."""


def tool(
    *,
    level: Level | str | LevelRule,
    name: str = "",
    description: str = "",
    parameters: Mapping[str, Any] | None = None,
    describe: Describe | None = None,
    timeout_s: float | None = None,
    repeatable: bool = False,
) -> Callable[[ToolFunction], Tool]:
    """Return a decorator that makes a `Tool` of a typed async function; what is not given is derived from it.

    `level` may be a function that gives it for validated arguments; whatever is not a level is L3. `describe` returns
    the card's `Preview` from what the function takes, but its key. Raise TypeError for what cannot be a tool.
    """
    rule = level if callable(level) else None

    def decorate(function: ToolFunction) -> Tool:
        chosen = name or getattr(function, "__name__", "")
        if not inspect.iscoroutinefunction(function) or not _NAME.fullmatch(chosen):
            raise TypeError(f"{chosen or function!r}: a tool is an async function with a name in lower_case")
        arguments, needs = _arguments_of(function, chosen)
        made = Tool(
            name=chosen,
            level=Level.L3 if rule else Level.of(level),
            description=description or _first_paragraph(inspect.getdoc(function) or ""),
            parameters=dict(parameters or arguments.schema),
            arguments=arguments,
            needs=needs,
            function=function,
            describe=describe,
            rule=rule,
            timeout_s=timeout_s,
            repeatable=repeatable,
            source=function.__module__,
        )
        _refuse_unusable(made)
        return made

    return decorate


def _refuse_unusable(made: Tool) -> None:
    if not made.description:
        raise TypeError(f"{made.name}: a tool needs a docstring or a description")
    if not made.privileged:
        return
    if made.describe is None:
        raise TypeError(f"{made.name}: a tool of level {made.level.name} needs `describe`, or nobody can approve it")
    taken = set(inspect.signature(made.describe).parameters)
    wanted = {*made.arguments.names, *(made.needs - KEYS)}
    if taken != wanted:
        raise TypeError(f"{made.name}: `describe` takes {sorted(taken)}, but should take {sorted(wanted)}")


def _arguments_of(function: ToolFunction, name: str) -> tuple[TypedArguments, frozenset[str]]:
    """Return the arguments before the `*`, and the names after it."""
    hints = typing.get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    needs = set()
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            needs.add(parameter.name)
        elif parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD and parameter.name in hints:
            default = ... if parameter.default is inspect.Parameter.empty else parameter.default
            fields[parameter.name] = (hints[parameter.name], default)
        else:
            raise TypeError(f"{name}: parameter {parameter.name!r} needs a type, and cannot be *args or **kwargs")
    config = ConfigDict(extra="forbid", frozen=True)
    model = create_model(f"{name}_arguments", __config__=config, **fields)
    return TypedArguments(model), frozenset(needs)


def _first_paragraph(docstring: str) -> str:
    return " ".join(docstring.split("\n\n", 1)[0].split())
