"""The tables of the order book, under the names that shops rely on.

`order_changes` is not among them: a shop that has it lets Hermes change addresses and open returns, one without it has
these done by people.
"""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Integer, MetaData, String, Table, Text

from hermes_bot.store.tables import UtcDateTime

shop = MetaData()

customers = Table(
    "customers",
    shop,
    Column("id", String(64), primary_key=True),
    Column("email", String(320), nullable=False, index=True),
    Column("name", Text, nullable=False),
    Column("locale", String(16), nullable=False, default="en"),
)

orders = Table(
    "orders",
    shop,
    Column("id", String(64), primary_key=True),
    Column("customer_id", String(64), ForeignKey("customers.id"), nullable=False, index=True),
    Column("status", String(32), nullable=False),
    Column("placed_at", UtcDateTime, nullable=False),
    Column("delivered_at", UtcDateTime),
    Column("total_cents", Integer, nullable=False),
    Column("currency", String(3), nullable=False),
    Column("tracking", Text, nullable=False, default=""),
    Column("address", Text, nullable=False, default=""),
)

order_items = Table(
    "order_items",
    shop,
    Column("order_id", String(64), ForeignKey("orders.id"), primary_key=True),
    Column("sku", String(64), primary_key=True),
    Column("name", Text, nullable=False),
    Column("quantity", Integer, nullable=False),
    Column("price_cents", Integer, nullable=False),
)

refunds = Table(
    "refunds",
    shop,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("order_id", String(64), ForeignKey("orders.id"), nullable=False, index=True),
    Column("amount_cents", Integer, nullable=False),
    Column("reason", Text, nullable=False, default=""),
    Column("status", String(32), nullable=False),
    Column("approval_id", String(64), unique=True),
    Column("created_at", UtcDateTime, nullable=False),
)

extras = MetaData()

order_changes = Table(
    "order_changes",
    extras,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("order_id", String(64), nullable=False, index=True),
    Column("kind", String(32), nullable=False),
    Column("before", Text, nullable=False, default=""),
    Column("after", Text, nullable=False, default=""),
    Column("change_key", String(128), nullable=False, unique=True),
    Column("created_at", UtcDateTime, nullable=False),
)
