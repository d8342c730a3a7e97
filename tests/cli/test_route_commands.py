"""`routes check`, `diff`, `suggest` and `log` as a person calls them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from tests.cli.test_commands import open_a_ticket, read, told

ROUTES = """\
routes:
  - name: order # the parcels
    type: ticket.order
    agent: order
    keywords: {any: [parcel]}
  - name: refund
    type: ticket.refund
    agent: refund
    keywords: {any: [money]}
  - name: other
    type: ticket.unknown
    agent: unknown
    nobody: true
    keywords: {any: [weather]}
"""
TWINS = "    utterances: {en: [where is it, when does it come]}\n"


@pytest.fixture(autouse=True)
def routes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HERMES_ENCODER__PROFILE", "light")
    file = tmp_path / "routing.yaml"
    file.write_text(ROUTES, encoding="utf-8")
    monkeypatch.setenv("HERMES_ROUTING__FILE", str(file))
    return file


def test_check_is_quiet_about_a_good_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, "routes", "check") == "Nothing found.\n"


def test_check_tells_what_it_finds_and_ends_with_one(capsys: pytest.CaptureFixture[str], routes: Path) -> None:
    text = ROUTES.replace("[money]", "[parcel]").replace("    keywords: {any: [weather]}\n", TWINS)
    routes.write_text(text.replace("    keywords: {any: [parcel]}\n", f"    keywords: {{any: [parcel]}}\n{TWINS}", 1))

    found = json.loads(told(capsys, "routes", "check", "--json", code=1))

    assert {each["kind"] for each in found} == {"unreachable-rule", "near-duplicate", "too-few-examples"}
    assert "unreachable-rule" in told(capsys, "routes", "check", code=1)


def test_diff_shows_what_goes_elsewhere(capsys: pytest.CaptureFixture[str], routes: Path, tmp_path: Path) -> None:
    new, rows = tmp_path / "new.yaml", tmp_path / "rows.jsonl"
    new.write_text(ROUTES.replace("[money]", "[money, refund]"), encoding="utf-8")
    rows.write_text('{"text": "a refund please", "label": "refund"}\n{"text": "my parcel"}\n', encoding="utf-8")

    shown = told(capsys, "routes", "diff", str(routes), str(new), "--on", str(rows))
    result = read(capsys, "routes", "diff", str(routes), str(new), "--on", str(rows))

    assert "a refund please\tother\trefund\tkeyword refund\tbetter" in shown
    assert "1 of 2 texts go elsewhere." in shown
    assert (result["n"], result["changed"], result["right_before"], result["right_after"]) == (2, 1, 0, 1)
    assert result["changes"][0]["new"]["matched"] == "refund"


def test_diff_looks_at_past_tickets(capsys: pytest.CaptureFixture[str], routes: Path, tmp_path: Path) -> None:
    asyncio.run(open_a_ticket())
    new = tmp_path / "new.yaml"
    new.write_text(ROUTES.replace("[parcel]", "[parcel, where is it]"), encoding="utf-8")

    result = read(capsys, "routes", "diff", str(routes), str(new), "--tickets")

    assert [(each["source"], each["new"]["route"]) for each in result["changes"]] == [("T-1", "order")]


@pytest.mark.parametrize("more", [(), ("--tickets", "--on", "rows.jsonl")])
def test_diff_wants_one_kind_of_texts(capsys: pytest.CaptureFixture[str], routes: Path, more: tuple[str, ...]) -> None:
    assert "--tickets" in told(capsys, "routes", "diff", str(routes), str(routes), *more, code=2)


def test_a_suggestion_is_made_listed_accepted_and_logged(capsys: pytest.CaptureFixture[str], routes: Path) -> None:
    asyncio.run(open_a_ticket())

    made = read(capsys, "routes", "suggest", "--ticket", "T-1", "--route", "refund", "--by", "ada")
    listed = read(capsys, "routes", "suggest", "list")
    shown = told(capsys, "routes", "suggest", "show", "P-1")
    accepted = told(capsys, "routes", "suggest", "accept", "P-1", "--yes", "--by", "ada")
    changes = read(capsys, "routes", "log")
    log = told(capsys, "routes", "log")

    assert made["utterance"] == "Where is it?"
    assert [each["id"] for each in listed] == ["P-1"]
    assert "+        - Where is it?" in shown
    assert accepted == "P-1 is accepted.\n"
    assert (changes[0]["by"], changes[0]["proposal"]) == ("ada", "P-1")
    assert "+ - Where is it?\t" in log
    assert "name: order # the parcels" in routes.read_text(encoding="utf-8")
    assert "- Where is it?" in routes.read_text(encoding="utf-8")
    assert read(capsys, "routes", "suggest", "list") == []
    assert len(read(capsys, "routes", "suggest", "list", "--all")) == 1


def test_a_declined_suggestion_cannot_be_accepted(capsys: pytest.CaptureFixture[str], routes: Path) -> None:
    asyncio.run(open_a_ticket())
    told(capsys, "routes", "suggest", "--ticket", "T-1", "--route", "refund")
    told(capsys, "routes", "suggest", "decline", "P-1")

    assert "already declined" in told(capsys, "routes", "suggest", "accept", "P-1", "--yes", code=1)
    assert routes.read_text(encoding="utf-8") == ROUTES


def test_wrong_use_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert "--ticket and --route" in told(capsys, "routes", "suggest", code=2)
    assert "P-7" in told(capsys, "routes", "suggest", "show", "seven", code=1)
