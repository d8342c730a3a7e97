"""Brings Hermes' own schema up to date, and refuses a database that a newer Hermes has written."""

from __future__ import annotations

import importlib.resources

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from hermes_bot.errors import StoreError
from hermes_bot.store.database import Database

MIGRATION_LOCK = 72_616_773  # any number, the same for every Hermes: one process migrates at a time


async def migrate(database: Database) -> None:
    """Upgrade to the newest revision; raise StoreError when the database is newer than this program."""
    config = _config()

    def upgrade(connection: Connection) -> None:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": MIGRATION_LOCK})
        _refuse_newer(connection, ScriptDirectory.from_config(config), database.shown_url)
        config.attributes["connection"] = connection
        command.upgrade(config, "head")

    await database.run(upgrade)


async def revisions(database: Database) -> tuple[str, str]:
    """Return the revision that the database has (empty for none), and the newest; change nothing.

    Raise StoreError when the database is newer than this program.
    """
    scripts = ScriptDirectory.from_config(_config())

    def look(connection: Connection) -> str:
        _refuse_newer(connection, scripts, database.shown_url)
        return MigrationContext.configure(connection).get_current_revision() or ""

    return await database.run(look), scripts.get_current_head() or ""


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(importlib.resources.files("hermes_bot.store") / "migrations"))
    config.set_main_option("path_separator", "os")
    return config


def _refuse_newer(connection: Connection, scripts: ScriptDirectory, url: str) -> None:
    current = MigrationContext.configure(connection).get_current_revision()
    known = {script.revision for script in scripts.walk_revisions()}
    if current is not None and current not in known:
        raise StoreError(
            f"the database {url} was written by a newer Hermes (schema {current}); upgrade Hermes, or set store.url"
        )
