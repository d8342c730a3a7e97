import shutil
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from hermes_bot.store.database import Database
from hermes_bot.tools.demo_shop import EMMA, LI_NA
from hermes_bot.tools.discovery import discover
from hermes_bot.tools.order import Customer
from hermes_bot.tools.order_book import OrderBook
from hermes_bot.tools.order_tables import orders
from hermes_bot.tools.outcome import Caller, Done, Invalid, NeedsApproval, Refused
from hermes_bot.tools.policies import read_policies
from hermes_bot.tools.shop import Shop
from hermes_bot.tools.toolbox import Toolbox
from tests.tools.conftest import NOON

POLICIES = Path(__file__).parents[2] / "configs" / "policies.yaml"
REFUNDABLE = {"order_id": "10001", "amount_cents": 10_280, "currency": "EUR", "reason": "broken", "items": []}


class Clock:
    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def shop_url(sqlite_shop: Path, tmp_path: Path) -> str:
    """SQLite alone: what differs between databases is tested in test_order_book.py."""
    return f"sqlite:///{shutil.copy(sqlite_shop, tmp_path / 'orders.db')}"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def toolbox(book: OrderBook, clock: Clock) -> Toolbox:
    shop = Shop(book=book, policies=read_policies(POLICIES), clock=clock)
    tools = discover("hermes_bot.tools")
    return Toolbox(tools, allowed={"refund": [each.name for each in tools]}, services={"shop": shop})


def caller(customer: Customer | None = EMMA, *, asked_at: datetime | None = None, language: str = "en") -> Caller:
    return Caller(
        customer=customer, agent="refund", ticket_id="T-1", user="U0EMMA", language=language, asked_at=asked_at
    )


async def result(toolbox: Toolbox, name: str, arguments: dict[str, Any], who: Caller | None = None) -> dict[str, Any]:
    outcome = await toolbox.call(name, arguments, who or caller())
    assert isinstance(outcome, Done), outcome
    return outcome.result


async def test_a_customers_own_order_is_found_with_its_facts(toolbox: Toolbox) -> None:
    found = await result(toolbox, "find_order", {"order_id": "#10002"})

    assert found["found"] is True
    assert found["order"]["status"] == "shipped"
    assert found["order"]["tracking"]
    assert found["order"]["items"] == [{"sku": "BP-300", "name": "Travel backpack", "quantity": 1, "price_cents": 6480}]


@pytest.mark.parametrize("order_id", ["10007", "99999"])
async def test_an_order_of_somebody_else_looks_like_none(toolbox: Toolbox, order_id: str) -> None:
    assert await result(toolbox, "find_order", {"order_id": order_id}) == {"found": False}
    assert await result(toolbox, "refund_eligibility", {"order_id": order_id}) == {
        "allowed": False,
        "code": "not_found",
    }
    assert await toolbox.call("issue_refund", {"order_id": order_id}, caller()) == Refused(code="not_found")


@pytest.mark.parametrize("name", ["find_order", "list_orders", "refund_eligibility", "issue_refund"])
async def test_who_is_no_customer_learns_nothing(toolbox: Toolbox, name: str) -> None:
    arguments = {} if name == "list_orders" else {"order_id": "10001"}

    assert await toolbox.call(name, arguments, caller(None)) == Refused(code="unknown_customer")


@pytest.mark.parametrize("extra", ["customer_id", "customer", "email", "caller", "approval_id"])
async def test_no_argument_can_name_another_customer(toolbox: Toolbox, extra: str) -> None:
    outcome = await toolbox.call("find_order", {"order_id": "10007", extra: LI_NA.id}, caller())

    assert isinstance(outcome, Invalid)


async def test_recent_orders_are_listed_newest_first(toolbox: Toolbox) -> None:
    listed = await result(toolbox, "list_orders", {"limit": "2"})

    assert [order["id"] for order in listed["orders"]] == ["10589", "10587"]


@pytest.mark.parametrize("first, customer", [(10_001, EMMA), (10_007, LI_NA)])
async def test_the_demo_customers_orders_show_the_policy(toolbox: Toolbox, first: int, customer: Customer) -> None:
    codes = [
        (await result(toolbox, "refund_eligibility", {"order_id": str(first + n)}, caller(customer)))["code"]
        for n in range(6)
    ]

    assert codes == ["eligible", "not_delivered", "window_closed", "cancelled", "already_refunded", "above_limit"]


async def test_the_card_says_in_words_what_will_run(toolbox: Toolbox) -> None:
    outcome = await toolbox.call("issue_refund", {"order_id": "#10001", "reason": " broken "}, caller())

    assert isinstance(outcome, NeedsApproval)
    assert (outcome.level, outcome.title) == ("L2", "Refund €102.80 to Emma Fischer")
    assert outcome.arguments == REFUNDABLE
    assert outcome.shown == (
        ("Customer", "Emma Fischer"),
        ("Order", "10001, placed 2026-11-20, delivered 2026-11-24"),
        ("Items", "1 × USB-C charger, 1 × Wireless headphones"),
        ("Amount", "€102.80"),
        ("Reason", "broken"),
    )
    assert [label for label, _ in outcome.internal] == ["Policy check", "History"]
    assert read_policies(POLICIES).version in outcome.internal[0][1]


async def test_the_card_of_a_part_names_the_whole(toolbox: Toolbox) -> None:
    outcome = await toolbox.call("issue_refund", {"order_id": "10001", "amount_cents": "2.80 EUR"}, caller())

    assert isinstance(outcome, NeedsApproval)
    assert outcome.arguments["amount_cents"] == 280
    assert ("Amount", "€2.80 of €102.80") in outcome.shown
    assert ("Reason", "none given") in outcome.shown


@pytest.mark.parametrize(
    "arguments, code",
    [
        ({"order_id": "10002"}, "not_delivered"),
        ({"order_id": "10006"}, "above_limit"),
        ({"order_id": "10001", "amount_cents": 10_281}, "above_total"),
        ({"order_id": "10001", "amount_cents": "5 USD"}, "wrong_currency"),
        ({"order_id": "10001", "amount_cents": 2_291, "items": ["CH-064"]}, "above_price"),
    ],
)
async def test_nobody_is_asked_for_what_the_policy_forbids(
    toolbox: Toolbox, arguments: dict[str, Any], code: str
) -> None:
    assert await toolbox.call("issue_refund", arguments, caller()) == Refused(code=code)


async def run(toolbox: Toolbox, who: Caller | None = None, approval_id: str = "APR-1", **other: Any) -> Done | Refused:
    return await toolbox.run_approved("issue_refund", REFUNDABLE | other, who or caller(), approval_id=approval_id)


async def test_an_approved_refund_is_issued_once(toolbox: Toolbox, book: OrderBook) -> None:
    first, again = await run(toolbox), await run(toolbox)

    assert first == again
    assert isinstance(first, Done)
    assert (first.result["status"], first.result["amount"]) == ("issued", "€102.80")
    assert len(await book.refunds(EMMA.id, "10001")) == 1


async def test_no_piece_is_paid_back_twice(toolbox: Toolbox, book: OrderBook) -> None:
    charger: dict[str, Any] = {"amount_cents": 2_290, "items": ["CH-064 x1"]}
    assert isinstance(await run(toolbox, **charger), Done)
    asked = await toolbox.call("issue_refund", {"order_id": "10001", "items": ["CH-064"]}, caller())
    clicked = await run(toolbox, approval_id="APR-2", **charger)
    other = await toolbox.call("issue_refund", {"order_id": "10001", "items": ["HD-210"]}, caller())

    assert asked == clicked == Refused(code="item_already_refunded")
    assert isinstance(other, NeedsApproval)
    assert [change.after for change in await book.changes(EMMA.id, "10001")] == ["CH-064 x1"]


async def test_goods_are_not_paid_back_above_their_price(toolbox: Toolbox, book: OrderBook) -> None:
    assert await run(toolbox, items=["CH-064"]) == Refused(code="above_price")
    assert await book.refunds(EMMA.id, "10001") == ()


async def test_a_second_approval_for_the_same_money_is_refused_at_run_time(toolbox: Toolbox) -> None:
    await run(toolbox)

    assert await run(toolbox, approval_id="APR-2") == Refused(code="already_refunded")


async def test_an_order_that_was_cancelled_meanwhile_is_refused_at_run_time(
    toolbox: Toolbox, database: Database, book: OrderBook
) -> None:
    statement = update(orders).where(orders.c.id == "10001").values(status="cancelled")
    await database.run(lambda connection: connection.execute(statement).close())

    assert await run(toolbox) == Refused(code="cancelled")
    assert await book.refunds(EMMA.id, "10001") == ()


async def test_a_slow_approval_costs_nobody_their_right(toolbox: Toolbox, clock: Clock) -> None:
    asked = clock.now
    clock.now += timedelta(days=40)

    assert await run(toolbox) == Refused(code="window_closed")
    assert isinstance(await run(toolbox, caller(asked_at=asked)), Done)


@pytest.mark.parametrize("other", [{"amount_cents": None}, {"currency": ""}, {"currency": "USD"}, {"order_id": ""}])
async def test_an_approved_run_names_amount_and_currency(toolbox: Toolbox, other: dict[str, Any]) -> None:
    assert await run(toolbox, **other) == Refused(code="invalid_arguments")


async def test_an_approved_run_for_another_customers_order_is_refused(toolbox: Toolbox) -> None:
    assert await run(toolbox, caller(LI_NA)) == Refused(code="not_found")


async def test_the_customer_reads_the_amount_in_their_own_language(toolbox: Toolbox) -> None:
    who = caller(LI_NA, language="zh")

    facts = await result(toolbox, "refund_eligibility", {"order_id": "10007"}, who)

    assert facts["amount"] == "¥618.00"
    assert facts["limit"] == "¥4,000.00"


def shown_words(outcomes: Sequence[NeedsApproval]) -> str:
    return " ".join(value for outcome in outcomes for _, value in outcome.shown)


async def test_the_card_shows_no_address_and_no_tracking(toolbox: Toolbox, book: OrderBook) -> None:
    outcome = await toolbox.call("issue_refund", {"order_id": "10001"}, caller())
    order = await book.order(EMMA.id, "10001")

    assert isinstance(outcome, NeedsApproval)
    assert order is not None
    assert order.address not in shown_words([outcome])
    assert order.tracking not in shown_words([outcome])
    assert EMMA.email not in shown_words([outcome])
