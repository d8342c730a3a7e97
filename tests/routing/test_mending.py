"""What a slip of the finger costs, and what is left as it was written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.llm.english_words import english_words
from routing.mending import Mender

EXAMPLES = ("cancel my order", "where is my delivery", "I want a refund", "ship it to me", "modify the address")


@pytest.fixture(scope="module")
def mender() -> Mender:
    return Mender(EXAMPLES, english_words())


@pytest.mark.parametrize(
    "written, read",
    [
        ("cancle my oredr", "cancel my order"),
        ("where is my deilvery?", "where is my delivery?"),
        ("I want a refunnd", "I want a refund"),
        ("do you shpi to Munich", "do you ship to Munich"),
        ("REFUUND now please", "refund now please"),
        ("modfy the addresss of it", "modify the address of it"),
    ],
)
def test_a_slip_next_to_a_word_of_the_examples_is_mended(mender: Mender, written: str, read: str) -> None:
    assert mender.mend(written) == read


@pytest.mark.parametrize(
    "text",
    [
        "the chip in my slip",  # English words near "ship"
        "I dont want it, it wasnt me",  # no slips but left-out apostrophes
        "wo bleibt meine addresse nur",  # not English
        "我的 oredr 呢",
        "qqqqqq zzzzzz refunnd",
        "what is a zyxwv",
        "",
    ],
)
def test_other_words_are_left_as_they_are(mender: Mender, text: str) -> None:
    assert mender.mend(text) == text


def test_without_known_words_nothing_is_mended() -> None:
    assert Mender(EXAMPLES, ()).mend("cancle my oredr") == "cancle my oredr"


@given(st.text())
def test_what_is_no_word_stays(text: str) -> None:
    mended = Mender(EXAMPLES, frozenset({"my", "is", "the"})).mend(text)

    assert [char for char in mended if not char.isalpha()] == [char for char in text if not char.isalpha()]
