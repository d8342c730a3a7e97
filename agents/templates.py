"""Compiles the texts' templates: Jinja2 with what a sentence needs, and nothing that could run long or look around.

An admin's edit must not stop the bot: no call but `startswith` and `endswith`, no loop in a loop, no multiplication,
no other file. So a text costs what its length promises.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import StrictUndefined, Template, TemplateError, nodes
from jinja2.exceptions import SecurityError
from jinja2.meta import find_undeclared_variables
from jinja2.sandbox import SandboxedEnvironment

from hermes_bot.errors import SettingsError

PLAIN_FILTERS = frozenset(
    {"capitalize", "default", "first", "join", "last", "length", "lower", "title", "trim", "upper"}
)
MOST_REMEMBERED = 5_000
CALLABLE = frozenset({"startswith", "endswith"})
FORBIDDEN = (nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends, nodes.Macro, nodes.CallBlock)
# What a template that compiles can still raise when it meets its values.
RENDER_ERRORS = (TemplateError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError)


class Sandbox(SandboxedEnvironment):
    """Jinja2's sandbox, closed further. It compiles no source twice, however often the texts are loaded."""

    intercepted_binops = frozenset({"*", "**", "%"})

    def __init__(self, filters: Mapping[str, Callable[..., str]]) -> None:
        super().__init__(undefined=StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True)
        self.globals.clear()
        self.filters = {name: self.filters[name] for name in PLAIN_FILTERS} | dict(filters)
        self._compiled: dict[str, Template] = {}

    def is_safe_callable(self, obj: Any) -> bool:
        """Return whether a template may call it."""
        return getattr(obj, "__name__", "") in CALLABLE

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Refuse the operators that make something long of something short."""
        raise SecurityError(f"{operator!r} has no place in a text")

    def compiled(self, source: str, *, file: str, key: str) -> Template:
        """Return the template; raise SettingsError."""
        if (known := self._compiled.get(source)) is not None:
            return known
        try:
            tree = self.parse(source)
            unwanted = next((node for kind in FORBIDDEN for node in tree.find_all(kind)), None) or _loop_in_loop(tree)
            if unwanted is not None:
                place = f"not a template for a text: {type(unwanted).__name__.lower()} in its line {unwanted.lineno}"
                raise SettingsError(place, file=file, key=key)
            template = self.from_string(tree)
        except (TemplateError, RecursionError) as error:
            raise SettingsError(f"{key}: not a template: {error}", file=file, key=key) from error
        if len(self._compiled) < MOST_REMEMBERED:
            self._compiled[source] = template
        return template

    def takes(self, source: str) -> frozenset[str]:
        """Return the names of the values that a template wants which compiles."""
        return frozenset(find_undeclared_variables(self.parse(source)))


def _loop_in_loop(tree: nodes.Template) -> nodes.For | None:
    return next((loop for loop in tree.find_all(nodes.For) if loop.find(nodes.For) is not None), None)
