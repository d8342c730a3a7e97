"""The one way to a tool: who may call it, with which arguments, and whether a person must allow it first."""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Protocol, TypeVar

from hermes_bot.errors import PermanentError, SettingsError, TransientError
from hermes_bot.tools.call_log import CallLog
from hermes_bot.tools.compression import compressed, size_of
from hermes_bot.tools.once import MAY_HAVE_RUN, once
from hermes_bot.tools.outcome import Caller, Done, Invalid, NeedsApproval, Outcome, Preview, Refused
from hermes_bot.tools.registry import KEYS, Level, Tool, ToolRefusal, ToolUnavailable

Answer = TypeVar("Answer")

REPLAY = "replay"
RESULT_LIMIT = 20_000  # characters of JSON that a result may have; what goes to a model is cut further
PARTS = "__"  # between the name of a source and that of its tool; models take no dot in a function's name

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
    """A call as it is recorded: never with arguments or results, only with their sizes in bytes of JSON.

    `outcome` is done, needs_approval, refused, invalid or failed; `error` a refusal's code or an error's type.
    """

    tool: str
    level: str
    agent: str
    seconds: float
    outcome: str
    error: str = ""
    bytes_in: int = 0
    bytes_out: int = 0


class Source(Protocol):
    """Brings tools from elsewhere, whose names all begin with its own name and two underscores."""

    @property
    def name(self) -> str:
        """The name."""
        ...

    @property
    def away(self) -> str:
        """Why its tools are not there just now, empty while they are."""
        ...


OnCall = Callable[[ToolCall], None]


class Toolbox:
    """Tools, and which agent may use which. An agent that is not listed may use none.

    `services` are what tools ask for by name after the `*` in their signature. Each run has `timeout_s` seconds, where
    the tool has no limit of its own. What goes back has at most `result_limit` characters of JSON. `on_call` is told of
    every call, also of those that were refused or failed. `calls` remembers what writes, so that none of it happens
    twice. Without `effects` only what reads runs; what would write is refused with the code `replay`.
    """

    def __init__(
        self,
        tools: Sequence[Tool],
        *,
        allowed: Mapping[str, Collection[str]],
        services: Mapping[str, object],
        timeout_s: float = 10.0,
        result_limit: int = RESULT_LIMIT,
        on_call: OnCall | None = None,
        calls: CallLog | None = None,
        sources: Sequence[Source] = (),
        effects: bool = True,
    ) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._allowed = {agent: frozenset(names) for agent, names in allowed.items()}
        self._services = dict(services)
        self.timeout_s = timeout_s
        self._result_limit = result_limit
        self._on_call = on_call
        self._calls = calls
        self._sources = tuple(sources)
        self._brought: dict[str, frozenset[str]] = {}
        self._effects = effects
        _refuse_doubles(tools)
        self._refuse_what_cannot_work()

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
        """Return the tools that the agent may call and that are there, by name."""
        names = sorted(self._allowed.get(agent, frozenset()))
        return tuple(self._tools[name] for name in names if name in self._tools)

    def get(self, name: str) -> Tool | None:
        """Return the tool of that name."""
        return self._tools.get(name)

    def comes_later(self, name: str) -> bool:
        """Return whether a tool of that name may come from a source that is not there yet."""
        return name not in self._tools and self._source_of(name) is not None

    def put(self, source: str, tools: Sequence[Tool]) -> None:
        """Have these tools of the source, and no others of it: it came back, or changed what it offers."""
        before = self._brought.get(source, frozenset())
        together = [*(tool for name, tool in self._tools.items() if name not in before), *tools]
        _refuse_doubles(together)
        self._tools = {tool.name: tool for tool in together}
        self._brought[source] = frozenset(tool.name for tool in tools)

    def opened_to(self, agent: str) -> Toolbox:
        """Return a toolbox with the same tools, all of which this agent may call."""
        opened = copy(self)
        opened._allowed = self._allowed | {agent: frozenset(self._tools)}
        return opened

    async def call(self, name: str, arguments: Mapping[str, Any] | str, caller: Caller, *, key: str = "") -> Outcome:
        """Run a call of level L0 or L1, or return what a person must allow first; L2 and L3 never run through here.

        `key` is the same for every attempt at this call and for no other call: the task, the agent and the step. A
        call that writes needs it; it happens at most once, and one whose outcome nobody knows is
        Refused("may_have_run"), which is for a person. Raise TransientError when the tool takes too long or what it
        needs is away.
        """
        return await self._recorded(name, arguments, caller, self._call(name, arguments, caller, key))

    async def _call(self, name: str, arguments: Mapping[str, Any] | str, caller: Caller, key: str) -> Outcome:
        tool = self._tool(name, caller.agent)
        if tool is None:
            return Refused(code="not_allowed")
        if tool.level is Level.L1 and not self._effects:
            return Refused(code=REPLAY)
        values = tool.arguments.read(arguments)
        if isinstance(values, Invalid):
            return values
        level = tool.level_of(values)
        try:
            if level >= Level.L2:
                return await self._preview(tool, values, caller, level)
            if level is Level.L1:
                return await self._write(tool, values, caller, key)
            return Done(result=await self._run(tool, values, caller, key))
        except ToolRefusal as refusal:
            return Refused(code=refusal.code)

    async def preview(
        self, name: str, arguments: Mapping[str, Any] | str, caller: Caller
    ) -> NeedsApproval | Refused | Invalid:
        """Return what a person would be asked to allow, and run nothing, also where the call has a lower level by now.

        For a request that somebody edits: it needs an approval still, of level L2 at least.
        """
        tool = self._tool(name, caller.agent)
        if tool is None or tool.describe is None:
            return Refused(code="not_allowed")
        values = tool.arguments.read(arguments)
        if isinstance(values, Invalid):
            return values
        try:
            return await self._preview(tool, values, caller, max(tool.level_of(values), Level.L2))
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
        the card showed. Nothing of that is checked here. The same approval gives the same result, without a second
        effect. A tool that does not recognise a repeat and may have run already gives Refused("may_have_run"), and a
        person looks: known from the record of calls, and without one from `repeated` (this delivery may have got
        here before: redelivered, or not its first attempt).
        """
        if not approval_id:
            raise PermanentError(f"tool {name}: an approved run needs the id of its approval")
        running = self._run_approved(name, arguments, caller, approval_id=approval_id, repeated=repeated)
        return await self._recorded(name, arguments, caller, running)

    async def _run_approved(
        self, name: str, arguments: Mapping[str, Any], caller: Caller, *, approval_id: str, repeated: bool
    ) -> Done | Refused:
        tool = self._tool(name, caller.agent)
        if tool is None or not tool.privileged:
            return Refused(code="not_allowed")
        if not self._effects:
            return Refused(code=REPLAY)
        if self._calls is None and repeated and not tool.takes_key:
            return Refused(code=MAY_HAVE_RUN)
        values = tool.arguments.read(arguments)
        if isinstance(values, Invalid):
            return Refused(code="invalid_arguments")
        try:
            return await self._write(tool, values, caller, approval_id)
        except ToolRefusal as refusal:
            return Refused(code=refusal.code)

    async def _write(self, tool: Tool, values: Mapping[str, Any], caller: Caller, key: str) -> Done | Refused:
        if not self._effects:
            return Refused(code=REPLAY)
        if not key and (self._calls is not None or KEYS & tool.needs):
            raise PermanentError(f"tool {tool.name}: a write needs the key of its call")
        if self._calls is None:
            return Done(result=await self._run(tool, values, caller, key))
        plain = tool.arguments.plain(values)
        return await once(self._calls, key, tool, plain, caller, lambda: self._run(tool, values, caller, key))

    async def _run(self, tool: Tool, values: Mapping[str, Any], caller: Caller, key: str) -> dict[str, Any]:
        result = await self._limited(tool, self._called(tool, tool.function, values, caller, key))
        return compressed(result, self._result_limit)

    async def _preview(self, tool: Tool, values: Mapping[str, Any], caller: Caller, level: Level) -> NeedsApproval:
        """Return what the card says, with arguments that are complete and valid."""
        if tool.describe is None:  # the decorator refuses such a tool
            raise PermanentError(f"tool {tool.name} cannot say what it does")
        preview: Preview = await self._limited(tool, self._called(tool, tool.describe, values, caller, ""))
        whole = tool.arguments.read(preview.arguments) if preview.arguments else values
        if isinstance(whole, Invalid):
            raise PermanentError(f"tool {tool.name} shows arguments that do not fit it: {'; '.join(whole.problems)}")
        return NeedsApproval(
            tool=tool.name,
            level=max(level, tool.level_of(whole)).name,
            arguments=tool.arguments.plain(whole),
            title=preview.title,
            shown=preview.shown,
            internal=preview.internal,
            fingerprint=tool.fingerprint,
        )

    async def _recorded(
        self, name: str, arguments: Mapping[str, Any] | str, caller: Caller, running: Awaitable[Answer]
    ) -> Answer:
        """Return what comes of the call, and tell `on_call`."""
        started, outcome, error, size = perf_counter(), "failed", "cancelled", 0
        try:
            answer = await running
            outcome, error = _OUTCOMES[type(answer)], answer.code if isinstance(answer, Refused) else ""
            size = size_of(answer.result) if isinstance(answer, Done) else 0
        except Exception as failure:
            error = type(failure).__name__
            raise
        else:
            return answer
        finally:
            if self._on_call is not None:
                tool = self._tools.get(name)
                told = ToolCall(
                    tool=name,
                    level=tool.level.name if tool else "",
                    agent=caller.agent,
                    seconds=perf_counter() - started,
                    outcome=outcome,
                    error=error,
                    bytes_in=len(arguments) if isinstance(arguments, str) else size_of(arguments),
                    bytes_out=size,
                )
                self._on_call(told)

    def _tool(self, name: str, agent: str) -> Tool | None:
        """Return the tool where the agent may call it; raise ToolUnavailable where its source is away."""
        if name not in self._allowed.get(agent, frozenset()):
            return None
        source = self._source_of(name)
        if source is not None and source.away:
            raise ToolUnavailable(f"tool {name}: {source.away}")
        return self._tools.get(name)

    def _source_of(self, name: str) -> Source | None:
        return next((each for each in self._sources if name.startswith(f"{each.name}{PARTS}")), None)

    def _called(
        self,
        tool: Tool,
        function: Callable[..., Awaitable[Answer]],
        values: Mapping[str, Any],
        caller: Caller,
        key: str,
    ) -> Awaitable[Answer]:
        """Return the call with the planner's arguments and what comes from Hermes; no key for what describes."""
        hermes = {**self._services, "caller": caller} | (dict.fromkeys(KEYS, key) if function is tool.function else {})
        needs = {name: hermes[name] for name in tool.needs if name in hermes}
        return function(dict(values), **needs) if tool.whole else function(**values, **needs)

    async def _limited(self, tool: Tool, running: Awaitable[Answer]) -> Answer:
        limit_s = self.timeout_s if tool.timeout_s is None else tool.timeout_s
        try:
            async with asyncio.timeout(limit_s):
                return await running
        except TimeoutError as error:
            raise TransientError(f"tool {tool.name} took longer than {limit_s:g} s") from error

    def _refuse_what_cannot_work(self) -> None:
        for tool in self._tools.values():
            if missing := tool.needs - _FROM_HERMES - set(self._services):
                raise SettingsError(f"tool {tool.name} needs {', '.join(sorted(missing))}, which nobody gives it")
        for agent, names in self._allowed.items():
            for name in sorted(names - set(self._tools)):
                if self.comes_later(name):
                    continue
                near = difflib.get_close_matches(name, list(self._tools), n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(sorted(self._tools))}"
                raise SettingsError(f"agent {agent} may use the tool {name!r}, which does not exist; {hint}", key=agent)


def _refuse_doubles(tools: Sequence[Tool]) -> None:
    seen: dict[str, Tool] = {}
    for tool in tools:
        if tool.name in seen:
            places = " and ".join(each.source or "a tool" for each in (seen[tool.name], tool))
            raise SettingsError(f"two tools have the same name, {tool.name}: {places}", key="tools")
        seen[tool.name] = tool
