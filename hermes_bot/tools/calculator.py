"""A calculator without eval: what a whole tool looks like, and how small it is."""

from __future__ import annotations

import ast
import unicodedata
from collections.abc import Callable
from decimal import Decimal, DecimalException, Inexact, localcontext
from typing import Annotated, Any

from pydantic import Field, StringConstraints

from hermes_bot.tools.registry import Level, ToolRefusal, tool

LONGEST = 200  # characters of an expression
DIGITS = 50  # of a number on the way
HIGHEST_POWER = 100

_OPERATIONS: dict[type[ast.operator], Callable[[Decimal, Decimal], Decimal]] = {
    ast.Add: lambda left, right: left + right,
    ast.Sub: lambda left, right: left - right,
    ast.Mult: lambda left, right: left * right,
    ast.Div: lambda left, right: left / right,
    ast.Mod: lambda left, right: left % right,
    ast.Pow: lambda left, right: left ** _power(right),
}
_SIGNS = str.maketrans({"×": "*", "·": "*", "÷": "/", "−": "-", "^": "**"})
_ALLOWED = frozenset("0123456789.+-*/%() ")

Expression = Annotated[
    str, StringConstraints(min_length=1, max_length=LONGEST), Field(description="A sum such as '3 * (12.50 + 4.99)'.")
]


@tool(level=Level.L0)
async def calculate(expression: Expression) -> dict[str, Any]:
    """Work out a sum of plain numbers with + - * / % ** and brackets, in decimals; knows no names, units or dates.

    `exact` is false where the value had to be rounded, as for 1 / 3.
    """
    plain = unicodedata.normalize("NFKC", expression).translate(_SIGNS).strip()
    if not set(plain) <= _ALLOWED:
        raise ToolRefusal("not_a_sum")
    try:
        with localcontext(prec=DIGITS) as context:
            context.clear_flags()
            value = _value(ast.parse(plain, mode="eval").body, plain).normalize()
            exact = not context.flags[Inexact]
    except (SyntaxError, ValueError, RecursionError, MemoryError, DecimalException) as error:
        raise ToolRefusal("not_a_sum") from error
    if value.adjusted() >= DIGITS:
        raise ToolRefusal("too_large")
    return {"value": format(value, "f"), "exact": exact}


def _value(node: ast.expr, text: str) -> Decimal:
    if isinstance(node, ast.Constant):
        return Decimal(ast.get_source_segment(text, node) or "")  # the digits as written, not a float of them
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        inner = _value(node.operand, text)
        return -inner if isinstance(node.op, ast.USub) else inner
    if isinstance(node, ast.BinOp) and (work := _OPERATIONS.get(type(node.op))):
        return work(_value(node.left, text), _value(node.right, text))
    raise ToolRefusal("not_a_sum")


def _power(exponent: Decimal) -> Decimal:
    if exponent != exponent.to_integral_value() or abs(exponent) > HIGHEST_POWER:
        raise ToolRefusal("too_large")
    return exponent
