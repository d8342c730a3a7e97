from __future__ import annotations

import errno
import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes_bot.cli.failure import PROBLEM, WRONG_USE, report
from hermes_bot.cli.main import main
from hermes_bot.errors import HermesError, SettingsError, SlackRefused, StoreError
from hermes_bot.observe import configure


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Path]:
    """The log file, with logging set up as `run` does."""
    file = tmp_path / "hermes.log"
    undo = configure(stream=io.StringIO(), file=file)
    yield file
    undo()


@pytest.mark.parametrize(
    "error, code, told",
    [
        (SettingsError("unknown key 'a'", file="f.yaml", line=3), WRONG_USE, "f.yaml:3: unknown key 'a'"),
        (StoreError("hermes.db cannot be written"), PROBLEM, "hermes.db cannot be written"),
        (SlackRefused("auth.test", "invalid_auth"), PROBLEM, "slack: auth.test answered invalid_auth"),
        (ExceptionGroup("g", [ValueError("x"), StoreError("no room")]), PROBLEM, "no room"),
        (
            OSError(errno.ENOSPC, "No space left on device", "x.db"),
            PROBLEM,
            "cannot write x.db: No space left on device",
        ),
    ],
)
def test_what_we_know_is_told_in_one_sentence(error: BaseException, code: int, told: str) -> None:
    stream = io.StringIO()

    assert report(error, stream) == code
    assert stream.getvalue() == f"hermes-bot: {told}\n"


def test_every_problem_of_the_settings_gets_a_line() -> None:
    stream = io.StringIO()

    report(SettingsError("a: 1\nb: 2"), stream)

    assert stream.getvalue() == "hermes-bot: a: 1\nhermes-bot: b: 2\n"


def test_what_we_do_not_know_gives_a_person_a_reference_and_the_log_the_cause(log: Path) -> None:
    stream = io.StringIO()

    code = report(ValueError("inner secret detail"), stream)

    found = re.search(r"Reference (ERR-[0-9a-f]{8})", stream.getvalue())
    assert code == PROBLEM
    assert found is not None
    assert found[1] in log.read_text(encoding="utf-8")
    assert "inner secret detail" in log.read_text(encoding="utf-8")
    assert "inner secret detail" not in stream.getvalue()
    assert str(log) in stream.getvalue()


def test_without_a_log_the_reference_says_how_to_see_more_and_debug_shows_it() -> None:
    stream, debug_stream = io.StringIO(), io.StringIO()

    report(ValueError("why"), stream)
    report(ValueError("why"), debug_stream, debug=True)

    assert "run it again with --debug" in stream.getvalue()
    assert "why" not in stream.getvalue()
    assert "ValueError: why" in debug_stream.getvalue()


@pytest.mark.parametrize(
    "arguments, code",
    [
        (["version"], 0),
        (["--help"], 0),
        (["nonsense"], 2),
        (["run", "--port", "many"], 2),
        (["run", "--port", "70000"], 2),
        (["routes", "eval"], 2),
        (["routes", "eval", "/nowhere.jsonl"], 2),
        (["tickets", "list", "--limit", "0"], 2),
        (["tickets", "list", "--status", "nonsense"], 2),
        (["run", "--config", "/nowhere.yaml"], 2),
    ],
)
def test_the_exit_code_says_what_kind_of_end_it_was(
    arguments: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)

    assert (ended.value.code or 0) == code
    assert "Traceback" not in capsys.readouterr().err


def test_hermes_errors_are_known_however_deep() -> None:
    stream = io.StringIO()

    report(BaseExceptionGroup("a", [ExceptionGroup("b", [HermesError("deep")])]), stream)

    assert stream.getvalue() == "hermes-bot: deep\n"
