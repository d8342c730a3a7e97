"""`hermes-bot memory`: shown, exported, forgotten."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from hermes_bot import settings
from hermes_bot.app.build import opened
from hermes_bot.memory.fact import FactKind
from hermes_bot.memory.memory import Memory
from hermes_bot.memory.owner import PersonOwner, Said
from hermes_bot.messages.message import utc_now
from tests.cli.test_commands import read, told
from tests.memory.kit import WordEncoder

EMMA, LI = PersonOwner("T1", "U0EMMA"), PersonOwner("T1", "U0LI")


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command works in an empty folder, with the packaged settings."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HERMES_ENCODER__PROFILE", "light")


async def keep(*people: PersonOwner) -> None:
    async with opened(settings.load(None, {}), utc_now) as stores:
        memory = Memory(stores.database, WordEncoder(), clock=utc_now)
        for person in people:
            for number, text in enumerate(("Ship with DHL.", "Ship with UPS.")):
                source = Said(by=person, ticket_id="T-1", message_id=f"M{number}")
                await memory.remember(person, text, kind=FactKind.PREFERENCE, source=source, subject="carrier")


def test_what_is_known_of_a_person_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    asyncio.run(keep(EMMA))

    assert [each["text"] for each in read(capsys, "memory", "show", "U0EMMA")] == ["Ship with UPS."]
    assert [each["text"] for each in read(capsys, "memory", "show", "T1:U0EMMA", "--history")] == [
        "Ship with UPS.",
        "Ship with DHL.",
    ]
    out = told(capsys, "memory", "show", "U0EMMA")
    assert "Ship with UPS." in out
    assert "T-1, the customer" in out


def test_of_somebody_unknown_nothing_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    nothing = "Nothing is known of U0NOBODY."
    assert told(capsys, "memory", "show", "U0NOBODY").strip() == nothing
    assert told(capsys, "memory", "export", "U0NOBODY", code=1).strip() == nothing
    assert told(capsys, "memory", "forget", "U0NOBODY", code=1).strip() == nothing


def test_everything_that_is_kept_of_a_person_is_exported(capsys: pytest.CaptureFixture[str]) -> None:
    asyncio.run(keep(EMMA, LI))

    kept = json.loads(told(capsys, "memory", "export", "U0EMMA"))
    assert (kept["person"], len(kept["facts"])) == ({"team": "T1", "user": "U0EMMA"}, 2)
    assert set(kept) == {"person", "facts", "tickets", "messages", "in_threads"}


def test_a_person_is_forgotten_and_no_one_else(capsys: pytest.CaptureFixture[str]) -> None:
    asyncio.run(keep(EMMA, LI))

    forgotten = read(capsys, "memory", "forget", "U0EMMA")
    assert forgotten == {"person": {"team": "T1", "user": "U0EMMA"}, "counts": {"facts": 2}, "left": 0}
    assert read(capsys, "memory", "show", "T1:U0EMMA") == []
    assert len(read(capsys, "memory", "show", "U0LI", "--history")) == 2


def test_an_id_that_two_teams_have_must_be_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    asyncio.run(keep(EMMA, PersonOwner("T2", "U0EMMA")))

    error = told(capsys, "memory", "show", "U0EMMA", code=2)
    assert all(name in error for name in ("T1:U0EMMA", "T2:U0EMMA"))
