"""What a tool is: an ordinary typed async function with a name, a level and a description for planners.

What stands before the `*` in its signature are arguments, chosen by a planner and checked. What stands after it comes
from Hermes alone: `caller`, `approval_id`, and services by their name. So no argument can name another customer.
"""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, create_model

from hermes_bot.errors import PermanentError
from hermes_bot.tools.outcome import Preview

ToolFunction = Callable[..., Awaitable[dict[str, Any]]]
Describe = Callable[..., Awaitable[Preview]]

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool, ready to be called by a `Toolbox`. `needs` are the names of its parameters after the `*`.

    `arguments` is the pydantic model of its arguments, `parameters` the JSON Schema that planners are shown.
    """

    name: str
    level: Level
    description: str
    parameters: Mapping[str, Any]
    arguments: type[BaseModel]
    needs: frozenset[str]
    function: ToolFunction
    describe: Describe | None = None

    @property
    def privileged(self) -> bool:
        """Whether it runs only after an approval."""
        return self.level >= Level.L2

    @property
    def takes_key(self) -> bool:
        """Whether a repeat with the same approval is recognised by the tool itself."""
        return "approval_id" in self.needs


class ToolRefusal(PermanentError):
    """A tool will not do it, for a reason that has a code, such as window_closed."""

    def __init__(self, code: str) -> None:
        super().__init__(f"refused: {code}")
        self.code = code


def tool(
    *,
    level: Level | str,
    name: str = "",
    description: str = "",
    parameters: Mapping[str, Any] | None = None,
    describe: Describe | None = None,
) -> Callable[[ToolFunction], Tool]:
    """Return a decorator that makes a `Tool` of a typed async function.

    What is not given is derived: name and description from the function and its docstring, parameters from its
    signature. `describe` returns the `Preview` that an approval card is made of; it takes what the function takes
    (but the approval's id) and may raise `ToolRefusal`. Raise TypeError for a function that cannot be a tool.
    """

    def decorate(function: ToolFunction) -> Tool:
        chosen = name or getattr(function, "__name__", "")
        if not inspect.iscoroutinefunction(function) or not _NAME.fullmatch(chosen):
            raise TypeError(f"{chosen or function!r}: a tool is an async function with a name in lower_case")
        model, needs = _arguments_of(function, chosen)
        made = Tool(
            name=chosen,
            level=Level.of(level),
            description=description or _first_paragraph(inspect.getdoc(function) or ""),
            parameters=dict(parameters or model.model_json_schema()),
            arguments=model,
            needs=needs,
            function=function,
            describe=describe,
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
    wanted = {*made.arguments.model_fields, *made.needs} - {"approval_id"}
    if taken != wanted:
        raise TypeError(f"{made.name}: `describe` takes {sorted(taken)}, but should take {sorted(wanted)}")


def _arguments_of(function: ToolFunction, name: str) -> tuple[type[BaseModel], frozenset[str]]:
    """Return the model of the arguments before the `*`, and the names after it."""
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
    return create_model(f"{name}_arguments", __config__=config, **fields), frozenset(needs)


def _first_paragraph(docstring: str) -> str:
    return " ".join(docstring.split("\n\n", 1)[0].split())
