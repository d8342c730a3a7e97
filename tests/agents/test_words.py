import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents import words
from agents.language import language_of
from agents.rules.intents import order_wish
from agents.words import small_talk
from hermes_bot.tools.order_number import order_numbers_in


@pytest.mark.parametrize(
    "text",
    ["10002", "it is 10002", "订单号是JD108386616813", "我订单JD105835599244", "yes", "any news?", "是的", "有消息吗"],
)
def test_an_answer_to_a_question_is_bare(text: str) -> None:
    assert words.is_bare(text)


@pytest.mark.parametrize(
    "text", ["订单是JD637960158717，赶紧处理！", "refund 10002", "where is 10002", "yes but I want a refund", ""]
)
def test_what_says_more_is_not_bare(text: str) -> None:
    assert not words.is_bare(text)


@pytest.mark.parametrize(
    "text",
    [
        "human",
        "Can I talk to a person?",
        "I'd like to speak with a real person, please",
        "转人工",
        "请转人工",
        "我想找人工客服",
    ],
)
def test_a_wish_for_a_person(text: str) -> None:
    assert words.asks_for_a_person(text)


@pytest.mark.parametrize("text", ["a person stole my parcel", "are you a human?", "", "人工智能是什么"])
def test_what_is_no_wish_for_a_person(text: str) -> None:
    assert not words.asks_for_a_person(text)


@pytest.mark.parametrize("text", ["yes", "Yes, please do", "ok", "好的", "确认，帮我提交吧", "可以"])
def test_a_yes(text: str) -> None:
    assert words.says_yes(text)
    assert not words.says_no(text)


@pytest.mark.parametrize(
    "text",
    [
        "ok but where is it?",
        "是不是丢件了",
        "可以吗",
        "no",
        "不用了",
        "算了",
        "10001",
        "what?",
        "ok but keep it until tomorrow",
        "yes, but not yet",
        "好的，等明天再说",
    ],
)
def test_what_is_no_yes(text: str) -> None:
    assert not words.says_yes(text)


@pytest.mark.parametrize("text", ["能退吗", "what is your refund policy", "退款几天到账", "Can I return this?"])
def test_a_question_about_refunds(text: str) -> None:
    assert words.only_asks_about_refunds(text)


@pytest.mark.parametrize("text", ["I want a refund", "我要退款", "Can I get my money back", "give me my money"])
def test_a_request_for_a_refund(text: str) -> None:
    assert not words.only_asks_about_refunds(text)


def test_words_that_overlap_are_read_in_linear_time() -> None:
    assert words.small_talk("好的" * 90 + "x") is None
    assert not words.is_bare("是的" * 900 + "x")


@pytest.mark.parametrize(
    "text, previous, language",
    [
        ("10002", "zh", "zh"),
        ("ok", "zh", "zh"),
        ("👍", "zh", "zh"),
        ("thank you very much", "zh", "en"),
        ("", "", "en"),
        ("what does 退款 mean please", "", "en"),
        ("JD949575038072到哪了", "en", "zh"),
    ],
)
def test_the_language_of_a_text(text: str, previous: str, language: str) -> None:
    assert language_of(text, previous=previous) == language


@given(st.text(max_size=400))
def test_any_text_can_be_read(text: str) -> None:
    assert language_of(text) in {"en", "zh"}
    assert words.small_talk(text) in {None, *words.SmallTalk}
    assert not (words.says_yes(text) and words.asks_for_a_person(text))
    assert words.is_bare(text) in {True, False}
    assert words.is_thanks(text) in {True, False}


@pytest.mark.timeout(10)
@pytest.mark.parametrize("piece", ["a", "a@", "😀", "e\u0301", "<", "ﷺ", "1-", "1,000", "订", "thanks hello "])
def test_a_very_long_text_is_read_at_once(piece: str) -> None:
    text = (piece * 100_000)[:100_000]

    assert language_of(text) in {"en", "zh"}
    assert small_talk(text) is None
    assert order_wish(text) is None
    assert len(order_numbers_in(text)) < 5_000
