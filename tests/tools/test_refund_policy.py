from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.errors import SettingsError
from hermes_bot.tools.order import Order, OrderStatus, Refund, RefundStatus
from hermes_bot.tools.policies import read_policies
from hermes_bot.tools.refund_policy import RefundCode, RefundPolicy
from tests.tools.conftest import NOON

POLICY = RefundPolicy(
    window_days=30,
    states=frozenset({OrderStatus.DELIVERED, OrderStatus.RETURNED, OrderStatus.LOST}),
    max_cents={"EUR": 50_000, "CNY": 400_000},
)
DELIVERED = Order(
    id="10001",
    customer_id="C0001",
    status=OrderStatus.DELIVERED,
    placed_at=NOON - timedelta(days=9),
    delivered_at=NOON - timedelta(days=6),
    total_cents=10_000,
    currency="EUR",
    tracking="",
    address="",
    items=(),
)
SHIPPED_FILE = Path(__file__).parents[2] / "configs" / "policies.yaml"


def refund(amount_cents: int, status: RefundStatus = RefundStatus.ISSUED) -> Refund:
    return Refund(
        id=1,
        order_id=DELIVERED.id,
        amount_cents=amount_cents,
        reason="",
        status=status,
        approval_id="",
        created_at=NOON,
    )


refunds = st.lists(st.builds(refund, st.integers(1, 12_000), st.sampled_from(RefundStatus)), max_size=3).map(tuple)
moments = st.timedeltas(timedelta(days=-400), timedelta(days=400)).map(lambda away: NOON + away)
orders = st.builds(
    replace,
    st.just(DELIVERED),
    status=st.sampled_from(OrderStatus),
    placed_at=moments,
    delivered_at=st.none() | moments,
    total_cents=st.integers(0, 100_000),
    currency=st.sampled_from(["EUR", "CNY", "USD"]),
)


@given(order=orders, earlier=refunds, now=moments, amount=st.none() | st.integers(-10, 120_000))
def test_money_goes_back_only_within_all_bounds(
    order: Order, earlier: tuple[Refund, ...], now: datetime, amount: int | None
) -> None:
    decision = POLICY.decide(order, earlier, now, amount)

    gone = sum(each.amount_cents for each in earlier if each.status is not RefundStatus.FAILED)
    assert decision.allowed is (decision.code is RefundCode.ELIGIBLE)
    assert decision.allowed is (decision.amount_cents > 0)
    if decision.allowed:
        assert decision.amount_cents == (order.total_cents - gone if amount is None else amount)
        assert gone + decision.amount_cents <= order.total_cents
        assert decision.amount_cents <= POLICY.max_cents[order.currency]
        assert order.status in POLICY.states
        assert now <= decision.window_until
        assert RefundStatus.PENDING not in {each.status for each in earlier}


@given(order=orders, earlier=refunds, now=moments)
def test_the_same_question_has_the_same_answer(order: Order, earlier: tuple[Refund, ...], now: datetime) -> None:
    assert POLICY.decide(order, earlier, now) == POLICY.decide(order, earlier, now)


@given(order=orders, earlier=refunds, now=moments, later=st.timedeltas(timedelta(0), timedelta(days=400)))
def test_a_closed_window_never_opens_again(
    order: Order, earlier: tuple[Refund, ...], now: datetime, later: timedelta
) -> None:
    before, after = POLICY.decide(order, earlier, now), POLICY.decide(order, earlier, now + later)

    if before.code is RefundCode.WINDOW_CLOSED:
        assert after.code is RefundCode.WINDOW_CLOSED


@pytest.mark.parametrize(
    "order, earlier, code",
    [
        (DELIVERED, (), RefundCode.ELIGIBLE),
        (DELIVERED, (refund(4_000),), RefundCode.ELIGIBLE),
        (DELIVERED, (refund(10_000, RefundStatus.FAILED),), RefundCode.ELIGIBLE),
        (DELIVERED, (refund(10_000),), RefundCode.ALREADY_REFUNDED),
        (DELIVERED, (refund(1, RefundStatus.PENDING),), RefundCode.REFUND_PENDING),
        (replace(DELIVERED, status=OrderStatus.CANCELLED), (), RefundCode.CANCELLED),
        (replace(DELIVERED, status=OrderStatus.CANCELLED), (refund(10_000),), RefundCode.ALREADY_REFUNDED),
        (replace(DELIVERED, status=OrderStatus.SHIPPED, delivered_at=None), (), RefundCode.NOT_DELIVERED),
        (replace(DELIVERED, delivered_at=NOON + timedelta(days=1)), (), RefundCode.NOT_DELIVERED),
        (replace(DELIVERED, status=OrderStatus.UNKNOWN), (), RefundCode.STATE_NOT_COVERED),
        (replace(DELIVERED, delivered_at=NOON - timedelta(days=30)), (), RefundCode.ELIGIBLE),
        (replace(DELIVERED, delivered_at=NOON - timedelta(days=30, seconds=1)), (), RefundCode.WINDOW_CLOSED),
        (replace(DELIVERED, status=OrderStatus.LOST, delivered_at=None), (), RefundCode.ELIGIBLE),
        (replace(DELIVERED, currency="SEK"), (), RefundCode.CURRENCY_NOT_COVERED),
        (replace(DELIVERED, total_cents=50_001), (), RefundCode.ABOVE_LIMIT),
        (replace(DELIVERED, total_cents=50_000), (), RefundCode.ELIGIBLE),
    ],
)
def test_each_reason_has_its_code(order: Order, earlier: tuple[Refund, ...], code: RefundCode) -> None:
    assert POLICY.decide(order, earlier, NOON).code is code


def test_a_part_of_a_dear_order_can_go_back_within_the_limit() -> None:
    dear = replace(DELIVERED, total_cents=90_000)

    assert POLICY.decide(dear, (), NOON, 50_000).amount_cents == 50_000
    assert POLICY.decide(dear, (), NOON, 50_001).code is RefundCode.ABOVE_LIMIT
    assert POLICY.decide(DELIVERED, (), NOON, 10_001).code is RefundCode.ABOVE_TOTAL


def test_a_shop_may_refund_what_it_cancelled() -> None:
    generous = replace(POLICY, states=frozenset({OrderStatus.CANCELLED}))

    assert generous.decide(replace(DELIVERED, status=OrderStatus.CANCELLED), (), NOON).allowed


def test_the_shipped_file_is_read() -> None:
    policy = read_policies(SHIPPED_FILE).refund

    assert policy.window_days == 30
    assert OrderStatus.DELIVERED in policy.states
    assert set(policy.max_cents) == {"EUR", "USD", "CNY"}


@pytest.mark.parametrize(
    "old, new, line, words",
    [
        ("window_days: 30", "window_dayz: 30", 9, "did you mean 'refund.window_days'"),
        ("window_days: 30", "window_days: soon", 9, "refund.window_days"),
        ("window_days: 30", "window_days: -1", 9, "refund.window_days"),
        ("[delivered, returned", "[deliverd, returned", 11, "refund.states"),
        ("EUR: 50000", "euro: 50000", 14, "refund.max_cents"),
        ("EUR: 50000", "EUR: much", 14, "refund.max_cents.EUR"),
    ],
)
def test_a_mistake_in_the_file_is_named_with_its_line(
    tmp_path: Path, old: str, new: str, line: int, words: str
) -> None:
    text = SHIPPED_FILE.read_text(encoding="utf-8")
    file = tmp_path / "policies.yaml"
    file.write_text(text.replace(old, new), encoding="utf-8")
    assert old in text

    with pytest.raises(SettingsError) as caught:
        read_policies(file)

    assert f"policies.yaml:{line}: " in str(caught.value)
    assert words in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"policies\.yaml"):
        read_policies(tmp_path / "policies.yaml")
