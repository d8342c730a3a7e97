import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.tools.order_number import canonical, order_numbers_in, same_number

five_digits = st.integers(10_000, 99_999).map(str)
surroundings = st.sampled_from(
    ["{}", "Where is {}?", "Hello, {} please", "你好，{}什么时候到？", "{}，谢谢", "re: {} — broken"]
)
FORMATS = (
    "#{}", "# {}", "W{}", "#W{}", "order {}", "Order: {}", "order no. {}", "order number is {}", "my order is {}",
    "({})", "订单号：{}", "订单{}", "我的订单号是{}", "单号{}", "Bestellung Nr. {}", "commande n° {}", "pedido {}",
    "注文番号{}",
)  # fmt: skip


def full_width(text: str) -> str:
    return "".join(chr(ord(sign) + 0xFEE0) if "!" <= sign <= "~" else sign for sign in text)


@given(number=five_digits, written=st.sampled_from(FORMATS), around=surroundings, wide=st.booleans())
def test_a_number_is_found_however_it_is_written(number: str, written: str, around: str, wide: bool) -> None:
    text = around.format(written.format(full_width(number) if wide else number))

    (found,) = order_numbers_in(text)

    assert same_number(number, found)


@given(text=st.text(max_size=300))
def test_any_text_can_be_read_and_what_is_found_stands_in_it(text: str) -> None:
    found = order_numbers_in(text)

    assert len(set(found)) == len(found)
    for number in found:
        assert canonical(number) == number
        assert re.fullmatch(r"[A-Z]{0,4}-?[0-9]+(-[0-9]+)?", number)


@given(
    year=st.integers(1990, 2035),
    month=st.integers(1, 12),
    day=st.integers(1, 28),
    form=st.sampled_from(
        ["{0}-{1:02}-{2:02}", "{0}/{1}/{2}", "{2:02}.{1:02}.{0}", "{0}年{1}月{2}日", "{0}{1:02}{2:02}"]
    ),
)
def test_a_date_is_no_order(year: int, month: int, day: int, form: str) -> None:
    assert order_numbers_in(f"It came on {form.format(year, month, day)} I think") == ()


@given(
    cents=st.integers(1, 99_999_999),
    form=st.sampled_from(
        ["${:.2f}", "{:.2f} EUR", "{:,.2f} USD", "¥{:.2f}", "{:.0f}元", "paid {:.0f} dollars", "€{:.0f}"]
    ),
)
def test_an_amount_is_no_order(cents: int, form: str) -> None:
    assert order_numbers_in(f"I want {form.format(cents / 100)} back") == ()


@pytest.mark.parametrize(
    "text",
    [
        "call me on +49 30 1234567",
        "my phone is 13812345678",
        "(030) 12345678",
        "555-123-4567",
        "手机号13812345678",
        "card 4111 1111 1111 1111",
        "4111111111111111",
        "my zip code is 98193",
        "invoice #25980",
        "tracking number 123456789",
        "see https://shop.example.com/o/10023",
        "mail 10023@example.com",
        "I waited 10 days for 2 of 3 items",
        "order 500 units",
        "order 100 of them",
        "至少 3000 块",
        "再不解决我就打12315",
        "at 12:30 in 2026",
        "10,023",
        "",
    ],
)
def test_other_numbers_are_no_orders(text: str) -> None:
    assert order_numbers_in(text) == ()


@pytest.mark.parametrize(
    "text, numbers",
    [
        ("orders 10023, 10024 and #10023 again", ("10023", "10024")),
        ("order no. 10 023", ("10023",)),
        ("the ETA of ORD-80040447", ("ORD-80040447",)),
        ("cancel order 5923-6153282", ("5923-6153282",)),
        ("purchase SO0937171?", ("SO0937171",)),
        ("JD854149537033，多久能到？", ("JD854149537033",)),
        ("订单 2002 现在什么状态", ("2002",)),
        ("order: 20240315", ("20240315",)),
        ("paid 10500 EUR for order 10023 on 2026-01-02", ("10023",)),
        ("Die richtige Bestellnummer ist 5591.", ("5591",)),
        ("订单10023天天催", ("10023",)),
        ("20269999", ("20269999",)),
        ("cancelling orderORD-38201160, orders10023", ("ORD-38201160", "10023")),
    ],
)
def test_numbers_of_many_shops_are_read(text: str, numbers: tuple[str, ...]) -> None:
    assert order_numbers_in(text) == numbers


@pytest.mark.parametrize(
    "stored, written, same",
    [
        ("10023", "#10023", True),
        ("W6405710", "6405710", True),
        ("6405710", "w6405710", True),
        ("W6405710", "X6405710", False),
        ("10023", "10024", False),
        ("", "#", False),
        ("A1", "1", False),
    ],
)
def test_one_order_is_recognised_in_another_spelling(stored: str, written: str, same: bool) -> None:
    assert same_number(stored, written) is same


def test_a_very_long_text_is_read_quickly_and_only_at_its_beginning() -> None:
    assert order_numbers_in("#10023 " + "a" * 200_000 + " #10024") == ("10023",)


@pytest.mark.shared
def test_numbers_in_real_messages_about_orders_are_found(shared_dir: Path) -> None:
    lines = (shared_dir / "data" / "routing_dev.jsonl").read_text(encoding="utf-8").splitlines()
    named = re.compile(r"(?:order|purchase|订单号?) ?#?([A-Z]{0,4}-?\d[\d-]{3,}\d)", re.IGNORECASE)
    texts = [json.loads(line)["text"] for line in lines]
    wanted = [(text, match[1]) for text in texts if (match := named.search(text))]

    missed = [text for text, number in wanted if canonical(number) not in order_numbers_in(text)]

    assert len(wanted) > 100
    assert missed == []
