"""The block that Slack's own client sends beside what a person typed."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from slack_sdk.models.blocks import RichTextBlock

from hermes_bot.workspace.rich_text import rich_text
from hermes_bot.workspace.server import WorkspaceServer
from hermes_bot.workspace.typed_text import escape, typed_text

Json = dict[str, Any]

RED: Json = {"type": "emoji", "name": "red_circle", "unicode": "1f534"}


def parts(text: str) -> list[Json]:
    """Return the elements of the one section that a text gives."""
    (section,) = rich_text(text, "b")["elements"]
    elements: list[Json] = section["elements"]
    return elements


@pytest.mark.parametrize(
    "text,expected",
    [
        ("plain &amp; simple", [{"type": "text", "text": "plain & simple"}]),
        ("<@U0EMMA>", [{"type": "user", "user_id": "U0EMMA"}]),
        ("<#C0SUPPORT|support>", [{"type": "channel", "channel_id": "C0SUPPORT"}]),
        ("<!subteam^S0OPS>", [{"type": "usergroup", "usergroup_id": "S0OPS"}]),
        ("<!here>", [{"type": "broadcast", "range": "here"}]),
        ("<https://example.com/?a&amp;b>", [{"type": "link", "url": "https://example.com/?a&b"}]),
        ("<https://example.com|here>", [{"type": "link", "url": "https://example.com", "text": "here"}]),
        (":tada:", [{"type": "emoji", "name": "tada", "unicode": "1f389"}]),
        (":wave::skin-tone-4:", [{"type": "emoji", "name": "wave", "unicode": "1f44b-1f3fd", "skin_tone": 4}]),
        (":red_circle::tada:", [RED, {"type": "emoji", "name": "tada", "unicode": "1f389"}]),
        ("at 10:30:45 :no_such:", [{"type": "text", "text": "at 10:30:45 :no_such:"}]),
        ("*bold*", [{"type": "text", "text": "bold", "style": {"bold": True}}]),
        ("`&lt;@U0EMMA&gt;`", [{"type": "text", "text": "<@U0EMMA>", "style": {"code": True}}]),
        ("2*3*4", [{"type": "text", "text": "2*3*4"}]),
    ],
)
def test_each_piece_has_its_kind(text: str, expected: list[Json]) -> None:
    assert parts(text) == expected


def test_code_and_quotes_are_parts_of_their_own() -> None:
    block = rich_text("look\n```a\nb```\n&gt; she said\n&gt; so\nand left", "b")
    kinds = [part["type"].removeprefix("rich_text_") for part in block["elements"]]

    assert kinds == ["section", "preformatted", "quote", "section"]
    assert block["elements"][2]["elements"] == [{"type": "text", "text": "she said\nso"}]


async def test_it_stands_in_events_and_history_and_follows_an_edit(workspace: WorkspaceServer) -> None:
    ts = await workspace.workspace.post("U0EMMA", "C0SUPPORT", "@Hermes hello")
    (before,) = workspace.workspace.messages("C0SUPPORT")
    await workspace.workspace.edit("U0EMMA", "C0SUPPORT", ts, "good bye")
    (after,) = workspace.workspace.messages("C0SUPPORT")

    assert before["blocks"][0]["elements"][0]["elements"][0] == {"type": "user", "user_id": "U0HERMES"}
    assert after["blocks"][0]["elements"][0]["elements"] == [{"type": "text", "text": "good bye"}]
    assert before["blocks"][0]["block_id"] == after["blocks"][0]["block_id"]


@given(some.text(alphabet=some.sampled_from("ab &<>*_~`:@#|!\n\"'é你🎉"), max_size=60))
def test_any_typed_text_gives_a_block_that_slacks_models_take(typed: str) -> None:
    block = rich_text(typed_text(typed, (), ()), "b")

    RichTextBlock(**block).validate_json()


PLAIN = some.text(alphabet=some.sampled_from("ab &<>é你"), max_size=60)


@given(PLAIN.filter(lambda typed: bool(typed) and not typed.startswith(">")))
def test_plain_words_come_out_as_they_went_in(typed: str) -> None:
    assert "".join(part["text"] for part in parts(escape(typed))) == typed
