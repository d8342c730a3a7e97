"""`audit verify` and `audit export`, on a store that approvals were decided in."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hermes_bot import settings
from hermes_bot.app.build import opened
from hermes_bot.cli.main import main
from tests.approvals.kit import EMMA, OLIVIA, OMAR, ask

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HERMES_ENCODER__PROFILE", "light")


def told(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main([*arguments])
    out = capsys.readouterr()
    assert (ended.value.code or 0) == code, out.err
    return out.out


def read(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> Any:
    return json.loads(told(capsys, *arguments, "--json", code=code))


async def decide() -> str:
    async with opened(settings.load(None, {}), lambda: NOW) as stores:
        request = await ask(stores.approvals, level="L3")
        for user in (OMAR, OLIVIA):
            await stores.approvals.approve(request.id, by=user, message_id=f"MSG-{user}", seen=request.shown_hash)
        await ask(stores.approvals, key="another", ticket_id="T-2", level="L3")
        return request.id


def change(tmp_path: Path, statement: str) -> None:
    with closing(sqlite3.connect(tmp_path / "data" / "hermes.db")) as store, store:
        store.executescript(f"DROP TRIGGER audit_no_update; DROP TRIGGER audit_no_delete; {statement}")


def test_an_audit_that_is_whole_is_said_to_be(capsys: pytest.CaptureFixture[str]) -> None:
    assert read(capsys, "audit", "verify")["whole"]
    asyncio.run(decide())

    assert "The audit is whole: 4 rows." in told(capsys, "audit", "verify")


def test_erased_words_leave_it_whole(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    asyncio.run(decide())
    with closing(sqlite3.connect(tmp_path / "data" / "hermes.db")) as store, store:
        store.execute("UPDATE audit_texts SET text = '', salt = '' WHERE owner = ?", [EMMA])

    found = read(capsys, "audit", "verify")
    assert (found["whole"], found["erased"] > 0) == (True, True)


@pytest.mark.parametrize(
    "statement, place",
    [
        ("UPDATE audit SET actor = 'U0EVIL' WHERE number = 3", "row 3"),
        ("DELETE FROM audit WHERE number = 2", "row 2 is missing"),
        ("DELETE FROM audit WHERE number >= 3", "does not say so"),
    ],
)
def test_a_broken_audit_ends_with_one_and_says_where(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, statement: str, place: str
) -> None:
    asyncio.run(decide())
    change(tmp_path, statement)

    assert place in told(capsys, "audit", "verify", code=1)
    assert not read(capsys, "audit", "verify", code=1)["whole"]


def test_the_audit_is_printed_oldest_first_and_by_ticket_or_approval(capsys: pytest.CaptureFixture[str]) -> None:
    approval = asyncio.run(decide())

    rows = read(capsys, "audit", "export")
    assert [row["action"] for row in rows] == ["requested", "counted", "approved", "requested"]
    assert [row["actor"] for row in rows] == [EMMA, OMAR, OLIVIA, EMMA]
    assert rows[0]["texts"]["arguments.reason"] == "worn & torn"
    assert [row["ticket_id"] for row in read(capsys, "audit", "export", "--ticket", "T-2")] == ["T-2"]
    assert len(read(capsys, "audit", "export", "--approval", approval)) == 3
    assert "worn & torn" in told(capsys, "audit", "export")


def test_votes_stand_in_the_list_of_approvals(capsys: pytest.CaptureFixture[str]) -> None:
    asyncio.run(decide())

    assert {row.split("\t")[2] for row in told(capsys, "approvals", "list").splitlines()[1:]} == {"2/2", "0/2"}
