"""A database's address and its errors never show a password or what a customer wrote."""

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from hermes_bot.errors import StoreError
from hermes_bot.store.database import Database

UNUSABLE = [
    "postgres://hermes:s3cret@db.example/hermes",
    "postgresql+nodriver://hermes:s3@cret@db.example/hermes",
    "postgresql://hermes:s3cret@db.example:port/hermes",
    "hermes:s3cret@db.example/hermes",
    "nosuch://db.example/hermes?password=s3cret",
]


@pytest.mark.parametrize("url", UNUSABLE)
async def test_an_address_that_cannot_be_used_is_told_without_its_password(url: str) -> None:
    with pytest.raises(StoreError, match=r"db\.example") as told:
        await Database(url).open()

    assert "s3" not in str(told.value)
    assert "cret" not in str(told.value)


async def test_an_error_does_not_hold_the_values_of_its_row() -> None:
    database = Database("sqlite://")
    await database.open()
    insert = text("INSERT INTO words VALUES (:said)")
    try:
        await database.run(lambda connection: connection.execute(text("CREATE TABLE words (said TEXT UNIQUE)")))
        await database.run(lambda connection: connection.execute(insert, {"said": "my secret wish"}))
        with pytest.raises(IntegrityError) as told:
            await database.run(lambda connection: connection.execute(insert, {"said": "my secret wish"}))
    finally:
        await database.close()

    assert "my secret wish" not in str(told.value)
