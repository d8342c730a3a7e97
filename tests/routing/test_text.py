"""The forms in which texts are matched: emoji as Slack writes them."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from routing.text import for_encoder, for_rules


@pytest.mark.parametrize(
    "text,rules,encoder",
    [
        ("where is my :package:?", "where is my package ?", "where is my package ?"),
        ("hi :wave::skin-tone-2: :tada:", "hi", "hi wave tada"),
        ("我的:package:在哪", "我的 package 在哪", "我的 package 在哪"),
        (":package:", "package", "package"),
        ("at 10:30:45", "at 10:30:45", "at 10:30:45"),
        ("see https://example.com:80/x:y:z please", "see please", "see please"),
    ],
)
def test_an_emoji_within_a_sentence_reads_as_its_name_and_one_at_the_end_is_no_word_of_a_rule(
    text: str, rules: str, encoder: str
) -> None:
    assert (for_rules(text), for_encoder(text)) == (rules, encoder)


@given(some.text(alphabet=some.characters(exclude_characters=":")))
def test_a_text_without_emoji_reads_the_same_with_one_behind_it(text: str) -> None:
    assert for_rules(f"a {text[:100]} :wave:") == for_rules(f"a {text[:100]}")
