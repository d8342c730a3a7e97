"""Finds the tools that a package brings, so that a new tool is one new file."""

from __future__ import annotations

import importlib
import pkgutil

from hermes_bot.tools.registry import Tool


def discover(package: str) -> tuple[Tool, ...]:
    """Return every `Tool` that stands in a module directly below `package`, by name; imports these modules."""
    path = importlib.import_module(package).__path__
    modules = [importlib.import_module(f"{package}.{module.name}") for module in pkgutil.iter_modules(path)]
    found = {id(value): value for module in modules for value in vars(module).values() if isinstance(value, Tool)}
    return tuple(sorted(found.values(), key=lambda tool: tool.name))
