"""The blocks that came with agents: what Slack takes of them, and what it says of the rest."""

from typing import Any

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from hermes_bot.workspace.blocks import faults_of, with_ids

Json = dict[str, Any]


def text(words: str) -> Json:
    return {"type": "plain_text", "text": words}


def rich(words: str) -> Json:
    section = {"type": "rich_text_section", "elements": [{"type": "text", "text": words}]}
    return {"type": "rich_text", "elements": [section]}


CELL = {"type": "raw_text", "text": "1"}
THUMBS: Json = {
    "type": "feedback_buttons",
    "action_id": "f",
    "positive_button": {"text": text("Good"), "value": "good"},
    "negative_button": {"text": text("Bad"), "value": "bad"},
}
TASK: Json = {"type": "task_card", "task_id": "t", "title": "Look", "status": "complete", "output": rich("Found")}
CARD: Json = {"type": "card", "title": text("Order"), "actions": [{"type": "button", "text": text("Go")}]}
GOOD: list[Json] = [
    {"type": "markdown", "text": "**Hello**"},
    rich("hello"),
    {"type": "table", "rows": [[CELL, rich("2")]], "column_settings": [{"align": "right"}]},
    {"type": "context_actions", "elements": [THUMBS]},
    {"type": "context_actions", "elements": [{"type": "icon_button", "icon": "trash", "text": text("Remove")}]},
    TASK,
    {"type": "plan", "title": "Work", "tasks": [TASK]},
    CARD,
    {"type": "carousel", "elements": [CARD]},
    {"type": "container", "title": text("More"), "child_blocks": [{"type": "divider"}, CARD], "is_collapsible": True},
]


@pytest.mark.parametrize("block", GOOD, ids=lambda block: block["type"])
async def test_what_slack_documents_is_taken(client: AsyncWebClient, block: Json) -> None:
    posted = await client.chat_postMessage(channel="C0SUPPORT", text="fallback", blocks=[block])

    assert posted["message"]["blocks"][0]["block_id"]


@pytest.mark.parametrize(
    "block,complaint",
    [
        ({"type": "markdown", "text": "x" * 12_001}, "less than 12001"),
        ({"type": "markdown", "text": ""}, "more than 0"),
        ({"type": "rich_text", "elements": [{"type": "rich_text_poem", "elements": []}]}, "rich_text_poem"),
        ({"type": "rich_text", "elements": [{"type": "rich_text_section"}]}, "missing required field: elements"),
        ({"type": "table", "rows": [[CELL]] * 101}, "no more than 100"),
        ({"type": "table", "rows": [[CELL] * 21]}, "no more than 20"),
        ({"type": "table", "rows": [[{"type": "image"}]]}, "allowed values: image"),
        ({"type": "context_actions", "elements": [THUMBS | {"action_id": str(n)} for n in range(6)]}, "no more than 5"),
        ({"type": "context_actions", "elements": [{"type": "button", "text": text("x")}]}, "unsupported type: button"),
        (
            {"type": "context_actions", "elements": [THUMBS | {"positive_button": {"text": text("x" * 76)}}]},
            "less than 76",
        ),
        (TASK | {"status": "done"}, "allowed values: done"),
        (TASK | {"output": "found"}, "rich_text"),
        ({"type": "plan", "title": "Work", "tasks": [CARD]}, "task_card"),
        ({"type": "card", "subtitle": text("alone")}, "at least one of"),
        ({"type": "card", "title": text("x" * 151)}, "less than 151"),
        ({"type": "carousel", "elements": [CARD] * 11}, "no more than 10"),
        ({"type": "container", "child_blocks": [{"type": "divider"}]}, "missing required field: title"),
        ({"type": "container", "title": text("x"), "child_blocks": [{"type": "surprise"}]}, "unsupported type"),
        ({"type": "alert", "text": text("careful")}, "alert in a message"),
    ],
)
def test_what_slack_would_not_take_is_named(block: Json, complaint: str) -> None:
    (fault, *_) = faults_of([block])

    assert complaint in fault
    assert "[json-pointer:/blocks/0" in fault


def test_blocks_stand_where_they_belong() -> None:
    alert, thumbs = {"type": "alert", "text": text("careful")}, {"type": "context_actions", "elements": [THUMBS]}

    assert faults_of([alert], surface="modal") == []
    for surface in ("modal", "home"):
        assert f"context_actions in a {surface}" in faults_of([thumbs], surface=surface)[0]


def test_a_message_has_one_table_and_so_much_markdown() -> None:
    table, said = {"type": "table", "rows": [[CELL]]}, {"type": "markdown", "text": "x" * 7000}

    assert "only_one_table_allowed" in faults_of([table, table])[0]
    assert "12001 characters together" in faults_of([said, said])[0]


def test_what_can_be_pressed_inside_of_blocks_gets_an_id() -> None:
    (carousel, container) = with_ids(
        [{"type": "carousel", "elements": [CARD]}, {"type": "container", "child_blocks": [CARD]}], lambda: "new"
    )

    for card in (carousel["elements"][0], container["child_blocks"][0]):
        assert (card["block_id"], card["actions"][0]["action_id"]) == ("new", "new")


async def test_markdown_text_becomes_a_markdown_block(client: AsyncWebClient) -> None:
    posted = await client.chat_postMessage(channel="C0SUPPORT", markdown_text="**Hello**")
    (block,) = posted["message"]["blocks"]

    assert (block["type"], block["text"]) == ("markdown", "**Hello**")


@pytest.mark.parametrize(
    "given,error",
    [
        ({"blocks": '[{"type": "surprise"}]'}, "invalid_blocks"),
        ({"message": '{"blocks": [{"type": "header"}]}'}, "invalid_blocks"),
        ({"view": '{"type": "modal"}'}, "invalid_blocks"),
        ({"blocks": "{"}, "invalid_blocks_format"),
        ({"blocks": "[]", "view": "{}"}, "invalid_arguments"),
        ({}, "invalid_arguments"),
    ],
)
async def test_blocks_are_validated_without_being_posted(client: AsyncWebClient, given: Json, error: str) -> None:
    with pytest.raises(SlackApiError) as failed:
        await client.api_call("blocks.validate", params=given)

    assert failed.value.response["error"] == error
