import json
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.tools.compression import LEFT_OUT, SMALLEST, compressed, size_of

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=80),
    lambda inner: st.lists(inner, max_size=12) | st.dictionaries(st.text(max_size=12), inner, max_size=12),
    max_leaves=20,
)


def test_a_result_that_fits_stays_as_it_is() -> None:
    result: dict[str, Any] = {"orders": [{"id": "10023", "total_cents": 1250}], "more": False}

    assert compressed(result, 20_000) == result


def test_what_is_left_out_is_said_and_the_structure_stays() -> None:
    result: dict[str, Any] = {"orders": [{"id": str(number), "note": "x" * 50} for number in range(200)], "total": 200}
    small = compressed(result, 2_000)

    assert small["total"] == 200
    assert 0 < len(small["orders"]) < 200
    assert small["orders"] == result["orders"][: len(small["orders"])]
    assert small[LEFT_OUT] == [f"orders: {200 - len(small['orders'])} of 200 items"]


def test_a_long_text_keeps_its_beginning() -> None:
    small = compressed({"page": {"text": "a" * 50_000}}, 3_000)

    kept = small["page"]["text"].removesuffix("…")
    assert small[LEFT_OUT] == [f"page.text: {50_000 - len(kept)} of 50000 characters"]
    assert set(kept) == {"a"}


def test_what_json_has_no_word_for_becomes_text() -> None:
    at = datetime(2026, 11, 30, tzinfo=UTC)

    result: dict[Any, Any] = {"at": at, "ratio": float("nan"), 7: b"x"}

    assert compressed(result, 1_000) == {"at": str(at), "ratio": "nan", "7": "b'x'"}


@given(result=st.dictionaries(st.text(max_size=20), json_values, max_size=10), limit=st.integers(0, 4_000))
def test_every_result_is_bounded_and_plain_json(result: dict[str, Any], limit: int) -> None:
    small = compressed(result, limit)

    assert size_of(small) <= max(limit, SMALLEST)
    assert json.loads(json.dumps(small, allow_nan=False)) == small
    assert compressed(small, limit) == small
