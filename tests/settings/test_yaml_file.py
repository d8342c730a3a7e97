from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.errors import SettingsError
from hermes_bot.settings.yaml_file import parse_yaml, read_yaml

_KEYS = st.text(alphabet="abcdefghij_", min_size=1, max_size=6)
_SCALARS = st.one_of(st.booleans(), st.integers(), st.none(), st.text(max_size=12))
_TREES = st.recursive(
    _SCALARS, lambda below: st.lists(below, max_size=4) | st.dictionaries(_KEYS, below, max_size=4), max_leaves=12
)


def test_every_key_and_item_is_remembered_with_its_line() -> None:
    file = parse_yaml("a:\n  b: 1\n  c:\n    - x\n    - y: 2\n", name="f.yaml")

    assert file.data == {"a": {"b": 1, "c": ["x", {"y": 2}]}}
    assert file.lines[("a", "b")] == 2
    assert file.lines[("a", "c", 1)] == 5
    assert file.lines[("a", "c", 1, "y")] == 5


def test_a_path_without_a_line_of_its_own_gets_the_line_above_it() -> None:
    file = parse_yaml("a:\n  b: 1\n", name="f.yaml")

    assert file.line(("a", "missing", 3)) == 1
    assert file.line(("nowhere",)) == 0


def test_words_that_old_yaml_turned_into_booleans_and_dates_stay_words() -> None:
    file = parse_yaml("[off, on, yes, no, 2026-01-02, 12:30, true, null, 010]", name="f.yaml")

    assert file.data == ["off", "on", "yes", "no", "2026-01-02", "12:30", True, None, 10]


def test_all_doubled_keys_are_told_at_once_with_their_lines() -> None:
    with pytest.raises(SettingsError) as caught:
        parse_yaml("a: 1\nb: 2\na: 3\nc:\n  d: 1\n  d: 2\n", name="f.yaml")

    assert "f.yaml:3: key 'a' stands twice, first on line 1" in str(caught.value)
    assert "f.yaml:6: key 'c.d' stands twice, first on line 5" in str(caught.value)
    assert (caught.value.file, caught.value.line, caught.value.key) == ("f.yaml", 3, "a")


def test_a_syntax_error_names_its_line() -> None:
    with pytest.raises(SettingsError, match=r"^f\.yaml:3: this is not valid YAML") as caught:
        parse_yaml("a: 1\nb: [1, 2\nc: 3\n", name="f.yaml")

    assert caught.value.line == 3


@pytest.mark.parametrize(
    "text", ["a: &x\n  b: *x\n", "a: &x [1]\nb:\n  <<: *x\n", "? [a, b]\n: 1\n", "a: !!python/object:os.system x\n"]
)
def test_what_a_settings_file_has_no_use_for_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match=r"f\.yaml:\d+"):
        parse_yaml(text, name="f.yaml")


def test_two_documents_in_one_file_are_refused() -> None:
    with pytest.raises(SettingsError, match="not valid YAML"):
        parse_yaml("a: 1\n---\nb: 2\n", name="f.yaml")


def test_a_file_that_is_not_there_or_not_text_is_a_settings_error(tmp_path: Path) -> None:
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"\xff\xfe\x00")

    with pytest.raises(SettingsError, match="does not exist"):
        read_yaml(tmp_path / "none.yaml")
    with pytest.raises(SettingsError, match="not UTF-8"):
        read_yaml(binary)


@given(_TREES)
def test_what_pyyaml_writes_is_read_back_unchanged(tree: object) -> None:
    assert parse_yaml(yaml.safe_dump(tree), name="f.yaml").data == tree


@given(st.text(max_size=80))
def test_any_text_is_either_read_or_refused_as_a_settings_error(text: str) -> None:
    with suppress(SettingsError):
        file = parse_yaml(text, name="f.yaml")

        assert all(line >= 1 for line in file.lines.values())
