"""Block Kit's rules: what Slack takes and what it refuses, at every limit."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.workspace.blocks import faults_of, with_ids

Json = dict[str, Any]


def plain(words: str) -> Json:
    return {"type": "plain_text", "text": words}


def mrkdwn(words: str) -> Json:
    return {"type": "mrkdwn", "text": words}


def button(**more: Any) -> Json:
    return {"type": "button", "text": plain("Go"), **more}


def actions(*elements: Json) -> Json:
    return {"type": "actions", "elements": list(elements)}


def entry(element: Json) -> Json:
    return {"type": "input", "label": plain("Label"), "element": element}


def options(count: int) -> list[Json]:
    return [{"text": plain(str(number)), "value": str(number)} for number in range(count)]


def sized(size: int) -> dict[str, Json]:
    """Return one block for each limit, with `size` characters or items at the place that is limited."""
    long, words = "x" * size, [mrkdwn("x")] * size
    return {
        "section text 3000": {"type": "section", "text": mrkdwn(long)},
        "field 2000": {"type": "section", "fields": [mrkdwn(long)]},
        "fields 10": {"type": "section", "fields": words},
        "header 150": {"type": "header", "text": plain(long)},
        "context 10": {"type": "context", "elements": words},
        "actions 25": actions(*[button(action_id=f"a{number}") for number in range(size)]),
        "button text 75": actions({"type": "button", "text": plain(long)}),
        "button value 2000": actions(button(value=long)),
        "button url 3000": actions(button(url=long)),
        "action_id 255": actions(button(action_id=long)),
        "block_id 255": {"type": "divider", "block_id": long},
        "overflow 5": actions({"type": "overflow", "options": options(size)}),
        "radio buttons 10": actions({"type": "radio_buttons", "options": options(size)}),
        "select 100": actions({"type": "static_select", "options": options(size)}),
        "alt text 2000": {"type": "image", "image_url": "u", "alt_text": long},
        "input length 3000": entry({"type": "plain_text_input", "max_length": size}),
    }


@pytest.mark.parametrize("name", sorted(sized(1)))
def test_the_limit_itself_is_taken_and_one_more_is_refused(name: str) -> None:
    limit = int(name.split()[-1])

    assert faults_of([sized(limit)[name]]) == []
    assert len(faults_of([sized(limit + 1)[name]])) == 1


def test_a_message_holds_fifty_blocks() -> None:
    assert faults_of([{"type": "divider"}] * 50) == []
    assert faults_of([{"type": "divider"}] * 51) == ["[ERROR] no more than 50 items allowed [json-pointer:/blocks]"]


@pytest.mark.parametrize(
    "block,sentence",
    [
        ({"type": "poem"}, "unsupported type: poem [json-pointer:/blocks/0/type]"),
        ({}, "unsupported type: None [json-pointer:/blocks/0/type]"),
        ("text", "must be an object [json-pointer:/blocks/0]"),
        ({"type": "divider", "colour": "red"}, "invalid additional property: colour [json-pointer:/blocks/0]"),
        ({"type": "section"}, "must define either `fields` or `text` [json-pointer:/blocks/0]"),
        ({"type": "section", "text": "words"}, "must be an object [json-pointer:/blocks/0/text]"),
        ({"type": "section", "text": plain("")}, "must be more than 0 characters [json-pointer:/blocks/0/text/text]"),
        ({"type": "header", "text": mrkdwn("x")}, "unsupported type: mrkdwn [json-pointer:/blocks/0/text/type]"),
        ({"type": "header"}, "missing required field: text [json-pointer:/blocks/0]"),
        (actions(), "must have at least 1 item [json-pointer:/blocks/0/elements]"),
        ({"type": "context"}, "missing required field: elements [json-pointer:/blocks/0]"),
        (
            actions({"type": "plain_text_input"}),
            "unsupported type: plain_text_input [json-pointer:/blocks/0/elements/0/type]",
        ),
        (
            actions(button(style="loud")),
            "failed to match any of the allowed values: loud [json-pointer:/blocks/0/elements/0/style]",
        ),
        (
            actions(button(action_id="a"), button(action_id="a")),
            "action_id a already exists [json-pointer:/blocks/0/elements/1/action_id]",
        ),
        (entry(button()), "unsupported type: button [json-pointer:/blocks/0/element/type]"),
        (
            actions(button(confirm={"title": plain("t"), "text": plain("t"), "confirm": plain("y")})),
            "missing required field: deny [json-pointer:/blocks/0/elements/0/confirm]",
        ),
    ],
)
def test_a_fault_is_named_with_its_place(block: object, sentence: str) -> None:
    assert faults_of([block]) == [f"[ERROR] {sentence}"]


def test_a_block_id_is_taken_once() -> None:
    twice = [{"type": "divider", "block_id": "b"}] * 2

    assert faults_of(twice) == ["[ERROR] block_id b already exists [json-pointer:/blocks/1/block_id]"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "text",
                    "elements",
                    "element",
                    "fields",
                    "accessory",
                    "options",
                    "action_id",
                    "block_id",
                    "confirm",
                ]
            ),
            inner
            | st.sampled_from(["section", "actions", "context", "input", "button", "plain_text", "static_select"]),
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.lists(json_values, max_size=3))
def test_whatever_is_sent_is_either_taken_and_kept_or_refused_with_sentences(blocks: list[Any]) -> None:
    sentences = faults_of(blocks)

    if sentences:
        assert all(sentence.startswith("[ERROR] ") for sentence in sentences)
    else:
        assert [block["type"] for block in with_ids(blocks, lambda: "id")] == [block["type"] for block in blocks]
