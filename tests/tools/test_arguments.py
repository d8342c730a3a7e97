import json
from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from hermes_bot.tools.arguments import Cents, OrderNumber, TypedArguments
from hermes_bot.tools.outcome import Invalid


class Colour(StrEnum):
    RED = "red"
    DARK_BLUE = "dark-blue"


class Order(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    order_id: OrderNumber
    amount_cents: Annotated[int | None, Cents(currency_field="currency"), Field(gt=0)] = None
    currency: str = ""
    times: Annotated[int, Field(ge=0, le=99)] = 1
    form: Literal["json", "text"] = "json"
    colour: Colour | None = None
    express: bool = False


READ = TypedArguments(Order).checked


def read(**given: Any) -> dict[str, Any]:
    answer = READ({"order_id": "10023"} | given)
    assert isinstance(answer, Order), answer
    return answer.model_dump()


def problems(raw: dict[str, Any] | str) -> tuple[str, ...]:
    answer = READ(raw)
    assert isinstance(answer, Invalid), answer
    return answer.problems


@pytest.mark.parametrize("written", ["10023", 10023, "#10023", "＃１００２３", "order no. 10023", "订单号：10023"])
def test_an_order_number_is_read_as_people_write_it(written: object) -> None:
    assert read(order_id=written)["order_id"] == "10023"


@pytest.mark.parametrize(
    "written, cents, currency",
    [
        (1250, 1250, ""),
        ("1250", 1250, ""),
        ("12.50 EUR", 1250, "EUR"),
        ("€12,50", 1250, "EUR"),
        ("12.50", 1250, ""),
        ("１９９元", 19900, "CNY"),
        (None, None, ""),
    ],
)
def test_an_amount_becomes_cents_and_its_currency(written: object, cents: int | None, currency: str) -> None:
    found = read(amount_cents=written)

    assert (found["amount_cents"], found["currency"]) == (cents, currency)


@pytest.mark.parametrize(
    "given, expected",
    [
        ({"times": "3 times"}, {"times": 3}),
        ({"times": "３"}, {"times": 3}),
        ({"form": "JSON format"}, {"form": "json"}),
        ({"form": " Text "}, {"form": "text"}),
        ({"colour": "Dark-Blue please"}, {"colour": Colour.DARK_BLUE}),
        ({"express": "yes"}, {"express": True}),
        ({"express": "否"}, {"express": False}),
    ],
)
def test_harmless_forms_are_put_right(given: dict[str, Any], expected: dict[str, Any]) -> None:
    assert expected.items() <= read(**given).items()


@pytest.mark.parametrize(
    "raw",
    [
        '{"order_id": "10023"}',
        '```json\n{"order_id": "10023"}\n```',
        '``` {"order_id": "10023"} ```',
        ' \n```JSON\n{"order_id": "10023"}```\n',
    ],
)
def test_arguments_come_as_json_fenced_or_not(raw: str) -> None:
    assert READ(raw) == Order(order_id="10023")


@pytest.mark.parametrize(
    "given, problem",
    [
        ({"order_id": "10023 and 10024"}, "order_id: '10023 and 10024' holds 2 order numbers; give one"),
        ({"order_id": ""}, "order_id: "),
        ({"order_id": None}, "order_id: "),
        ({"amount_cents": 12.5}, "amount_cents: 12.5 is not an amount"),
        ({"amount_cents": True}, "amount_cents: True is not an amount"),
        ({"amount_cents": "1,234 EUR"}, "amount_cents: '1,234 EUR' is not an amount"),
        ({"amount_cents": 0}, "amount_cents: must be greater than 0, not 0"),
        ({"amount_cents": "5 USD", "currency": "EUR"}, "amount_cents: '5 USD' is in USD, but currency says EUR"),
        ({"times": "3 or 4"}, "times: '3 or 4' is not one whole number"),
        ({"times": "1.5"}, "times: '1.5' is not one whole number"),
        ({"times": True}, "times: True is not a number"),
        ({"times": 100}, "times: must be less than or equal to 99, not 100"),
        ({"form": "json or text"}, "form: 'json or text' is none of json, text"),
        ({"form": "xml"}, "form: 'xml' is none of json, text"),
        ({"order": "1"}, "order: there is no such argument; did you mean 'order_id'?"),
        ({"zzz": "1"}, "zzz: there is no such argument; there are order_id, "),
    ],
)
def test_each_problem_is_one_precise_sentence(given: dict[str, Any], problem: str) -> None:
    (found,) = problems({"order_id": "10023"} | given)

    assert found.startswith(problem)


def test_all_problems_are_told_at_once() -> None:
    found = problems({"times": "many", "form": "xml", "customer_id": "C0002"})

    assert [problem.split(":")[0] for problem in found] == ["times", "form", "order_id", "customer_id"]


@pytest.mark.parametrize(
    "raw", ["nonsense", "[1]", '"10023"', "{", "{'order_id': 1", '{"times": NaN}', "[" * 19_000, "{" * 30_000]
)
def test_text_that_is_no_json_object_is_one_problem(raw: str) -> None:
    (problem,) = problems(raw)

    assert problem.startswith("the arguments are")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(raw=st.dictionaries(st.sampled_from([*Order.model_fields, "other"]), json_values, max_size=7))
def test_whatever_is_sent_is_read_or_refused_and_reading_twice_changes_nothing(raw: dict[str, Any]) -> None:
    first = READ(raw)

    if isinstance(first, Invalid):
        assert first.problems
        assert all(problem.strip() for problem in first.problems)
    else:
        assert READ(first.model_dump(mode="json")) == first


@given(text=st.text(max_size=100))
def test_any_text_is_read_or_refused(text: str) -> None:
    assert isinstance(READ(text), Order | Invalid)


@given(order_id=st.integers(10_000, 99_999), cents=st.integers(1, 10**9), times=st.integers(0, 99))
def test_what_is_right_already_stays_as_it_is(order_id: int, cents: int, times: int) -> None:
    given = {"order_id": str(order_id), "amount_cents": cents, "currency": "EUR", "times": times}

    assert READ(json.dumps(given)) == Order(**given)  # type: ignore[arg-type] # pydantic checks them
