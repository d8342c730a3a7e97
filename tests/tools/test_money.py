import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.tools.money import Money, format_money, money_in, parse_money, speaks_of_other_money

cents = st.integers(0, 99_999_999)


@given(
    cents=cents,
    form=st.sampled_from(["{0}.{1:02} EUR", "EUR {0},{1:02}", "€{0}.{1:02}", "{0},{1:02}€", "{0}.{1:02}euros"]),
)
def test_an_amount_is_read_in_every_common_form(cents: int, form: str) -> None:
    assert parse_money(form.format(*divmod(cents, 100))) == Money(cents=cents, currency="EUR")


@given(cents=cents, currency=st.sampled_from(["EUR", "USD", "CNY"]), language=st.sampled_from(["en", "zh"]))
def test_what_is_shown_can_be_read_back(cents: int, currency: str, language: str) -> None:
    assert parse_money(format_money(cents, currency, language)) == Money(cents=cents, currency=currency)


@given(text=st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    money = parse_money(text)

    assert money is None or money.cents >= 0


@pytest.mark.parametrize(
    "text, money",
    [
        ("12.5", Money(cents=1250)),
        ("１２．５０ EUR", Money(cents=1250, currency="EUR")),
        ("1,234.50 USD", Money(cents=123450, currency="USD")),
        ("1.234,50 €", Money(cents=123450, currency="EUR")),
        ("199元", Money(cents=19900, currency="CNY")),
        ("￥199", Money(cents=19900, currency="CNY")),
    ],
)
def test_known_amounts(text: str, money: Money) -> None:
    assert parse_money(text) == money


@pytest.mark.parametrize(
    "text", ["", "EUR", "1,234", "1.234 EUR", "12.345", "$12 EUR", "12 bananas", "-5 EUR", "1 2 EUR", "all"]
)
def test_what_is_not_sure_is_not_read(text: str) -> None:
    assert parse_money(text) is None


@pytest.mark.parametrize(
    "language, shown", [("en", "€1,234.50"), ("zh", "€1,234.50"), ("zh-CN", "€1,234.50"), ("fr", "€1,234.50")]
)
def test_amounts_are_shown_with_their_currency(language: str, shown: str) -> None:
    assert format_money(123_450, "EUR", language) == shown


@pytest.mark.parametrize(
    "text, amounts",
    [
        ("refund EUR 20 of it", [(2_000, "EUR")]),
        ("EUR20", [(2_000, "EUR")]),
        ("退$100", [(10_000, "USD")]),
        ("退100欧元", [(10_000, "EUR")]),
        ("退一百五十块", [(15_000, "CNY")]),
        ("退1千元", [(100_000, "CNY")]),
        ("人民币100", [(10_000, "CNY")]),
        ("€20 for one and €70 for the other", [(2_000, "EUR"), (7_000, "EUR")]),
        ("一块退了", []),
        ("我要退钱", []),
    ],
)
def test_amounts_in_a_text_are_all_read(text: str, amounts: list[tuple[int, str]]) -> None:
    assert [(money.cents, money.currency) for money in money_in(text)] == amounts
    assert not speaks_of_other_money(text)


@pytest.mark.parametrize(
    "text",
    [
        "-50 EUR",
        "1,000 EUR",
        "10.005 EUR",
        "1e2 EUR",
        "twenty euros",
        "€20-30",
        "20-30 EUR",
        "€1.000",
        "1.5万元",
        "几百元",
    ],
)
def test_an_amount_that_cannot_be_read_is_noticed_and_never_read_in_part(text: str) -> None:
    assert money_in(text) == ()
    assert speaks_of_other_money(text)
