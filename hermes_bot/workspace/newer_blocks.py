"""The blocks that came with agents: markdown, tables, tasks, plans, cards, containers, feedback."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hermes_bot.workspace.elements import IN_CONTEXT_ACTIONS, check_element
from hermes_bot.workspace.found import Found
from hermes_bot.workspace.posts import Json

MAX_MARKDOWN = 12_000
FIELDS: Mapping[str, frozenset[str]] = {
    "markdown": frozenset({"text"}),
    "rich_text": frozenset({"elements"}),
    "table": frozenset({"rows", "column_settings"}),
    "data_table": frozenset({"rows", "column_settings", "caption", "title", "page_size", "row_header_column_index"}),
    "context_actions": frozenset({"elements"}),
    "task_card": frozenset({"task_id", "title", "details", "output", "sources", "status"}),
    "plan": frozenset({"title", "tasks"}),
    "alert": frozenset({"text", "level"}),
    "card": frozenset({"hero_image", "icon", "title", "subtitle", "body", "actions", "slack_icon", "subtext"}),
    "carousel": frozenset({"elements"}),
    "video": frozenset(
        {
            "alt_text",
            "author_name",
            "description",
            "provider_icon_url",
            "provider_name",
            "title",
            "title_url",
            "thumbnail_url",
            "video_url",
        }
    ),
    "container": frozenset(
        {
            "title",
            "rich_text_title",
            "subtitle",
            "child_blocks",
            "width",
            "icon",
            "is_collapsible",
            "default_collapsed",
            "has_header_divider",
        }
    ),
}
ON_SURFACES: Mapping[str, frozenset[str]] = {
    "alert": frozenset({"modal"}),
    **dict.fromkeys(("table", "data_table", "context_actions", "task_card", "plan"), frozenset({"message"})),
}
_TASK_STATES = ("pending", "in_progress", "complete", "error")


def _markdown(found: Found, block: Json, at: str) -> None:
    found.string(block.get("text"), f"{at}/text", limit=MAX_MARKDOWN)


def _rich_text(found: Found, block: Json, at: str) -> None:
    found.rich_text(block, at)


def _table(found: Found, block: Json, at: str) -> None:
    for number, row in enumerate(found.array(block.get("rows"), f"{at}/rows", limit=100)):
        for column, cell in enumerate(found.array(row, f"{at}/rows/{number}", limit=20)):
            place = f"{at}/rows/{number}/{column}"
            kind = cell.get("type") if isinstance(cell, dict) else None
            found.one_of(kind, ("raw_text", "raw_number", "rich_text"), f"{place}/type")
            if kind == "rich_text":
                found.rich_text(cell, place)
            elif kind == "raw_text" and not isinstance(cell.get("text"), str):
                found.add("missing required field: text", place)
    if block.get("column_settings"):
        found.array(block["column_settings"], f"{at}/column_settings", limit=20)


def _context_actions(found: Found, block: Json, at: str) -> None:
    action_ids: set[str] = set()
    for number, one in enumerate(found.array(block.get("elements"), f"{at}/elements", limit=5)):
        check_element(found, one, f"{at}/elements/{number}", IN_CONTEXT_ACTIONS, action_ids)


def _task_card(found: Found, block: Json, at: str) -> None:
    found.string(block.get("task_id"), f"{at}/task_id", limit=255)
    found.string(block.get("title"), f"{at}/title", limit=256)
    found.one_of(block.get("status"), _TASK_STATES, f"{at}/status")
    for key in ("details", "output"):
        if key in block:
            found.rich_text(block[key], f"{at}/{key}")


def _plan(found: Found, block: Json, at: str) -> None:
    found.string(block.get("title"), f"{at}/title", limit=256)
    for number, task in enumerate(found.array(block["tasks"], f"{at}/tasks", limit=50) if "tasks" in block else ()):
        place = f"{at}/tasks/{number}"
        if not isinstance(task, dict) or task.get("type") != "task_card":
            found.add("must be a task_card block", place)
            continue
        found.only(task, FIELDS["task_card"] | {"type", "block_id"}, place)
        _task_card(found, task, place)


def _alert(found: Found, block: Json, at: str) -> None:
    found.text(block.get("text"), f"{at}/text", limit=200)
    if "level" in block:
        found.one_of(block["level"], ("default", "info", "warning", "error", "success"), f"{at}/level")


def _card(found: Found, block: Json, at: str) -> None:
    if not any(key in block for key in ("hero_image", "title", "actions", "body")):
        found.add("must define at least one of `hero_image`, `title`, `actions`, `body`", at)
    for key, limit in (("title", 150), ("subtitle", 150), ("body", 200)):
        if key in block:
            found.text(block[key], f"{at}/{key}", limit=limit)
    for key in ("hero_image", "icon"):
        if key in block:
            check_element(found, block[key], f"{at}/{key}", frozenset({"image"}), set())
    action_ids: set[str] = set()
    for number, one in enumerate(found.array(block["actions"], f"{at}/actions", limit=5) if "actions" in block else ()):
        check_element(found, one, f"{at}/actions/{number}", frozenset({"button"}), action_ids)


def _carousel(found: Found, block: Json, at: str) -> None:
    for number, card in enumerate(found.array(block.get("elements"), f"{at}/elements", limit=10)):
        place = f"{at}/elements/{number}"
        if not isinstance(card, dict) or card.get("type") != "card":
            found.add("must be a card block", place)
            continue
        found.only(card, FIELDS["card"] | {"type", "block_id"}, place)
        _card(found, card, place)


def _container(found: Found, block: Json, at: str) -> None:
    if "rich_text_title" in block:
        found.rich_text(block["rich_text_title"], f"{at}/rich_text_title")
    else:
        found.text(block.get("title"), f"{at}/title", limit=150, plain=True)
    if "subtitle" in block:
        found.text(block["subtitle"], f"{at}/subtitle", limit=150)
    if "width" in block:
        found.one_of(block["width"], ("narrow", "standard", "wide", "full"), f"{at}/width")
    if block.get("is_collapsible") is True and block.get("has_header_divider") is True:
        found.add("`has_header_divider` is not allowed when `is_collapsible` is set", at)
    found.array(block.get("child_blocks"), f"{at}/child_blocks", limit=10)


def _video(found: Found, block: Json, at: str) -> None:
    for key, limit in (("alt_text", 2000), ("thumbnail_url", 3000), ("video_url", 3000)):
        found.string(block.get(key), f"{at}/{key}", limit=limit)
    found.text(block.get("title"), f"{at}/title", limit=199, plain=True)


CHECKS: Mapping[str, Callable[[Found, Json, str], None]] = {
    "markdown": _markdown,
    "rich_text": _rich_text,
    "table": _table,
    "data_table": _table,
    "context_actions": _context_actions,
    "task_card": _task_card,
    "plan": _plan,
    "alert": _alert,
    "card": _card,
    "carousel": _carousel,
    "container": _container,
    "video": _video,
}
