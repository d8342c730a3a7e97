from __future__ import annotations

from pathlib import Path

import pytest

from hermes_bot.cli.labelled import read_labelled
from hermes_bot.errors import SettingsError

LABELS = ("order", "refund", "handoff", "other")


def written(folder: Path, text: str) -> Path:
    file = folder / "rows.jsonl"
    file.write_text(text, encoding="utf-8")
    return file


def test_rows_are_read_and_empty_lines_left_out(tmp_path: Path) -> None:
    file = written(tmp_path, '{"text": "Wo?", "label": "order", "lang": "de"}\n\n{"text": "x", "label": "other"}\n')

    rows = read_labelled(file, labels=LABELS)

    assert [(row.text, row.label, row.lang) for row in rows] == [("Wo?", "order", "de"), ("x", "other", "")]


@pytest.mark.parametrize(
    "line, told",
    [
        ("nonsense", "is not JSON"),
        ("[]", "must be an object"),
        ('{"text": "x"}', "must be an object"),
        ('{"text": 1, "label": "order"}', "must be an object"),
        ('{"text": "x", "label": "ordre"}', "did you mean 'order'"),
        ('{"text": "x", "label": "qqq"}', "known: order, refund"),
    ],
)
def test_lines_that_are_no_rows_are_told_with_their_numbers(tmp_path: Path, line: str, told: str) -> None:
    file = written(tmp_path, f'{{"text": "x", "label": "order"}}\n\n{line}\n{line}\n')

    with pytest.raises(SettingsError, match=told) as caught:
        read_labelled(file, labels=LABELS)

    assert caught.value.line == 3
    assert f"{file}:4:" in str(caught.value)


def test_an_empty_or_missing_file_is_refused(tmp_path: Path) -> None:
    for file in (written(tmp_path, "\n"), tmp_path / "none.jsonl"):
        with pytest.raises(SettingsError, match=r"holds no rows|cannot be read"):
            read_labelled(file, labels=LABELS)
