"""The faults that a check of blocks or a view found, and the checks that all of them share."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from hermes_bot.workspace.posts import Json


class Found:
    """Collects Slack's sentences, in the order of the places."""

    def __init__(self) -> None:
        self.sentences: list[str] = []

    def add(self, sentence: str, at: str) -> None:
        """Keep one fault."""
        self.sentences.append(f"[ERROR] {sentence} [json-pointer:{at}]")

    def only(self, value: Json, allowed: Collection[str], at: str) -> None:
        """Find fields that do not belong there."""
        for key in value:
            if key not in allowed:
                self.add(f"invalid additional property: {key}", at)

    def string(self, value: object, at: str, *, limit: int) -> None:
        """Find a string that is missing, empty or too long."""
        if value is None:
            self.add(f"missing required field: {at.rpartition('/')[2]}", at.rpartition("/")[0])
        elif not isinstance(value, str):
            self.add("must be a string", at)
        elif not value:
            self.add("must be more than 0 characters", at)
        elif len(value) > limit:
            self.add(f"must be less than {limit + 1} characters", at)

    def text(self, value: object, at: str, *, limit: int, plain: bool = False) -> None:
        """Find what is wrong with a text object."""
        if value is None:
            self.add(f"missing required field: {at.rpartition('/')[2]}", at.rpartition("/")[0])
            return
        if not isinstance(value, dict):
            self.add("must be an object", at)
            return
        kinds = ("plain_text",) if plain else ("plain_text", "mrkdwn")
        kind = value.get("type")
        if kind not in kinds:
            self.add(f"unsupported type: {kind}", f"{at}/type")
            return
        self.only(value, {"type", "text", "emoji" if kind == "plain_text" else "verbatim"}, at)
        self.string(value.get("text"), f"{at}/text", limit=limit)

    def one_of(self, value: object, allowed: Collection[str], at: str) -> None:
        """Find a value that is none of those."""
        if value not in allowed:
            self.add(f"failed to match any of the allowed values: {value}", at)

    def rich_text(self, value: object, at: str) -> None:
        """Find what is wrong with a `rich_text` block."""
        if not isinstance(value, dict) or value.get("type") != "rich_text":
            self.add("must be a rich_text block", at)
            return
        self.only(value, {"type", "block_id", "elements"}, at)
        kinds = {f"rich_text_{kind}" for kind in ("section", "list", "preformatted", "quote")}
        for number, one in enumerate(self.array(value.get("elements"), f"{at}/elements", limit=1000)):
            kind = one.get("type") if isinstance(one, dict) else None
            if kind not in kinds:
                self.add(f"unsupported type: {kind}", f"{at}/elements/{number}/type")
            elif not isinstance(one.get("elements"), list):
                self.add("missing required field: elements", f"{at}/elements/{number}")

    def array(self, value: object, at: str, *, limit: int) -> list[Any]:
        """Return the list to look at further, empty when it is none; find one that is empty or too long."""
        if value is None:
            self.add(f"missing required field: {at.rpartition('/')[2]}", at.rpartition("/")[0])
            return []
        if not isinstance(value, list):
            self.add("must be an array", at)
            return []
        if not value:
            self.add("must have at least 1 item", at)
        if len(value) > limit:
            self.add(f"no more than {limit} items allowed", at)
        return value
