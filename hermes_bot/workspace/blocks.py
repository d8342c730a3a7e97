"""Block Kit as strictly as Slack takes it: kinds, fields, required parts and sizes.

Each fault is one of Slack's sentences, with the JSON pointer of its place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hermes_bot.workspace import newer_blocks
from hermes_bot.workspace.elements import IN_ACTIONS, IN_INPUT, IN_SECTION, INTERACTIVE, check_element
from hermes_bot.workspace.found import Found
from hermes_bot.workspace.newer_blocks import MAX_MARKDOWN
from hermes_bot.workspace.posts import Json

MAX_MESSAGE_BLOCKS = 50
MAX_MODAL_BLOCKS = 100
MAX_MESSAGE_BLOCK_TEXT = 13_200
MAX_ID = 255

_FIELDS: Mapping[str, frozenset[str]] = {
    "section": frozenset({"text", "fields", "accessory", "expand"}),
    "context": frozenset({"elements"}),
    "actions": frozenset({"elements"}),
    "divider": frozenset(),
    "header": frozenset({"text", "level"}),
    "image": frozenset({"image_url", "slack_file", "alt_text", "title"}),
    "input": frozenset({"label", "element", "hint", "optional", "dispatch_action"}),
    **newer_blocks.FIELDS,
}


def faults_of(
    blocks: object, *, limit: int = MAX_MESSAGE_BLOCKS, at: str = "/blocks", surface: str = "message"
) -> list[str]:
    """Return what is wrong with the blocks of a "message", "modal" or "home", in order; empty when Slack takes them."""
    found = Found()
    if not isinstance(blocks, list):
        found.add("must be an array", at)
        return found.sentences
    if len(blocks) > limit:
        found.add(f"no more than {limit} items allowed", at)
    check = _BlockCheck(found, surface)
    for number, block in enumerate(blocks):
        check.block(block, f"{at}/{number}")
    kinds = [block.get("type") for block in blocks if isinstance(block, dict)]
    if kinds.count("table") > 1:
        found.add("only_one_table_allowed", at)
    if sum(len(str(block.get("text", ""))) for block in _of_kind(blocks, "markdown")) > MAX_MARKDOWN:
        found.add(f"markdown blocks must be less than {MAX_MARKDOWN + 1} characters together", at)
    return found.sentences


def _of_kind(blocks: Sequence[object], kind: str) -> list[Json]:
    return [block for block in blocks if isinstance(block, dict) and block.get("type") == kind]


def text_length(blocks: Sequence[Any]) -> int:
    """Return the characters of all texts in the blocks together."""
    total = 0
    for block in blocks:
        if isinstance(block, dict):
            own = block.get("text")
            total += len(own) if isinstance(own, str) else 0
            total += text_length(list(block.values()))
        elif isinstance(block, list):
            total += text_length(block)
    return total


def with_ids(blocks: Sequence[Json], new_id: Callable[[], str]) -> tuple[Json, ...]:
    """Return the blocks as Slack keeps them: each has a block_id and each button an action_id."""
    return tuple(_with_action_ids({**block, "block_id": block.get("block_id") or new_id()}, new_id) for block in blocks)


def _with_action_ids(block: Json, new_id: Callable[[], str]) -> Json:
    def named(element: Json) -> Json:
        interactive = element.get("type") in INTERACTIVE
        return {**element, "action_id": element.get("action_id") or new_id()} if interactive else element

    lists = {"actions": "elements", "context_actions": "elements", "card": "actions"}
    key = lists.get(block["type"], "")
    if key in block:
        return {**block, key: [named(element) for element in block[key]]}
    nested = {"carousel": "elements", "container": "child_blocks"}.get(block["type"])
    if nested is not None:
        return {**block, nested: list(with_ids(block[nested], new_id))}
    for single in ("accessory", "element"):
        if single in block:
            block = {**block, single: named(block[single])}
    return block


@dataclass(slots=True)
class _BlockCheck:
    found: Found
    surface: str = "message"
    block_ids: set[str] = field(default_factory=set)

    def block(self, block: object, at: str) -> None:
        if not isinstance(block, dict):
            self.found.add("must be an object", at)
            return
        kind = block.get("type")
        if not isinstance(kind, str) or kind not in _FIELDS:
            self.found.add(f"unsupported type: {kind}", f"{at}/type")
            return
        if self.surface not in newer_blocks.ON_SURFACES.get(kind, (self.surface,)):
            self.found.add(f"unsupported type: {kind} in a {self.surface}", f"{at}/type")
            return
        self.found.only(block, _FIELDS[kind] | {"type", "block_id"}, at)
        self._block_id(block, at)
        by_kind = {
            "section": self._section,
            "context": self._context,
            "actions": self._actions,
            "header": self._header,
            "image": self._image,
            "input": self._input,
        }
        if kind in by_kind:
            by_kind[kind](block, at)
        elif kind in newer_blocks.CHECKS:
            newer_blocks.CHECKS[kind](self.found, block, at)
        if kind == "container" and isinstance(block.get("child_blocks"), list):
            for number, child in enumerate(block["child_blocks"]):
                self.block(child, f"{at}/child_blocks/{number}")

    def _block_id(self, block: Json, at: str) -> None:
        block_id = block.get("block_id")
        if block_id is None:
            return
        self.found.string(block_id, f"{at}/block_id", limit=MAX_ID)
        if block_id in self.block_ids:
            self.found.add(f"block_id {block_id} already exists", f"{at}/block_id")
        if isinstance(block_id, str):
            self.block_ids.add(block_id)

    def _section(self, block: Json, at: str) -> None:
        if "text" not in block and "fields" not in block:
            self.found.add("must define either `fields` or `text`", at)
        if "text" in block:
            self.found.text(block["text"], f"{at}/text", limit=3000)
        if "fields" in block:
            for number, one in enumerate(self.found.array(block["fields"], f"{at}/fields", limit=10)):
                self.found.text(one, f"{at}/fields/{number}", limit=2000)
        if "accessory" in block:
            check_element(self.found, block["accessory"], f"{at}/accessory", IN_SECTION, set())

    def _context(self, block: Json, at: str) -> None:
        for number, one in enumerate(self.found.array(block.get("elements"), f"{at}/elements", limit=10)):
            place = f"{at}/elements/{number}"
            if isinstance(one, dict) and one.get("type") == "image":
                check_element(self.found, one, place, frozenset({"image"}), set())
            else:
                self.found.text(one, place, limit=3000)

    def _actions(self, block: Json, at: str) -> None:
        action_ids: set[str] = set()
        for number, one in enumerate(self.found.array(block.get("elements"), f"{at}/elements", limit=25)):
            check_element(self.found, one, f"{at}/elements/{number}", IN_ACTIONS, action_ids)

    def _header(self, block: Json, at: str) -> None:
        self.found.text(block.get("text"), f"{at}/text", limit=150, plain=True)

    def _image(self, block: Json, at: str) -> None:
        if "slack_file" not in block:
            self.found.string(block.get("image_url"), f"{at}/image_url", limit=3000)
        self.found.string(block.get("alt_text"), f"{at}/alt_text", limit=2000)
        if "title" in block:
            self.found.text(block["title"], f"{at}/title", limit=2000, plain=True)

    def _input(self, block: Json, at: str) -> None:
        self.found.text(block.get("label"), f"{at}/label", limit=2000, plain=True)
        if "hint" in block:
            self.found.text(block["hint"], f"{at}/hint", limit=2000, plain=True)
        check_element(
            self.found,
            block.get("element"),
            f"{at}/element",
            IN_INPUT - ({"file_input"} if self.surface != "modal" else set()),
            set(),
        )
