"""An utterance is written into a routes file, and nothing else in it changes."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.errors import SettingsError
from routing.edit import ReadOnly, changed_lines, replace_file, with_utterance
from routing.routes_file import read_table

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = (ROOT / "configs" / "routing.yaml").read_bytes()
SMALL = b"""\
# top
routes:
  - name: tea   # hot
    type: t.tea
    agent: tea
    keywords: {any: [tea], none: ['no tea']}
    utterances:
      en:
        - a cup of tea
        - 'brew it'  # soon
      # between

      zh: [\xe5\x96\x9d\xe8\x8c\xb6]
  - name: car
    type: t.car
    agent: car
    patterns_note: x
"""
GOOD = SMALL.replace(b"    patterns_note: x\n", b"    keywords: {any: [car]}\n# the end\n")


def added(before: bytes, after: bytes) -> list[str]:
    """Return the lines that came; assert that none went."""
    lines = changed_lines(before, after, name="f").splitlines()[2:]
    assert [line for line in lines if line.startswith("-")] == []
    return [line[1:] for line in lines if line.startswith("+")]


@pytest.mark.parametrize(
    "route, language, lines",
    [
        ("tea", "en", ["        - more of it"]),
        ("tea", "de", ["      de:", "        - more of it"]),
        ("car", "en", ["    utterances:", "      en:", "        - more of it"]),
    ],
)
def test_only_the_lines_of_the_utterance_come(route: str, language: str, lines: list[str]) -> None:
    assert added(GOOD, with_utterance(GOOD, route, language, "more of it", file="f")) == lines


def test_a_list_on_one_line_grows_on_its_line() -> None:
    assert b"zh: [\xe5\x96\x9d\xe8\x8c\xb6, \xe6\xb0\xb4]" in with_utterance(GOOD, "tea", "zh", "水", file="f")


@pytest.mark.parametrize("route", ["order", "refund", "handoff", "other"])
def test_the_shipped_file_gets_one_line_and_keeps_every_other(route: str) -> None:
    assert len(added(SHIPPED, with_utterance(SHIPPED, route, "en", "Where is it: my thing #2?", file="f"))) == 1


@given(st.text(min_size=1, max_size=60).map(str.strip).filter(bool))
def test_any_words_come_out_as_they_went_in_or_are_refused(text: str) -> None:
    try:
        edited = with_utterance(GOOD, "tea", "en", text, file="f")
    except SettingsError:
        return

    assert read_table(edited, file="f").routes[0].utterances["en"][-1] == text


def test_an_unknown_route_and_a_bad_file_are_refused() -> None:
    with pytest.raises(SettingsError, match="no route 'bus'"):
        with_utterance(GOOD, "bus", "en", "x", file="f")
    with pytest.raises(SettingsError, match="patterns_note"):
        with_utterance(SMALL, "tea", "en", "x", file="f")


def test_the_file_is_replaced_with_its_mode_and_through_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.yaml", tmp_path / "link.yaml"
    real.write_bytes(b"old")
    real.chmod(0o640)
    link.symlink_to(real)

    replace_file(link, b"new")

    assert (real.read_bytes(), stat.S_IMODE(real.stat().st_mode), link.is_symlink()) == (b"new", 0o640, True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.yaml", "real.yaml"]


def test_a_read_only_file_says_how_to_copy_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "routing.yaml"
    file.write_bytes(b"old")
    monkeypatch.setattr("routing.edit.os.access", lambda *_: False)

    with pytest.raises(ReadOnly, match=r"cp .*routing\.yaml configs/routing\.yaml"):
        replace_file(file, b"new")
    assert file.read_bytes() == b"old"
