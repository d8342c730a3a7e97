"""The one way to a tool: who may call it, with which arguments, and whether a person must allow it first."""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, TypeVar

from pydantic import BaseModel

from hermes_bot.errors import PermanentError, SettingsError, TransientError
from hermes_bot.tools.arguments import read_arguments
from hermes_bot.tools.outcome import Caller, Done, Invalid, NeedsApproval, Outcome, Preview, Refused
from hermes_bot.tools.registry import Level, Tool, ToolRefusal

Answer = TypeVar("Answer")

REPLAY = "replay"

_OUTCOMES: Mapping[type, str] = {Done: "done", NeedsApproval: "needs_approval", Refused: "refused", Invalid: "invalid"}
_FROM_HERMES = frozenset({"caller", "approval_id", "key"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A tool as `hermes-bot tools list` shows it. `level` is "L0" to "L3", `agents` those that may call it."""

    name: str
    level: str
    agents: tuple[str, ...]
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call as it is recorded: never with arguments or results.

    `outcome` is done, needs_approval, refused, invalid or failed; `error` a refusal's code or an error's type.
    """

    tool: str
    level: str
    agent: str
    seconds: float
    outcome: str
    error: str = ""


OnCall = Callable[[ToolCall], None]


class Toolbox:
    """Tools, and which agent may use which. An agent that is not listed may use none.

    `services` are what tools ask for by name after the `*` in their signature. Each run has `timeout_s` seconds.
    `on_call` is told of every call, also of those that were refused or failed. Without `effects` only what reads
    runs; what would write is refused with the code `replay`.
    """

    def __init__(
        self,
        tools: Sequence[Tool],
        *,
        allowed: Mapping[str, Sequence[str]],
        services: Mapping[str, object],
        timeout_s: float = 10.0,
        on_call: OnCall | None = None,
        effects: bool = True,
    ) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._allowed = {agent: frozenset(names) for agent, names in allowed.items()}
        self._services = dict(services)
        self._timeout_s = timeout_s
        self._on_call = on_call
        self._effects = effects
        self._refuse_what_cannot_work(tools)

    def listing(self) -> tuple[Listed, ...]:
        """Return all tools by name, each with its level, description and the agents that may call it."""
        return tuple(
            Listed(
                name=tool.name,
                level=tool.level.name,
                agents=tuple(sorted(agent for agent, names in self._allowed.items() if tool.name in names)),
                description=tool.description,
            )
            for tool in sorted(self._tools.values(), key=lambda tool: tool.name)
        )

    def tools_for(self, agent: str) -> tuple[Tool, ...]:
        """Return the tools that the agent may call, by name."""
        names = sorted(self._allowed.get(agent, frozenset()))
        return tuple(self._tools[name] for name in names)

    async def call(self, name: str, arguments: Mapping[str, Any] | str, caller: Caller, *, key: str = "") -> Outcome:
        """Run a tool of level L0 or L1, or return what a person must allow first; L2 and L3 never run through here.

        `key` names this very call: a tool of L1 that takes it writes once for each, however often it is called.
        Raise TransientError when the tool takes too long or what it needs is away.
        """
        return await self._recorded(name, caller, self._call(name, arguments, caller, key))

    async def _call(self, name: str, arguments: Mapping[str, Any] | str, caller: Caller, key: str) -> Outcome:
        tool = self._tool(name, caller.agent)
        if tool is None:
            return Refused(code="not_allowed")
        if tool.level is Level.L1 and not self._effects:
            return Refused(code=REPLAY)
        checked = read_arguments(tool.arguments, arguments)
        if isinstance(checked, Invalid):
            return checked
        try:
            if tool.privileged:
                return await self._preview(tool, checked, caller)
            if "key" in tool.needs and not key:
                raise PermanentError(f"tool {name}: a write needs the key of its call")
            filled = self._filled(tool, checked, caller, key=key)
            return Done(result=await self._limited(tool, tool.function(**filled)))
        except ToolRefusal as refusal:
            return Refused(code=refusal.code)

    async def run_approved(
        self,
        name: str,
        arguments: Mapping[str, Any],
        caller: Caller,
        *,
        approval_id: str,
        repeated: bool = False,
    ) -> Done | Refused:
        """Run a tool of level L2 or L3 that was approved, once per `approval_id`.

        Only the agent that waits for the approval may call this, on `approval.settled`, after it has read the
        approval from the store, found it approved, and found its hash to cover this tool, these arguments and what
        the card showed. Nothing of that is checked here. The same key gives the same result, without a second
        effect, because the tool writes the key beside its effect. A tool that takes no key is never run again:
        `repeated` (this delivery may have got here before: redelivered, or not its first attempt) then gives
        Refused("may_have_run"), and a person looks.
        """
        if not approval_id:
            raise PermanentError(f"tool {name}: an approved run needs the id of its approval")
        running = self._run_approved(name, arguments, caller, approval_id=approval_id, repeated=repeated)
        return await self._recorded(name, caller, running)

    async def _run_approved(
        self, name: str, arguments: Mapping[str, Any], caller: Caller, *, approval_id: str, repeated: bool
    ) -> Done | Refused:
        tool = self._tool(name, caller.agent)
        if tool is None or not tool.privileged:
            return Refused(code="not_allowed")
        if not self._effects:
            return Refused(code=REPLAY)
        if repeated and not tool.takes_key:
            return Refused(code="may_have_run")
        checked = read_arguments(tool.arguments, arguments)
        if isinstance(checked, Invalid):
            return Refused(code="invalid_arguments")
        filled = self._filled(tool, checked, caller, approval_id=approval_id)
        try:
            return Done(result=await self._limited(tool, tool.function(**filled)))
        except ToolRefusal as refusal:
            return Refused(code=refusal.code)

    async def _preview(self, tool: Tool, checked: BaseModel, caller: Caller) -> NeedsApproval:
        """Return what the card says, with arguments that are complete and valid."""
        if tool.describe is None:  # the decorator refuses such a tool
            raise PermanentError(f"tool {tool.name} cannot say what it does")
        preview: Preview = await self._limited(tool, tool.describe(**self._filled(tool, checked, caller)))
        whole = tool.arguments.model_validate(preview.arguments or checked.model_dump())
        return NeedsApproval(
            tool=tool.name,
            level=tool.level.name,
            arguments=whole.model_dump(mode="json"),
            title=preview.title,
            shown=preview.shown,
        )

    async def _recorded(self, name: str, caller: Caller, running: Awaitable[Answer]) -> Answer:
        """Return what comes of the call, and tell `on_call`."""
        started, outcome, error = perf_counter(), "failed", "cancelled"
        try:
            answer = await running
            outcome, error = _OUTCOMES[type(answer)], answer.code if isinstance(answer, Refused) else ""
        except Exception as failure:
            error = type(failure).__name__
            raise
        else:
            return answer
        finally:
            if self._on_call is not None:
                tool = self._tools.get(name)
                level = tool.level.name if tool else ""
                seconds = perf_counter() - started
                self._on_call(
                    ToolCall(tool=name, level=level, agent=caller.agent, seconds=seconds, outcome=outcome, error=error)
                )

    def _tool(self, name: str, agent: str) -> Tool | None:
        return self._tools.get(name) if name in self._allowed.get(agent, frozenset()) else None

    def _filled(
        self, tool: Tool, checked: BaseModel, caller: Caller, *, approval_id: str = "", key: str = ""
    ) -> dict[str, Any]:
        """Return all parameters: the planner's arguments, and what comes from Hermes."""
        given = {"approval_id": approval_id, "key": key}
        hermes = {**self._services, "caller": caller} | {name: value for name, value in given.items() if value}
        chosen = {name: getattr(checked, name) for name in type(checked).model_fields}
        return chosen | {name: hermes[name] for name in tool.needs if name in hermes}

    async def _limited(self, tool: Tool, running: Awaitable[Answer]) -> Answer:
        try:
            async with asyncio.timeout(self._timeout_s):
                return await running
        except TimeoutError as error:
            raise TransientError(f"tool {tool.name} took longer than {self._timeout_s:g} s") from error

    def _refuse_what_cannot_work(self, tools: Sequence[Tool]) -> None:
        if len(self._tools) != len(tools):
            raise SettingsError("two tools have the same name", key="tools")
        for tool in tools:
            if missing := tool.needs - _FROM_HERMES - set(self._services):
                raise SettingsError(f"tool {tool.name} needs {', '.join(sorted(missing))}, which nobody gives it")
        for agent, names in self._allowed.items():
            for name in sorted(names - set(self._tools)):
                near = difflib.get_close_matches(name, list(self._tools), n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(sorted(self._tools))}"
                raise SettingsError(f"agent {agent} may use the tool {name!r}, which does not exist; {hint}", key=agent)
