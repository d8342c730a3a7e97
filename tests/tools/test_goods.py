import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.tools.goods import goods_in, names_goods, wanted_of
from hermes_bot.tools.order import Item

KETTLE = Item(sku="KT-100", name="Electric kettle", quantity=1, price_cents=3_450)
BOTTLES = Item(sku="WB-033", name="Steel water bottle", quantity=3, price_cents=1_850)
PANS = Item(sku="PN-018", name="Set of three pans", quantity=1, price_cents=9_950)
EARPHONES = Item(sku="HD-210", name="无线耳机", quantity=1, price_cents=49_900)
CUPS = Item(sku="WB-034", name="不锈钢保温杯", quantity=2, price_cents=9_900)
ENGLISH, CHINESE = (KETTLE, BOTTLES, PANS), (EARPHONES, CUPS)


@pytest.mark.parametrize(
    "text, items, goods",
    [
        ("refund the kettle please", ENGLISH, ["KT-100 x1"]),
        ("one of the bottles leaks", ENGLISH, ["WB-033 x1"]),
        ("two steel water bottles", ENGLISH, ["WB-033 x2"]),
        ("the water bottle", ENGLISH, ["WB-033 x3"]),
        ("2 x wb-033", ENGLISH, ["WB-033 x2"]),
        ("the kettle and the pans", ENGLISH, ["KT-100 x1", "PN-018 x1"]),
        ("everything except the kettle", ENGLISH, ["WB-033 x3", "PN-018 x1"]),
        ("kettledrum and painting", ENGLISH, []),
        ("five bottles", ENGLISH, []),
        ("the lamp is broken", ENGLISH, []),
        ("那个耳机我要退", CHINESE, ["HD-210 x1"]),
        ("退一个保温杯", CHINESE, ["WB-034 x1"]),
        ("除了耳机都退", CHINESE, ["WB-034 x2"]),
        ("台灯坏了", CHINESE, []),
        ("I bought a kettle and pans, refund the kettle", ENGLISH, ["KT-100 x1"]),
        ("I ordered two bottles. Please refund one bottle", ENGLISH, ["WB-033 x1"]),
        ("I got the pans and the kettle is broken, money back please", ENGLISH, ["KT-100 x1"]),
        ("I bought a kettle and pans, refund both", ENGLISH, ["KT-100 x1", "PN-018 x1"]),
        ("I bought a kettle and pans, I want my money back", ENGLISH, ["KT-100 x1", "PN-018 x1"]),
        ("I received a broken kettle and the pans", ENGLISH, ["KT-100 x1", "PN-018 x1"]),
        ("我买了耳机和保温杯，耳机坏了，请退款", CHINESE, ["HD-210 x1"]),
        ("我买了耳机、保温杯，都要退", CHINESE, ["HD-210 x1", "WB-034 x2"]),
    ],
)
def test_goods_are_known_by_what_people_call_them(text: str, items: tuple[Item, ...], goods: list[str]) -> None:
    assert [wanted.written for wanted in goods_in(text, items)] == goods


@pytest.mark.parametrize(
    "written, goods",
    [
        ("KT-100", "KT-100 x1"),
        ("wb-033 x2", "WB-033 x2"),
        ("2 x Steel water bottle", "WB-033 x2"),
        ("bottles", "WB-033 x3"),
        ("WB-033 x4", None),
        ("a lamp", None),
        ("kettle and pans", None),
        ("", None),
    ],
)
def test_what_a_planner_writes_is_one_line_of_the_order_or_nothing(written: str, goods: str | None) -> None:
    wanted = wanted_of(written, ENGLISH)

    assert (wanted.written if wanted else None) == goods


def test_pieces_cost_what_they_cost_together() -> None:
    (wanted,) = goods_in("two bottles", ENGLISH)

    assert wanted.cents == 3_700


@given(text=st.text(max_size=200))
def test_any_text_gives_goods_of_the_order_and_no_more_than_there_are(text: str) -> None:
    found = goods_in(text, ENGLISH + CHINESE)

    assert all(0 < wanted.quantity <= wanted.item.quantity for wanted in found)
    assert bool(found) <= names_goods(text, ENGLISH + CHINESE)


@given(item=st.sampled_from(ENGLISH + CHINESE), share=st.integers(1, 3))
def test_what_tools_write_is_read_back(item: Item, share: int) -> None:
    quantity = min(share, item.quantity)
    wanted = wanted_of(f"{item.sku} x{quantity}", ENGLISH + CHINESE)

    assert wanted is not None
    assert (wanted.item, wanted.quantity) == (item, quantity)
