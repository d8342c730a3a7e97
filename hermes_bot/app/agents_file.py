"""Reads the agents' file with the tools that it brings, and checks both against what there is."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agents.spec import AgentsFile
from agents.spec_file import check_specs, read_specs
from hermes_bot.errors import SettingsError
from hermes_bot.settings import Settings
from hermes_bot.tools.discovery import discover
from hermes_bot.tools.registry import Level, Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSetup:
    """What the agents' file says, and all tools, with the levels that an admin gave them."""

    specs: AgentsFile
    tools: tuple[Tool, ...]

    def levelled(self, tool: Tool) -> Tool:
        """Return a tool that came later, with the level that an admin gave it."""
        return _levelled(tool, self.specs)


def read_setup(settings: Settings, more: Sequence[Tool] = (), later: tuple[str, ...] = ()) -> AgentSetup:
    """Return the agents' file and the tools: Hermes' own, `more` and those of its `tool_files`.

    `later` are beginnings of names of tools that are not there yet. Raise SettingsError for whatever is wrong in it.
    """
    file = settings.agents.file
    specs, written = read_specs(file)
    found = [*discover("hermes_bot.tools"), *more]
    for name in specs.tool_files:
        found += tools_in(file.parent / name)
    named = {*specs.tools, *(name for spec in specs.agents.values() for name in spec.tools)}
    known = {tool.name for tool in found} | {name for name in named if name.startswith(later)}
    check_specs(specs, written, tools=known, model=settings.model.name)
    return AgentSetup(specs=specs, tools=tuple(_levelled(tool, specs) for tool in found))


def tools_in(file: Path) -> tuple[Tool, ...]:
    """Return the tools that stand in a Python file; raise SettingsError where it is none or holds none."""
    name = f"hermes_tool_file_{hashlib.sha256(str(file.resolve()).encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None or not file.is_file():
        raise SettingsError("tool_files: this is no Python file", file=str(file), key="tool_files")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # an admin's own code, at the edge: whatever it raises ends the start with its place
        raise SettingsError(f"tool_files: {type(error).__name__}: {error}", file=str(file), key="tool_files") from error
    found = {id(value): value for value in vars(module).values() if isinstance(value, Tool)}
    if not found:
        raise SettingsError("tool_files: there is no tool in it", file=str(file), key="tool_files")
    return tuple(found.values())


def _levelled(tool: Tool, specs: AgentsFile) -> Tool:
    """Return the tool with the level that the file gives it; one without `describe` cannot be made privileged."""
    said = specs.tools.get(tool.name)
    if said is None:
        return tool
    level = Level.of(said.level)
    if level >= Level.L2 and tool.describe is None:
        text = f"tools.{tool.name}.level: nobody could approve it, for it cannot say what it does"
        raise SettingsError(text, key=f"tools.{tool.name}")
    return tool.at(level)
