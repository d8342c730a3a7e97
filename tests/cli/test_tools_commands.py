"""`hermes-bot tools` as an engineer types it, on the demo shop."""

from __future__ import annotations

import json
import sqlite3
import sys
from pathlib import Path

import pytest

from tests.cli.test_commands import read, told

EMMA = ("--as-customer", "emma.fischer@example.com")


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HERMES_ENCODER__PROFILE", "light")


def test_a_tool_is_shown_with_what_it_takes(capsys: pytest.CaptureFixture[str]) -> None:
    shown = read(capsys, "tools", "show", "issue_refund")

    assert (shown["level"], shown["agents"], shown["recognises_a_repeat"]) == ("L2", ["refund"], True)
    assert "order_id" in shown["parameters"]["properties"]
    assert "order_id" in told(capsys, "tools", "show", "issue_refund")


def test_a_reading_call_reads_what_that_customer_may_read(capsys: pytest.CaptureFixture[str]) -> None:
    own = read(capsys, "tools", "call", "find_order", '{"order_id": "＃１０００２"}', *EMMA)
    other = read(capsys, "tools", "call", "find_order", '{"order_id": "10007"}', *EMMA)

    assert own["result"]["order"]["id"] == "10002"
    assert other["result"] == {"found": False}


def test_without_a_customer_nobodys_data_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    told_ = told(capsys, "tools", "call", "find_order", '{"order_id": "10002"}', code=1)

    assert "unknown_customer" in told_


def test_a_privileged_call_does_not_run_and_shows_its_card(capsys: pytest.CaptureFixture[str]) -> None:
    call = ("tools", "call", "issue_refund", '{"order_id": "10001"}', *EMMA)
    shown = read(capsys, *call)

    assert (shown["outcome"], shown["level"]) == ("needs_approval", "L2")
    assert "Emma Fischer" in json.dumps(shown["shown"])
    assert "was not run" in told(capsys, *call)
    eligible = read(capsys, "tools", "call", "refund_eligibility", '{"order_id": "10001"}', *EMMA)
    assert eligible["result"]["refunded_cents"] == 0


def test_an_agent_calls_within_its_own_list(capsys: pytest.CaptureFixture[str]) -> None:
    call = ("tools", "call", "issue_refund", '{"order_id": "10001"}', *EMMA, "--agent", "order")

    assert "not_allowed" in told(capsys, *call, code=1)


@pytest.mark.parametrize(
    "arguments, words, code",
    [
        (("no_such_tool", "{}"), "there is no tool 'no_such_tool'", 1),
        (("find_order", "{}"), "order_id: is missing", 2),
        (("find_order", "{bad"), "not a JSON object", 2),
        (("find_order", "{}", "--as-customer", "nobody@example.com"), "no customer of the shop", 1),
    ],
)
def test_what_cannot_be_called_is_told(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str, code: int
) -> None:
    assert words in told(capsys, "tools", "call", *arguments, code=code)


def test_a_bad_file_of_connectors_is_refused_with_file_line_and_key(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "connectors.yaml"
    file.write_text(
        "sql:\n  shop:\n    url: sqlite:///shop.db\n    operations:\n      look:\n        description: Look.\n"
        "        level: L0\n        statement: SELECT 1 WHERE 'x' = :word\n"
    )
    monkeypatch.setenv("HERMES_TOOLS__CONNECTORS", str(file))

    shown = told(capsys, "tools", "list", code=2)
    assert "connectors.yaml:8: sql.shop.operations.look.statement: :word is not among the parameters" in shown
    assert "does not bind :customer_email" in shown


def test_a_server_that_is_down_is_told_and_the_other_tools_are_there(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "connectors.yaml"
    file.write_text(f"mcp:\n  docs:\n    command: [{sys.executable}, -c, 'raise SystemExit(1)']\n")
    monkeypatch.setenv("HERMES_TOOLS__CONNECTORS", str(file))

    assert "MCP server docs: it does not answer" in told_err(capsys, "tools", "list")
    assert "does not answer" in told(capsys, "tools", "call", "docs__search", "{}", code=1)


def told_err(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return what the command said on stderr."""
    from hermes_bot.cli.main import main

    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main([*arguments])
    assert not ended.value.code
    return capsys.readouterr().err


def test_doctor_tells_which_system_does_not_answer(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sqlite3.connect(tmp_path / "erp.db").close()
    statement = "operations: {x: {description: x, level: L0, about: anyone, statement: SELECT 1}}"
    file = tmp_path / "connectors.yaml"
    file.write_text(
        f"sql:\n  erp: {{url: 'sqlite:///{tmp_path}/erp.db', {statement}}}\n"
        f"  gone: {{url: 'sqlite:///{tmp_path}/gone.db', {statement}}}\n"
        f"mcp:\n  docs:\n    command: [{sys.executable}, -c, 'raise SystemExit(1)']\n"
    )
    monkeypatch.setenv("HERMES_TOOLS__CONNECTORS", str(file))
    monkeypatch.setenv("HERMES_HTTP__PORT", "0")

    told_ = json.loads(told(capsys, "doctor", "--json", code=1))
    found = {each["check"]: each["level"] for each in told_["findings"]}
    assert (found["sql.erp"], found["sql.gone"], found["mcp.docs"]) == ("ok", "problem", "problem")
    assert not (tmp_path / "gone.db").exists()
