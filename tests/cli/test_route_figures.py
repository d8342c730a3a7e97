"""`routes eval`, `fit` and `warm` as a person calls them."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from hermes_bot.cli.main import main
from routing import edit

CONFIGS = Path(__file__).resolve().parents[2] / "configs"
ROWS = Path(__file__).resolve().parents[1] / "data" / "labelled.jsonl"


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HERMES_ENCODER__PROFILE", "light")
    shutil.copytree(CONFIGS, tmp_path / "configs")


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main([*arguments])
    out = capsys.readouterr()
    assert not ended.value.code, out.err
    return out.out


def read(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    return json.loads(told(capsys, *arguments, "--json"))


def test_figures_are_told_by_column_with_the_worst_mistakes(capsys: pytest.CaptureFixture[str]) -> None:
    warmed = read(capsys, "routes", "warm")
    figures = read(capsys, "routes", "eval", str(ROWS), "--by", "lang")
    words = told(capsys, "routes", "eval", str(ROWS), "--worst", "2")

    assert warmed["examples"] > 2000
    assert {"accuracy", "n", "per_class", "confusion", "latency_ms", "coverage", "calibration_error"} <= figures.keys()
    assert figures["by"]["en"]["n"] == figures["by_language"]["en"]["n"]
    assert "on the surest 90%" in words
    assert words.count(" → ") == 2


def test_fitted_numbers_are_shown_and_written_only_when_asked(capsys: pytest.CaptureFixture[str]) -> None:
    file = Path("configs/routing.yaml")
    before = file.read_text(encoding="utf-8")

    shown = read(capsys, "routes", "fit", str(ROWS))
    untouched = file.read_text(encoding="utf-8")
    written = read(capsys, "routes", "fit", str(ROWS), "--write")
    after = file.read_text(encoding="utf-8")

    assert shown["changes"] == written["changes"] != {}
    assert (shown["written"], written["written"]) == (False, True)
    assert untouched == before
    assert f"temperature: {shown['changes']['temperature']['after']}" in after
    assert [line for line in before.splitlines() if "#" in line and line not in after] == []


def test_nobody_else_may_write_the_file_while_fitted_numbers_are_written(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    locked: list[bool] = []

    def looked(content: bytes, **_numbers: Any) -> bytes:
        folder = os.open("configs", os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            locked.append(False)
        except BlockingIOError:
            locked.append(True)
        finally:
            os.close(folder)
        return content

    monkeypatch.setattr(edit, "with_numbers", looked)
    read(capsys, "routes", "fit", str(ROWS), "--write")

    assert locked == [True]
