from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.edge.files import MEGABYTE, MOST_FILES, FileRules, named_files

LINK = "https://example.slack.com/files/U1/F1/broken.png"


def file(**more: object) -> dict[str, object]:
    return {"name": "broken.png", "filetype": "png", "size": 10, "permalink": LINK} | more


def test_a_file_is_named_with_its_link() -> None:
    assert named_files({"files": [file()]}) == (f"broken.png {LINK}",)


def test_a_file_that_is_too_large_or_of_another_kind_is_named_without_its_link() -> None:
    rules = FileRules(max_bytes=MEGABYTE, types=("png",))

    assert named_files({"files": [file(size=MEGABYTE + 1)]}, rules) == ("broken.png (too large)",)
    assert named_files({"files": [file(filetype="exe")]}, rules) == ("broken.png (kind not kept)",)
    assert named_files({"files": [file()]}, rules) == (f"broken.png {LINK}",)


def test_no_more_than_so_many_are_named() -> None:
    named = named_files({"files": [file()] * (MOST_FILES + 2)})

    assert len(named) == MOST_FILES + 1
    assert named[-1] == "… 2"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON, JSON)
def test_whatever_slack_sends_makes_no_trouble(files: object, part: object) -> None:
    odd = named_files({"files": [files, {"name": part, "size": part, "permalink": part, "filetype": part}]})

    assert all(isinstance(line, str) for line in (*odd, *named_files({"files": files})))
