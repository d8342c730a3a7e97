"""What a message of the app says: text, blocks, attachments and metadata, checked as Slack checks them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hermes_bot.workspace.args import Args
from hermes_bot.workspace.blocks import MAX_MESSAGE_BLOCK_TEXT, faults_of, text_length, with_ids
from hermes_bot.workspace.posts import Json
from hermes_bot.workspace.refusal import Refusal

_BARE_AMPERSAND = re.compile(r"&(?!amp;|lt;|gt;)")
_TOKEN = re.compile(r"(<(?:[@#!]|[a-z][a-z0-9+.-]*:)[^<>\n]*>)")

MAX_TEXT = 40_000
MAX_UPDATE_TEXT = 4_000
MAX_MARKDOWN = 12_000
MAX_ATTACHMENTS = 100
MAX_METADATA_BYTES = 16_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """The checked content; `blocks_given` tells `[]` from nothing, `truncated` that the text was cut."""

    text: str = ""
    blocks: tuple[Json, ...] = ()
    attachments: tuple[Json, ...] = ()
    metadata: Mapping[str, Any] | None = None
    text_given: bool = False
    blocks_given: bool = False
    truncated: bool = False

    @property
    def warning(self) -> Json:
        """What the answer says of a text that was cut."""
        if not self.truncated:
            return {}
        return {"warning": "message_truncated", "response_metadata": {"warnings": ["message_truncated"]}}


def content_of(args: Args, new_id: Callable[[], str], *, update: bool = False) -> Content:
    """Return the content of a call; raise Slack's refusal for what it would not take."""
    text = sent_text(_text(args, update=update))
    blocks = _blocks(args)
    if args.text("markdown_text"):
        blocks = [{"type": "markdown", "text": args.text("markdown_text")}]
    attachments = _attachments(args)
    if not text and not blocks and not attachments:
        raise Refusal("no_text")
    return Content(
        text=text[:MAX_TEXT],
        blocks=with_ids(blocks, new_id),
        attachments=tuple(attachments),
        metadata=_metadata(args),
        text_given=args.given("text") or args.given("markdown_text"),
        blocks_given=args.given("blocks"),
        truncated=len(text) > MAX_TEXT,
    )


def content_of_command(answer: Json, new_id: Callable[[], str]) -> Content | None:
    """Return what an app answers to a slash command at once, None for an empty ack."""
    args = Args(answer)
    if not any(args.given(name) for name in ("text", "blocks", "attachments")):
        return None
    return content_of(args, new_id)


def sent_text(text: str) -> str:
    """Return an app's text as Slack keeps it: what is no token and no entity is escaped."""
    text = _BARE_AMPERSAND.sub("&amp;", text)
    pieces = _TOKEN.split(text)
    pieces[::2] = [piece.replace("<", "&lt;") for piece in pieces[::2]]
    return "".join(pieces)


def _text(args: Args, *, update: bool) -> str:
    text = args.text("text")
    markdown = args.text("markdown_text")
    if markdown:
        if text or args.given("blocks"):
            raise Refusal("markdown_text_conflict")
        if len(markdown) > MAX_MARKDOWN:
            raise Refusal("msg_too_long")
        return markdown
    if update and len(text) > MAX_UPDATE_TEXT:
        raise Refusal("msg_too_long")
    return text


def _blocks(args: Args) -> list[Json]:
    blocks = args.structure("blocks", wrong="invalid_blocks_format")
    if blocks is None:
        return []
    if not isinstance(blocks, list):
        raise Refusal("invalid_blocks_format")
    sentences = faults_of(blocks)
    if sentences:
        raise Refusal("invalid_blocks", sentences)
    if text_length(blocks) > MAX_MESSAGE_BLOCK_TEXT:
        raise Refusal("msg_blocks_too_long")
    return blocks


def _attachments(args: Args) -> list[Json]:
    attachments = args.structure("attachments", wrong="invalid_arguments") or []
    if not isinstance(attachments, list) or not all(isinstance(one, dict) for one in attachments):
        raise Refusal("invalid_arguments", ["[ERROR] must be an array of objects [json-pointer:/attachments]"])
    if len(attachments) > MAX_ATTACHMENTS:
        raise Refusal("too_many_attachments")
    return attachments


def _metadata(args: Args) -> Json | None:
    metadata = args.structure("metadata", wrong="invalid_metadata_format")
    if metadata is None:
        return None
    shape = {"event_type": str, "event_payload": dict}
    if not isinstance(metadata, dict) or set(metadata) != set(shape):
        raise Refusal("invalid_metadata_format")
    if not all(isinstance(metadata[key], kind) for key, kind in shape.items()) or not metadata["event_type"]:
        raise Refusal("invalid_metadata_format")
    if len(json.dumps(metadata, ensure_ascii=False).encode()) > MAX_METADATA_BYTES:
        raise Refusal("metadata_too_large")
    return metadata
