"""The table of what people chose for themselves."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, String, Table, false

from hermes_bot.store.columns import metadata

preferences = Table(
    "preferences",
    metadata,
    Column("team", String(40), primary_key=True),
    Column("user", String(40), primary_key=True),
    Column("language", String(16), nullable=False, default="", server_default=""),
    Column("home", Boolean, nullable=False, default=False, server_default=false()),
)
