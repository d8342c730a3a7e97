"""A shop with a schema unlike ours: the customers and orders of the shared retail data, loaded into PostgreSQL."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, create_engine, text

TABLES = (
    "CREATE SCHEMA crm",
    "CREATE TABLE crm.people (person_no text PRIMARY KEY, mail text UNIQUE NOT NULL, given text, family text)",
    "CREATE TABLE crm.sales"
    " (sale_no text PRIMARY KEY, buyer text REFERENCES crm.people, phase text, paid numeric(12, 2))",
    "CREATE TABLE crm.lines (sale_no text REFERENCES crm.sales, position int, label text, amount numeric(12, 2))",
    "CREATE TABLE crm.remarks"
    " (remark_no serial PRIMARY KEY, sale_no text REFERENCES crm.sales, body text, once text UNIQUE)",
    "CREATE TABLE crm.calls (sale_no text, body text)",
)

CONNECTORS = """
sql:
  erp:
    url_from: ERP_URL
    operations:
      order_state:
        description: The state of one of the customer's own orders. No row where it is not theirs.
        level: L0
        statement: |
          SELECT s.sale_no, s.phase, s.paid, count(l.position) AS lines FROM crm.sales s
          JOIN crm.people p ON p.person_no = s.buyer LEFT JOIN crm.lines l USING (sale_no)
          WHERE s.sale_no = :order_number AND lower(p.mail) = lower(:customer_email)
          GROUP BY s.sale_no
        parameters:
          order_number: { description: "The number of the order, such as '#W0000000'." }
        columns:
          order: sale_no
          state: phase
          total_cents: { column: paid, unit: cents }
          items: lines
      my_orders:
        description: The customer's own orders.
        level: L0
        statement: |
          SELECT s.sale_no, s.phase FROM crm.sales s JOIN crm.people p ON p.person_no = s.buyer
          WHERE lower(p.mail) = lower(:customer_email) AND (CAST(:state AS text) IS NULL OR s.phase = :state)
          ORDER BY s.sale_no
        parameters:
          state: { required: false, options: [pending, processed, delivered, cancelled] }
        row_limit: 2
      sneaky:
        description: Claims to read, and writes.
        level: L0
        statement: |
          WITH gone AS (DELETE FROM crm.remarks RETURNING 1) SELECT count(*) AS n FROM gone WHERE :customer_email <> ''
      add_remark:
        description: Add a remark to one of the customer's own orders.
        level: L1
        statement: |
          INSERT INTO crm.remarks (sale_no, body, once)
          SELECT s.sale_no, :remark, :key FROM crm.sales s JOIN crm.people p ON p.person_no = s.buyer
          WHERE s.sale_no = :order_number AND lower(p.mail) = lower(:customer_email)
          ON CONFLICT (once) DO NOTHING
        parameters:
          order_number: { description: "The number of the order, such as '#W0000000'." }
          remark: { max_length: 100 }
      log_call:
        description: Note a call, which the database does not recognise again.
        level: L1
        about: anyone
        statement: INSERT INTO crm.calls (sale_no, body) VALUES (:order_number, 'called')
        parameters:
          order_number: { description: "The number of the order, such as '#W0000000'." }
      close_all:
        description: Close orders.
        level: L1
        statement: |
          UPDATE crm.sales SET phase = 'closed'
          WHERE buyer IN (SELECT person_no FROM crm.people WHERE mail = :customer_email)
      cancel:
        description: Cancel an order of the customer.
        level: L2
        title: "Cancel order {order_number}"
        statement: |
          UPDATE crm.sales SET phase = 'cancelled' WHERE sale_no = :order_number AND phase = 'pending'
          AND buyer IN (SELECT person_no FROM crm.people WHERE mail = :customer_email) RETURNING sale_no, phase
        parameters:
          order_number: { description: "The number of the order, such as '#W0000000'." }
"""


def load(url: str, data: Path) -> dict[str, Any]:
    """Fill the database and return the data."""
    shop: dict[str, Any] = json.loads((data / "taubench" / "db.json").read_text())
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        for statement in TABLES:
            connection.execute(text(statement))
        _fill(connection, shop)
    engine.dispose()
    return shop


def rows(url: str, query: str) -> list[tuple[Any, ...]]:
    """Return what a query of the test's own finds."""
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.connect() as connection:
        found = [tuple(row) for row in connection.execute(text(query))]
    engine.dispose()
    return found


def _fill(connection: Connection, shop: dict[str, Any]) -> None:
    people = [
        {"no": key, "mail": user["email"], "given": user["name"]["first_name"], "family": user["name"]["last_name"]}
        for key, user in shop["users"].items()
    ]
    sales = [
        {"no": key, "buyer": order["user_id"], "phase": order["status"].split(" ")[0], "paid": _paid(order)}
        for key, order in shop["orders"].items()
    ]
    lines = [
        {"no": key, "position": number, "label": item["name"], "amount": str(item["price"])}
        for key, order in shop["orders"].items()
        for number, item in enumerate(order["items"])
    ]
    connection.execute(text("INSERT INTO crm.people VALUES (:no, :mail, :given, :family)"), people)
    connection.execute(text("INSERT INTO crm.sales VALUES (:no, :buyer, :phase, :paid)"), sales)
    connection.execute(text("INSERT INTO crm.lines VALUES (:no, :position, :label, :amount)"), lines)


def _paid(order: dict[str, Any]) -> str:
    return str(sum(round(item["price"] * 100) for item in order["items"]) / 100)
