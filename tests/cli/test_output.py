"""Tables on a terminal."""

import pytest

from hermes_bot.cli.output import say_table

ID = "MSG-01M8PYYFZWZMWQYZ6ZAZCD3Y00-1-2"
COLUMNS = ("message", "error", "remedy")
ROW = (ID, "a long error that needs more than one line here", "a long remedy that needs more than one line too")


@pytest.fixture(autouse=True)
def _terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "110")


def test_an_id_stands_in_one_piece_beside_texts_that_are_wrapped(capsys: pytest.CaptureFixture[str]) -> None:
    say_table(COLUMNS, [ROW], empty="")

    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 2
    assert ID in lines[1]


def test_an_id_that_would_take_most_of_the_line_is_wrapped_like_the_rest(capsys: pytest.CaptureFixture[str]) -> None:
    long = ID + "-approvals.1-1-1-1"
    say_table(COLUMNS, [(long, *ROW[1:])], empty="")

    rows = capsys.readouterr().out.splitlines()[1:]  # the heading is bold
    assert all(len(row) <= 110 for row in rows)
    assert "".join(row.split()[0] for row in rows if row[0] != " ") == long
