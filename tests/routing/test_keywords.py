"""What a keyword rule hits and what it leaves alone."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.keywords import BadPattern, KeywordRules, compile_pattern
from routing.route import Route


def hit(text: str, **keywords: Any) -> str | None:
    found = KeywordRules([Route.model_validate(route("only", keywords=keywords))]).match(text)
    return found.matched if found else None


def route(name: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "type": f"ticket.{name}", "agent": name, **fields}


@pytest.mark.parametrize(
    "text", ["refund", "REFUND me", "(refund)", "a refund.", "請refund我", "ｒｅｆｕｎｄ", "re\u200bfund"]
)
def test_a_word_of_a_spaced_script_hits_as_a_whole_word_in_any_case_and_width(text: str) -> None:
    assert hit(text, any=["refund"]) == "refund"


@pytest.mark.parametrize("text", ["refunds", "prefund", "re fund", "refund_policy", ""])
def test_a_word_of_a_spaced_script_does_not_hit_inside_another_word(text: str) -> None:
    assert hit(text, any=["refund"]) is None


@pytest.mark.parametrize(
    "word, text",
    [("退款", "我想退款了"), ("返金", "返金してください"), ("환불", "환불을 원해요"), ("คืนเงิน", "ขอคืนเงินค่ะ")],
)
def test_a_word_of_an_unspaced_script_or_of_korean_hits_anywhere(word: str, text: str) -> None:
    assert hit(text, any=[word]) == word


def test_accents_and_other_letters_count_as_letters_at_the_edge_of_a_word() -> None:
    assert hit("réfundé", any=["fund"]) is None
    assert hit("деньгивозврат", any=["возврат"]) is None
    assert hit("мой возврат!", any=["возврат"]) == "возврат"


def test_a_phrase_hits_over_any_run_of_blanks() -> None:
    assert hit("give my money \n\t back", phrases=["money back"]) == "money back"


def test_any_and_all_given_together_must_both_hit() -> None:
    assert hit("where is my parcel", any=["where", "when"], all=["parcel"]) == "parcel + where"
    assert hit("my parcel", any=["where", "when"], all=["parcel"]) is None
    assert hit("where am i", any=["where", "when"], all=["parcel"]) is None


def test_a_word_of_none_silences_the_whole_rule() -> None:
    assert hit("tax refund", any=["refund"], phrases=["tax refund"], none=["tax"]) is None


def test_a_word_of_invisible_marks_alone_hits_nothing_and_hides_no_other_word() -> None:
    assert hit("refund", any=["\u200b"]) is None
    assert hit("a refund", any=["\u200b", "refund"]) == "refund"


def test_of_words_that_begin_alike_the_one_that_stands_there_is_named() -> None:
    assert hit("two refunds", any=["refund", "refunds"]) == "refunds"


def test_a_pattern_is_matched_on_folded_text() -> None:
    assert hit("ORDER  NO 4471", patterns=[r"order no \d+"]) == "order no 4471"


def test_the_route_with_the_highest_priority_takes_the_text_alone() -> None:
    low = route("low", priority=1, keywords={"any": ["order"]})
    high = route("high", priority=2, keywords={"any": ["refund"]})
    rules = KeywordRules([Route.model_validate(low), Route.model_validate(high)])

    found = rules.match("refund my order")

    assert found is not None
    assert found.route == "high"


def test_of_equal_priorities_the_first_in_the_file_takes_the_text() -> None:
    rules = KeywordRules([Route.model_validate(route(name, keywords={"any": ["x"]})) for name in ("one", "two")])

    found = rules.match("x")

    assert found is not None
    assert found.route == "one"


@pytest.mark.parametrize("expression", ["(a", "a(?=b)", r"(a)\1", "(?:a{1000}){1000}"])
def test_an_expression_that_needs_more_than_linear_time_is_refused(expression: str) -> None:
    with pytest.raises(BadPattern):
        compile_pattern(expression)


@given(st.text())
def test_every_word_that_can_be_written_can_be_a_keyword(word: str) -> None:
    if word.strip():
        KeywordRules([Route.model_validate(route("only", keywords={"any": [word[:200]]}))]).match(f"a {word} b")
