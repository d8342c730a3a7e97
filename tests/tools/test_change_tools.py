import shutil
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from hermes_bot.store.database import Database
from hermes_bot.tools.demo_shop import EMMA, LI_NA
from hermes_bot.tools.discovery import discover
from hermes_bot.tools.order import Customer
from hermes_bot.tools.order_book import OrderBook
from hermes_bot.tools.order_tables import order_changes, orders
from hermes_bot.tools.outcome import Caller, Done, NeedsApproval, Refused
from hermes_bot.tools.policies import Policies, read_policies
from hermes_bot.tools.shop import Shop
from hermes_bot.tools.toolbox import Toolbox
from tests.tools.conftest import NOON

POLICIES = read_policies(Path(__file__).parents[2] / "configs" / "policies.yaml")
ADDRESS = "12 Example Street, Springfield"


@pytest.fixture
def shop_url(sqlite_shop: Path, tmp_path: Path) -> str:
    """SQLite alone: what differs between databases is tested in test_order_changes.py."""
    return f"sqlite:///{shutil.copy(sqlite_shop, tmp_path / 'orders.db')}"


def toolbox_of(book: OrderBook, policies: Policies = POLICIES) -> Toolbox:
    tools = discover("hermes_bot.tools")
    shop = Shop(book=book, policies=policies, clock=lambda: NOON)
    return Toolbox(tools, allowed={"order": [each.name for each in tools]}, services={"shop": shop})


@pytest.fixture
def toolbox(book: OrderBook) -> Toolbox:
    return toolbox_of(book)


def caller(customer: Customer | None = EMMA, language: str = "en") -> Caller:
    return Caller(customer=customer, agent="order", ticket_id="T-1", user="U0EMMA", language=language)


async def result(toolbox: Toolbox, name: str, arguments: dict[str, Any], key: str = "K-1") -> dict[str, Any]:
    outcome = await toolbox.call(name, arguments, caller(), key=key)
    assert isinstance(outcome, Done), outcome
    return outcome.result


async def ship(database: Database, order_id: str) -> None:
    statement = update(orders).where(orders.c.id == order_id).values(status="shipped")
    await database.run(lambda connection: connection.execute(statement).close())


@pytest.mark.parametrize(
    "order_id, cancel, address, back",
    [
        ("10587", "allowed", "allowed", "state_not_covered"),
        ("10002", "state_not_covered", "state_not_covered", "state_not_covered"),
        ("10001", "state_not_covered", "state_not_covered", "allowed"),
        ("10003", "state_not_covered", "state_not_covered", "window_closed"),
        ("10004", "already_cancelled", "already_cancelled", "already_cancelled"),
    ],
)
async def test_options_say_what_the_policy_allows(
    toolbox: Toolbox, order_id: str, cancel: str, address: str, back: str
) -> None:
    options = await result(toolbox, "order_options", {"order_id": order_id})

    assert (options["cancel"], options["address"], options["return"]) == (cancel, address, back)


async def test_options_tell_of_an_open_return_and_until_when_it_must_be_sent(toolbox: Toolbox) -> None:
    (opened,) = (await result(toolbox, "order_options", {"order_id": "10591"}))["open_returns"]

    assert [item["sku"] for item in opened["items"]] == ["PN-018"]
    assert opened["send_back_by"][:10] == "2026-12-11"


async def test_the_card_of_a_cancellation_says_what_goes_back_and_under_which_policy(toolbox: Toolbox) -> None:
    outcome = await toolbox.call("cancel_order", {"order_id": "#10587", "reason": "too slow"}, caller(), key="K-1")

    assert isinstance(outcome, NeedsApproval)
    assert (outcome.level, outcome.title) == ("L2", "Cancel order 10587 of Emma Fischer")
    assert outcome.arguments == {"order_id": "10587", "reason": "too slow"}
    assert ("Goes back", "€71.50") in outcome.shown
    assert POLICIES.version in dict(outcome.internal)["Policy check"]


async def test_an_approved_cancellation_happens_once(toolbox: Toolbox, book: OrderBook) -> None:
    arguments = {"order_id": "10587", "reason": ""}
    done = [await toolbox.run_approved("cancel_order", arguments, caller(), approval_id="APR-1") for _ in range(2)]

    assert done[0] == done[1]
    assert isinstance(done[0], Done)
    assert (done[0].result["amount_cents"], done[0].result["currency"]) == (7_150, "EUR")
    assert len(await book.refunds(EMMA.id, "10587")) == 1


async def test_an_order_that_was_shipped_meanwhile_is_not_cancelled(
    toolbox: Toolbox, book: OrderBook, database: Database
) -> None:
    await ship(database, "10587")

    ran = await toolbox.run_approved("cancel_order", {"order_id": "10587"}, caller(), approval_id="APR-1")

    assert ran == Refused(code="state_not_covered")
    assert await book.refunds(EMMA.id, "10587") == ()


async def test_a_cancellation_above_the_limit_is_refused(book: OrderBook) -> None:
    small = replace(POLICIES, cancel=replace(POLICIES.cancel, max_cents={"EUR": 7_149}))

    outcome = await toolbox_of(book, small).call("cancel_order", {"order_id": "10587"}, caller(), key="K-1")

    assert outcome == Refused(code="above_limit")


async def test_an_address_is_changed_until_the_order_is_shipped(
    toolbox: Toolbox, book: OrderBook, database: Database
) -> None:
    changed = await result(toolbox, "change_address", {"order_id": "10587", "address": ADDRESS})
    await ship(database, "10587")
    late = await toolbox.call("change_address", {"order_id": "10587", "address": "7 Mill Road"}, caller(), key="K-2")

    order = await book.order(EMMA.id, "10587")
    assert order is not None
    assert changed["address"] == order.address == ADDRESS
    assert late == Refused(code="state_not_covered")


@pytest.mark.parametrize("name", ["order_options", "order_invoice", "cancel_order", "change_address", "open_return"])
async def test_somebody_elses_order_is_out_of_reach(toolbox: Toolbox, book: OrderBook, name: str) -> None:
    arguments = {"order_id": "10594"} | ({"address": ADDRESS} if name == "change_address" else {})

    outcome = await toolbox.call(name, arguments, caller(), key="K-1")

    assert outcome in (Refused(code="not_found"), Done(result={"found": False}))
    theirs = await book.order(LI_NA.id, "10594")
    assert theirs is not None
    assert theirs.address != ADDRESS


async def test_a_return_takes_some_of_the_goods_or_all(toolbox: Toolbox) -> None:
    some = await result(toolbox, "open_return", {"order_id": "10001", "items": ["headphones"]})
    every = await result(toolbox, "open_return", {"order_id": "10590"}, key="K-2")
    none = await toolbox.call("open_return", {"order_id": "10001", "items": ["a lamp"]}, caller(), key="K-3")

    assert [item["sku"] for item in some["items"]] == ["HD-210"]
    assert {item["sku"] for item in every["items"]} == {"LM-045", "BL-150"}
    assert none == Refused(code="item_not_found")


async def test_a_shop_that_keeps_no_changes_leaves_them_to_people(toolbox: Toolbox, database: Database) -> None:
    await database.run(order_changes.drop)

    moved = await toolbox.call("change_address", {"order_id": "10587", "address": ADDRESS}, caller(), key="K-1")
    opened = await toolbox.call("open_return", {"order_id": "10001"}, caller(), key="K-2")

    assert moved == opened == Refused(code="not_supported")


async def test_an_invoice_tells_what_was_bought_and_what_went_back(toolbox: Toolbox) -> None:
    invoice = await result(toolbox, "order_invoice", {"order_id": "10590"})

    assert (invoice["customer"], invoice["refunded_cents"]) == ("Emma Fischer", 2_790)
    assert invoice["order"]["total_cents"] == 7_490
    assert await toolbox.call("order_invoice", {"order_id": "10589"}, caller()) == Refused(code="state_not_covered")


async def test_several_parts_of_an_order_never_exceed_its_total(toolbox: Toolbox, book: OrderBook) -> None:
    order = {"order_id": "10592", "currency": "EUR"}
    for number, cents in enumerate((2_000, 3_000)):
        ran = await toolbox.run_approved(
            "issue_refund", order | {"amount_cents": cents}, caller(), approval_id=f"APR-{number}"
        )
        assert isinstance(ran, Done)
    above = await toolbox.run_approved("issue_refund", order | {"amount_cents": 901}, caller(), approval_id="APR-9")

    assert above == Refused(code="above_total")
    assert sum(refund.amount_cents for refund in await book.refunds(EMMA.id, "10592")) == 5_000


async def test_goods_are_refunded_at_their_price_and_named_on_the_card(toolbox: Toolbox) -> None:
    outcome = await toolbox.call("issue_refund", {"order_id": "10001", "items": ["usb-c charger"]}, caller(), key="K-1")
    unknown = await toolbox.call("issue_refund", {"order_id": "10001", "items": ["a lamp"]}, caller(), key="K-2")

    assert isinstance(outcome, NeedsApproval)
    assert (outcome.arguments["amount_cents"], outcome.arguments["items"]) == (2_290, ["CH-064 x1"])
    assert ("For", "1 × USB-C charger") in outcome.shown
    assert unknown == Refused(code="item_not_found")


async def test_what_became_of_refunds_is_told_for_one_order_or_for_all(toolbox: Toolbox) -> None:
    one = await result(toolbox, "refund_status", {"order_id": "10590"})
    every = await result(toolbox, "list_refunds", {})

    assert [refund["amount_cents"] for refund in one["refunds"]] == [2_790]
    assert [refund["order_id"] for refund in every["refunds"]] == ["10590", "10005"]
    assert every["payout_days"] == 7


async def test_the_rules_are_told_without_a_customer(toolbox: Toolbox) -> None:
    outcome = await toolbox.call("shop_policy", {}, caller(None))

    assert isinstance(outcome, Done)
    assert outcome.result["returns"]["window_days"] == 30
    assert outcome.result["cancel"]["states"] == ["placed", "paid", "packed"]
    assert outcome.result["version"] == POLICIES.version


async def test_the_policy_counts_from_when_the_customer_asked(book: OrderBook) -> None:
    later = Shop(book=book, policies=POLICIES, clock=lambda: NOON + timedelta(days=40))
    tools = discover("hermes_bot.tools")
    toolbox = Toolbox(tools, allowed={"order": ["order_options"]}, services={"shop": later})
    who = replace(caller(), asked_at=NOON)

    outcome = await toolbox.call("order_options", {"order_id": "10001"}, who)

    assert isinstance(outcome, Done)
    assert outcome.result["return"] == "allowed"
