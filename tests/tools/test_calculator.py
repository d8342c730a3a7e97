from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.tools.calculator import calculate
from hermes_bot.tools.outcome import Caller, Done, Invalid, Refused
from hermes_bot.tools.toolbox import Toolbox

CALLER = Caller(customer=None, agent="helper", ticket_id="T-1", user="U1", language="en")
TOOLBOX = Toolbox([calculate], allowed={"helper": ["calculate"]}, services={})


async def worked_out(expression: str) -> object:
    return await TOOLBOX.call("calculate", {"expression": expression}, CALLER)


@pytest.mark.parametrize(
    "expression, value, exact",
    [
        ("0.1 + 0.2", "0.3", True),
        ("３×（１２.５０+4.99)", "52.47", True),
        ("2^10 - 24", "1000", True),
        ("2**100", "1267650600228229401496703205376", True),
        ("-(-3) % 2", "1", True),
        ("1/8", "0.125", True),
        ("2/3", "0." + "6" * 49 + "7", False),
    ],
)
async def test_a_sum_is_worked_out_in_decimals(expression: str, value: str, exact: bool) -> None:
    assert await worked_out(expression) == Done(result={"value": value, "exact": exact})


@pytest.mark.parametrize(
    "expression, code",
    [
        ("2**1000", "too_large"),
        ("9**9**9", "too_large"),
        ("10**60", "too_large"),
        ("2**0.5", "too_large"),
        ("1/0", "not_a_sum"),
        ("1//2", "not_a_sum"),
        ("(1)(2)", "not_a_sum"),
        ("len('a')", "not_a_sum"),
        ("5%", "not_a_sum"),
        ("(" * 100, "not_a_sum"),
    ],
)
async def test_what_is_no_sum_or_too_large_is_refused(expression: str, code: str) -> None:
    assert await worked_out(expression) == Refused(code=code)


async def test_a_long_expression_is_not_looked_at() -> None:
    assert isinstance(await worked_out("1+" * 200 + "1"), Invalid)


@given(left=st.decimals(-(10**9), 10**9, places=2), right=st.decimals(-(10**9), 10**9, places=2))
async def test_sums_are_exact(left: Decimal, right: Decimal) -> None:
    outcome = await worked_out(f"{left:f} + ({right:f})")

    assert isinstance(outcome, Done)
    assert Decimal(outcome.result["value"]) == left + right
    assert outcome.result["exact"] is True


@given(text=st.text(max_size=60))
async def test_any_text_is_a_sum_or_refused(text: str) -> None:
    assert isinstance(await worked_out(text), Done | Refused | Invalid)
