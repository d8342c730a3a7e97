"""What a post shows: a full text (all that a mobile notification shows) and the blocks, checked against limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from slack_sdk.errors import SlackObjectFormationError
from slack_sdk.models.blocks import Block

from hermes_bot.edge.text import SECTION_CHARACTERS, clipped

Json = dict[str, Any]

MAX_BLOCKS = 50
MAX_BLOCK_TEXT = 13_000  # all blocks of a message together; Slack refuses a little above
BUTTON_CHARACTERS = 75
FIELD_CHARACTERS = 2_000
FIELDS_PER_SECTION = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """Text and blocks of a post; both are escaped. No blocks: the text is shown."""

    text: str
    blocks: tuple[Json, ...] = ()

    @property
    def plain(self) -> Look:
        """The same words without blocks."""
        return Look(text=self.text)


def fault_in(blocks: Sequence[Json]) -> str:
    """Return why Slack would refuse the blocks, empty when nothing is wrong with them."""
    if len(blocks) > MAX_BLOCKS:
        return f"{len(blocks)} blocks"
    total = sum(_characters(block) for block in blocks)
    if total > MAX_BLOCK_TEXT:
        return f"{total} characters in all blocks"
    try:
        for block in Block.parse_all([dict(block) for block in blocks]):
            block.validate_json()
    except SlackObjectFormationError as error:
        return str(error)
    return ""


def section(markdown: str) -> Json:
    """Return a section; `verbatim` keeps Slack from finding mentions and channels in people's words."""
    return {"type": "section", "text": _markdown(markdown)}


def words(text: str) -> Json:
    """Return a section with people's words, in which nothing is formatted: they must not look like ours."""
    return {"type": "section", "text": _plain(text)}


def field_sections(pairs: Sequence[tuple[str, str]]) -> list[Json]:
    """Return sections with a label and beside it the value, which is plain: no value can look like a label."""
    fields = [one for label, value in pairs for one in (_markdown(f"*{label}*"), _plain(value))]
    starts = range(0, len(fields), FIELDS_PER_SECTION)
    return [{"type": "section", "fields": fields[at : at + FIELDS_PER_SECTION]} for at in starts]


def context(*markdown: str) -> Json:
    """Return a line of small print."""
    return {"type": "context", "elements": [_markdown(text) for text in markdown if text]}


def button(label: str, *, action_id: str, value: str, style: str = "") -> Json:
    """Return a button; the label is plain text and must fit."""
    shown = {"type": "plain_text", "text": label, "emoji": True}
    body = {"type": "button", "text": shown, "action_id": action_id, "value": value}
    return body | ({"style": style} if style else {})


def actions(block_id: str, *buttons: Json) -> Json:
    """Return a row of buttons."""
    return {"type": "actions", "block_id": block_id, "elements": list(buttons)}


def _markdown(text: str) -> Json:
    return {"type": "mrkdwn", "text": clipped(text, SECTION_CHARACTERS), "verbatim": True}


def _plain(text: str) -> Json:
    return {"type": "plain_text", "text": clipped(text, SECTION_CHARACTERS) if text.strip() else "–", "emoji": False}


def _characters(part: Any) -> int:
    if isinstance(part, dict):
        own = part.get("text")
        return (len(own) if isinstance(own, str) else 0) + sum(_characters(inner) for inner in part.values())
    return sum(_characters(inner) for inner in part) if isinstance(part, list) else 0
