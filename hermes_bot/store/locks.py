"""One writer at a time for one name, within a transaction."""

from __future__ import annotations

from sqlalchemy import Connection, text


def lock(connection: Connection, name: str) -> None:
    """Hold the name to the end of the transaction, alone. SQLite has one writer anyway."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 5))"), {"name": name})
