from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import text

from hermes_bot.errors import StoreError, TransientError
from hermes_bot.store import schema
from hermes_bot.store.database import Database
from hermes_bot.store.schema import migrate
from hermes_bot.store.tables import metadata

VERSIONS = Path(schema.__file__).parent / "migrations" / "versions"


async def test_the_migrations_build_exactly_the_tables_that_the_code_uses(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path}/hermes.db")
    await database.open()
    await migrate(database)

    differences = await database.run(
        lambda connection: compare_metadata(MigrationContext.configure(connection), metadata)
    )
    await database.close()
    assert differences == []


async def test_migrating_twice_changes_nothing(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path}/hermes.db")
    await database.open()
    await migrate(database)
    await migrate(database)

    version = await database.run(lambda connection: connection.execute(text("SELECT * FROM alembic_version")).all())
    await database.close()
    newest = max(file.name[:4] for file in VERSIONS.glob("0*.py"))
    assert version == [(newest,)]


async def test_a_database_of_a_newer_hermes_is_refused_and_left_alone(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path}/hermes.db")
    await database.open()
    await migrate(database)
    await database.run(lambda connection: connection.execute(text("UPDATE alembic_version SET version_num = '9999'")))

    with pytest.raises(StoreError, match="newer Hermes"):
        await migrate(database)
    await database.close()


async def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("not a folder")

    with pytest.raises(StoreError, match=r"data folder .*file.*data\.path"):
        await Database(f"sqlite:///{blocker}/inside/hermes.db").open()


async def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "hermes.db"
    file.write_bytes(b"precious words, no database" * 100)

    with pytest.raises(StoreError, match="cannot use the database"):
        await Database(f"sqlite:///{file}").open()
    assert file.read_bytes() == b"precious words, no database" * 100


async def test_a_password_never_stands_in_an_error() -> None:
    database = Database("postgresql://hermes:hunter2@127.0.0.1:1/none")

    with pytest.raises(StoreError) as caught:
        await database.open()
    assert "hunter2" not in str(caught.value)
    assert "127.0.0.1" in str(caught.value)


async def test_an_error_of_the_database_carries_no_parameters(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path}/hermes.db")
    await database.open()

    with pytest.raises(TransientError) as caught:
        await database.run(
            lambda connection: connection.execute(text("SELECT :secret FROM none"), {"secret": "s3cret"})
        )
    await database.close()
    assert "s3cret" not in str(caught.value)
