"""Spoilt arguments are put right or sent back, and nothing wrong is passed on."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.tools.arguments import SchemaArguments
from hermes_bot.tools.dates import read_date
from hermes_bot.tools.json_text import NotJson, object_in
from hermes_bot.tools.numerals import chinese_number, whole_number
from hermes_bot.tools.outcome import Invalid
from tests.tools.calls import TYPED, Call, _schema, valid_calls
from tests.tools.corruptions import CORRUPTIONS, scores, unspoilt

SEEDS = (1, 20_261_130)
EACH = 8
READERS = {name: SchemaArguments(_schema(parameters)) for name, parameters in TYPED.items()}


@pytest.fixture(scope="module", params=SEEDS)
def calls(request: pytest.FixtureRequest, shared_dir: Path) -> list[Call]:
    return valid_calls(shared_dir, request.param, EACH)


@pytest.mark.shared
def test_twelve_corruptions_are_put_right_or_sent_back_and_no_wrong_value_is_passed_on(calls: list[Call]) -> None:
    found = scores(calls, len(calls))

    assert len(CORRUPTIONS) == len(found) == 12
    assert [wrong for score in found.values() for wrong in score.wrong] == []
    assert {name: score.needless[:3] for name, score in found.items() if score.right < 0.95} == {}
    assert all(score.total >= 100 for score in found.values())


@pytest.mark.shared
def test_valid_calls_are_read_as_they_are(calls: list[Call]) -> None:
    assert unspoilt(calls) == {"same": len(calls)}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
names = sorted({name for parameters in TYPED.values() for name in parameters} | {"other", "amountCents", "email"})


@given(tool=st.sampled_from(sorted(TYPED)), raw=st.dictionaries(st.sampled_from(names), json_values, max_size=6))
def test_whatever_is_sent_is_read_or_refused_and_reading_twice_changes_nothing(tool: str, raw: dict[str, Any]) -> None:
    read = READERS[tool].read(raw)

    if isinstance(read, Invalid):
        assert read.problems
        assert all(": " in problem for problem in read.problems)
    else:
        assert READERS[tool].read(read) == read
        assert READERS[tool].read(json.dumps(read)) == read


@given(value=st.recursive(json_values, lambda inner: st.dictionaries(st.text(max_size=8), inner, max_size=4)))
def test_json_is_read_as_json_whatever_stands_in_its_texts(value: Any) -> None:
    assert object_in(json.dumps({"value": value})) == {"value": value}
    assert object_in(json.dumps({"value": value}, ensure_ascii=False)) == {"value": value}
    assert object_in(f"```json\n{json.dumps({'value': value})}\n```") == {"value": value}
    assert object_in(json.dumps(json.dumps({"value": value}))) == {"value": value}


@given(text=st.text(alphabet="{}[]\"'`:,abc123 \\\n“”：，-.", max_size=60))
def test_text_that_looks_like_json_is_one_object_or_an_error(text: str) -> None:
    with suppress(NotJson):
        assert isinstance(object_in(text), dict)


def written(number: int) -> str:
    """Return the number in Chinese numerals, as textbooks write it."""
    if number == 0:
        return "零"
    groups, rest = [], number
    while rest:
        rest, group = divmod(rest, 10_000)
        groups.append(group)
    text = ""
    for place, group in reversed(list(enumerate(groups))):
        if group:
            text += ("零" if text and group < 1_000 else "") + _below(group) + ("", "万", "亿")[place]
    return text


def _below(group: int) -> str:
    text, gap = "", False
    for worth, sign in ((1_000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = group // worth % 10
        if digit:
            text += ("零" if gap and text else "") + "零一二三四五六七八九"[digit] + sign
        gap = digit == 0
    return text


@given(number=st.integers(0, 10**12 - 1))
def test_chinese_numerals_are_read_back(number: int) -> None:
    assert chinese_number(written(number)) == number


@given(number=st.integers(-(10**12), 10**12))
def test_a_whole_number_is_read_in_every_width_and_with_words_that_count(number: int) -> None:
    full_width = str(number).translate({ord(str(digit)): chr(0xFF10 + digit) for digit in range(10)})

    assert whole_number(str(number)) == whole_number(full_width) == whole_number(f"{number} times") == number


@given(text=st.text(max_size=30))
def test_a_number_is_read_from_a_text_only_where_it_stands_there(text: str) -> None:
    found = whole_number(text)

    assert found is None or any(sign.isnumeric() or sign.isalpha() for sign in text)


@given(day=st.dates())
def test_a_day_is_read_back_however_it_is_written(day: Any) -> None:
    assert read_date(day.isoformat()) == day
    assert read_date(f"{day.year:04}年{day.month}月{day.day}日") == day
    assert read_date(f"{day.day:02}/{day.month:02}/{day.year:04}") in {day, None}


@given(text=st.text(max_size=40))
def test_any_text_is_a_day_or_none(text: str) -> None:
    read_date(text)
