"""Makes tools of what an MCP server says that it can do, and plain data of what it answers. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcp_types import CallToolResult
from mcp_types import Tool as ServerTool

from hermes_bot.settings.connectors import McpSpec
from hermes_bot.tools.arguments import SchemaArguments
from hermes_bot.tools.outcome import Preview
from hermes_bot.tools.registry import Level, Tool, ToolRefusal
from hermes_bot.tools.toolbox import PARTS

LONGEST_NAME = 64  # what models take as a function's name
LONGEST_DESCRIPTION = 2_000

_UNFIT = re.compile(r"[^a-zA-Z0-9_-]")
_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)

Call = Callable[[str, Mapping[str, Any]], Awaitable[CallToolResult]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What is wrong with a server's tools; `key` is the place in its part of the file, empty for the server itself.

    `fatal`: the file must be mended; else that one tool is left out.
    """

    text: str
    key: str = ""
    fatal: bool = True


def level_of(tool: ServerTool, spec: McpSpec) -> Level:
    """Return the level: the admin's word, then the server's annotations, and L3 where neither says that it is less."""
    if said := spec.levels.get(tool.name):
        return Level.of(said)
    hints = tool.annotations
    if not spec.trust_annotations or hints is None or hints.destructive_hint:
        return Level.L3
    return Level.L0 if hints.read_only_hint else Level.L3


def tools_of(
    source: str, spec: McpSpec, offered: Sequence[ServerTool], call: Call, place: str
) -> tuple[list[Tool], list[Fault]]:
    """Return the tools that the server offers and the file wants, and what is wrong with others."""
    known = {tool.name for tool in offered}
    faults = [Fault(text=f"the server has no tool {name!r}", key="tools") for name in spec.tools if name not in known]
    faults += [
        Fault(
            text=f"the server has no tool {name!r}; it has {', '.join(sorted(known)) or 'none'}", key=f"levels.{name}"
        )
        for name in spec.levels
        if name not in known
    ]
    made: dict[str, Tool] = {}
    for tool in offered:
        if spec.tools and tool.name not in spec.tools:
            continue
        name = f"{source}{PARTS}{_UNFIT.sub('_', tool.name)}"
        if len(name) > LONGEST_NAME:
            faults.append(Fault(text=f"the name {name!r} is longer than {LONGEST_NAME} characters", fatal=False))
        elif name in made:
            faults.append(Fault(text=f"two tools of the server would be called {name}; leave one out with `tools`"))
        else:
            try:
                made[name] = _tool(name, source, spec, tool, call, place)
            except ValueError as error:
                faults.append(Fault(text=f"its tool {tool.name!r} cannot be used: {error}", fatal=False))
    return list(made.values()), faults


def _tool(name: str, source: str, spec: McpSpec, tool: ServerTool, call: Call, place: str) -> Tool:
    arguments = SchemaArguments(tool.input_schema)
    level, hints = level_of(tool, spec), tool.annotations
    title = clean((hints.title if hints else None) or tool.title or tool.name)[:100]

    async def run(given: Mapping[str, Any]) -> dict[str, Any]:
        return answer_of(await call(tool.name, given), writes=level is not Level.L0)

    async def describe(given: Mapping[str, Any]) -> Preview:
        shown = tuple((key, str(value)) for key, value in given.items())
        return Preview(title=f"{source}: {title}", shown=(("Tool", name), *shown), arguments=dict(given))

    return Tool(
        name=name,
        level=level,
        description=clean(tool.description or title)[:LONGEST_DESCRIPTION],
        parameters=tool.input_schema,
        arguments=arguments,
        needs=frozenset(),
        function=run,
        describe=describe,
        timeout_s=spec.timeout_s,
        whole=True,
        repeatable=bool(spec.trust_annotations and hints and hints.idempotent_hint),
        source=place,
    )


def answer_of(result: CallToolResult, *, writes: bool) -> dict[str, Any]:
    """Return what the server answered, marked as the words of somebody else.

    An error goes to the planner as such; where the call may have changed something, it is a refusal.
    """
    text = "\n".join(filter(None, (_text_of(block) for block in result.content)))
    if result.is_error:
        if writes:
            raise ToolRefusal("tool_failed")
        return {"error": text, "untrusted": True}
    answer: dict[str, Any] = {"untrusted": True}
    if result.structured_content is not None:
        return answer | {"data": cleaned(result.structured_content)}
    return answer | {"text": text}


def clean(text: str) -> str:
    """Return the text without what is not seen: control characters, and marks that reorder or hide."""
    return _CONTROL.sub("", text)


def cleaned(value: Any) -> Any:
    """Return JSON data with every text in it clean."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {clean(str(key)): cleaned(each) for key, each in value.items()}
    return [cleaned(each) for each in value] if isinstance(value, list) else value


def _text_of(block: Any) -> str:
    if getattr(block, "type", "") == "text":
        return clean(block.text)
    resource = getattr(block, "resource", None)
    if resource is not None and isinstance(getattr(resource, "text", None), str):
        return clean(resource.text)
    kind = getattr(block, "mime_type", None) or getattr(block, "type", "something")
    return f"[{clean(str(kind))}: left out]"
