"""Named operations on a database whose schema is not ours, on a real PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hermes_bot.errors import SettingsError
from hermes_bot.settings.connectors import read_connections
from hermes_bot.store.database import Database
from hermes_bot.store.schema import migrate
from hermes_bot.tools.call_log import CallLog
from hermes_bot.tools.connectors.sql import sql_sources, tools_of
from hermes_bot.tools.order import Customer
from hermes_bot.tools.outcome import Caller, Done, Invalid, NeedsApproval, Refused
from hermes_bot.tools.registry import Tool, ToolUnavailable
from hermes_bot.tools.toolbox import Toolbox
from tests.servers import Postgres
from tests.tools.foreign_shop import CONNECTORS, load, rows

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
pytestmark = pytest.mark.shared


@pytest.fixture(scope="session")
def filled(postgres: Postgres, shared_dir: Path) -> tuple[str, dict[str, Any]]:
    url = postgres.new_database()
    return url, load(url, shared_dir / "data")


@pytest.fixture
def shop(filled: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return filled[1]


@pytest.fixture
def erp(postgres: Postgres, filled: tuple[str, dict[str, Any]]) -> str:
    """The address of a database of the test's own."""
    return postgres.new_database(like=filled[0])


@pytest.fixture
async def toolbox(erp: str, tmp_path: Path) -> AsyncIterator[Toolbox]:
    file = tmp_path / "connectors.yaml"
    file.write_text(CONNECTORS)
    connections = read_connections(file, {"ERP_URL": erp})
    sources = sql_sources(connections, clock=lambda: NOW)
    store = Database(f"sqlite:///{tmp_path}/hermes.db")
    await store.open()
    await migrate(store)
    yield boxed(tools_of(sources, connections), CallLog(store, clock=lambda: NOW))
    for source in sources:
        await source.close()
    await store.close()


def boxed(tools: tuple[Tool, ...], calls: CallLog | None = None) -> Toolbox:
    names = [tool.name for tool in tools]
    return Toolbox(tools, allowed={"order": names}, services={}, calls=calls, timeout_s=30)


def caller(user: dict[str, Any] | None) -> Caller:
    customer = user and Customer(id=user["user_id"], email=user["email"].upper(), name="Somebody", locale="en")
    return Caller(customer=customer or None, agent="order", ticket_id="T-1", user="U1", language="en")


def owner_of(shop: dict[str, Any], order_id: str) -> dict[str, Any]:
    user: dict[str, Any] = shop["users"][shop["orders"][order_id]["user_id"]]
    return user


async def test_an_operation_reads_the_callers_own_order_with_its_columns_mapped(
    toolbox: Toolbox, shop: dict[str, Any]
) -> None:
    order = shop["orders"]["#W2611340"]
    outcome = await toolbox.call(
        "erp__order_state", {"order_number": "ｗ２６１１３４０"}, caller(owner_of(shop, "#W2611340"))
    )

    cents = sum(round(item["price"] * 100) for item in order["items"])
    row = {"order": "#W2611340", "state": order["status"], "total_cents": cents, "items": len(order["items"])}
    assert outcome == Done(result={"rows": [row], "more": False})


async def test_an_order_of_somebody_else_is_not_found_and_nobody_can_be_named(
    toolbox: Toolbox, shop: dict[str, Any]
) -> None:
    other = next(each for each in shop["users"].values() if "#W2611340" not in each["orders"])
    email = owner_of(shop, "#W2611340")["email"]

    foreign = await toolbox.call("erp__order_state", {"order_number": "#W2611340"}, caller(other))
    named = await toolbox.call(
        "erp__order_state", {"order_number": "#W2611340", "customer_email": email}, caller(other)
    )
    injected = await toolbox.call("erp__order_state", {"order_number": "#W2611340' OR '1'='1"}, caller(other))
    assert foreign == Done(result={"rows": [], "more": False})
    assert isinstance(named, Invalid)
    assert isinstance(injected, Invalid)


async def test_who_is_no_customer_is_refused(toolbox: Toolbox) -> None:
    assert await toolbox.call("erp__my_orders", {}, caller(None)) == Refused(code="unknown_customer")


async def test_rows_are_limited_and_it_is_said_that_there_are_more(toolbox: Toolbox, shop: dict[str, Any]) -> None:
    user = next(each for each in shop["users"].values() if len(each["orders"]) > 2)
    outcome = await toolbox.call("erp__my_orders", {}, caller(user))

    assert isinstance(outcome, Done)
    assert [row["sale_no"] for row in outcome.result["rows"]] == sorted(user["orders"])[:2]
    assert outcome.result["more"] is True


async def test_an_operation_that_reads_cannot_write(toolbox: Toolbox, shop: dict[str, Any], erp: str) -> None:
    user = owner_of(shop, "#W2611340")
    await toolbox.call("erp__add_remark", {"order_number": "#W2611340", "remark": "kept"}, caller(user), key="K1")

    assert await toolbox.call("erp__sneaky", {}, caller(user)) == Refused(code="statement_failed")
    assert rows(erp, "SELECT body FROM crm.remarks") == [("kept",)]


async def test_a_keyed_write_happens_once_however_often_it_is_sent(
    toolbox: Toolbox, shop: dict[str, Any], erp: str
) -> None:
    user, arguments = owner_of(shop, "#W2611340"), {"order_number": "#W2611340", "remark": "please ring twice"}
    first = await toolbox.call("erp__add_remark", arguments, caller(user), key="MSG-1:order:0")
    again = await toolbox.call("erp__add_remark", arguments, caller(user), key="MSG-1:order:0")

    tool = toolbox.get("erp__add_remark")
    assert tool is not None
    assert tool.takes_key
    assert await boxed((tool,)).call("erp__add_remark", arguments, caller(user), key="MSG-1:order:0") == Done(
        result={"changed": 0}
    )
    assert first == again == Done(result={"changed": 1})
    assert rows(erp, "SELECT body, once FROM crm.remarks") == [("please ring twice", "MSG-1:order:0")]


async def test_a_write_without_a_key_of_its_own_is_held_by_the_record(toolbox: Toolbox, erp: str) -> None:
    for _ in range(3):
        await toolbox.call("erp__log_call", {"order_number": "#W2611340"}, caller(None), key="MSG-1:order:0")

    assert rows(erp, "SELECT count(*) FROM crm.calls") == [(1,)]


async def test_a_write_that_would_change_more_rows_than_allowed_changes_none(
    toolbox: Toolbox, shop: dict[str, Any], erp: str
) -> None:
    user = next(each for each in shop["users"].values() if len(each["orders"]) > 1)
    customer = Customer(id="x", email=user["email"], name="Somebody", locale="en")
    who = Caller(customer=customer, agent="order", ticket_id="T-1", user="U1", language="en")

    assert await toolbox.call("erp__close_all", {}, who, key="K") == Refused(code="too_many_rows")
    assert rows(erp, "SELECT count(*) FROM crm.sales WHERE phase = 'closed'") == [(0,)]


async def test_a_privileged_operation_shows_its_card_and_runs_once_it_is_approved(
    toolbox: Toolbox, shop: dict[str, Any], erp: str
) -> None:
    number = next(key for key, order in shop["orders"].items() if order["status"] == "pending")
    user = owner_of(shop, number)
    who = Caller(
        customer=Customer(id=user["user_id"], email=user["email"], name="Somebody", locale="en"),
        agent="order",
        ticket_id="T-1",
        user="U1",
        language="en",
    )
    asked = await toolbox.call("erp__cancel", {"order_number": number}, who, key="K")

    assert isinstance(asked, NeedsApproval)
    assert (asked.level, asked.title) == ("L2", f"Cancel order {number}")
    assert asked.shown == (("Customer", f"Somebody ({user['email']})"), ("Order number", number))
    done = await toolbox.run_approved("erp__cancel", asked.arguments, who, approval_id="APR-1")
    assert done == Done(result={"changed": 1, "rows": [{"sale_no": number, "phase": "cancelled"}], "more": False})
    assert await toolbox.run_approved("erp__cancel", asked.arguments, who, approval_id="APR-1") == done


async def test_a_database_that_is_away_is_transient_and_nothing_was_sent(tmp_path: Path) -> None:
    file = tmp_path / "connectors.yaml"
    file.write_text(CONNECTORS)
    connections = read_connections(file, {"ERP_URL": "postgresql://hermes@127.0.0.1:9/nowhere"})
    (source,) = sql_sources(connections, clock=lambda: NOW)
    toolbox = boxed(source.tools(connections))
    try:
        with pytest.raises(ToolUnavailable):
            await toolbox.call("erp__log_call", {"order_number": "#W2611340"}, caller(None), key="K")
    finally:
        await source.close()


OPERATION = """
sql:
  erp:
    url: sqlite:///erp.db
    operations:
      look:
        description: Look.
        level: {level}
        about: {about}
        statement: {statement}
        parameters: {parameters}
"""


@pytest.mark.parametrize(
    "changes, line, words",
    [
        ({"statement": "SELECT :word"}, 10, ":word is not among the parameters"),
        ({"statement": "SELECT 1", "parameters": "{word: {}}"}, 11, "the statement does not use :word"),
        ({"statement": "DELETE FROM a"}, 10, "begins with SELECT"),
        ({"statement": "SELECT 1; DELETE FROM a"}, 10, "more than one statement"),
        ({"statement": "SELECT 1", "about": "customer"}, 10, "bind :customer_email or :customer_id"),
        ({"statement": "SELECT :customer_email"}, 9, "about: customer"),
        ({"statement": "SELECT :key", "parameters": "{key: {}}"}, 11, "comes from Hermes"),
    ],
)
def test_an_operation_that_cannot_be_is_refused_with_its_place(
    tmp_path: Path, changes: dict[str, str], line: int, words: str
) -> None:
    values = {"level": "L0", "about": "anyone", "parameters": "{}"} | changes
    file = tmp_path / "connectors.yaml"
    file.write_text(OPERATION.format(**values))

    with pytest.raises(SettingsError, match=words) as told:
        sql_sources(read_connections(file, {}), clock=lambda: NOW)
    assert (told.value.file, told.value.line) == (str(file), line)


LOOK = "operations: {x: {description: x, level: L0, statement: x}}"


@pytest.mark.parametrize(
    "text, words",
    [
        (f"sql: {{erp: {{url: 'postgresql://a:b@c/d', {LOOK}}}}}", "holds a password"),
        (f"sql: {{erp: {{url_from: NO_SUCH, {LOOK}}}}}", "NO_SUCH is not set"),
        ("sql: {erp: {url: 'sqlite:///x', operations: {}}}", "at least 1 item"),
        ("mcp: {erp: {}}", "give command"),
        ("mcp: {erp: {command: [x], levls: {}}}", "did you mean 'mcp.erp.levels'"),
        (f"mcp: {{erp: {{command: [x]}}}}\nsql: {{erp: {{url: 'sqlite:///x', {LOOK}}}}}", "has the same name"),
    ],
)
def test_a_bad_file_is_refused_with_what_is_wrong(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "connectors.yaml"
    file.write_text(text)

    with pytest.raises(SettingsError, match=words) as told:
        read_connections(file, {})
    assert str(told.value).startswith(f"{file}:")
