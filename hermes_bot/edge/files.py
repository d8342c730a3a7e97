"""Files that come with a message: named on the ticket with their links, never downloaded; some kinds are not kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hermes_bot.edge.spoken import mappings
from hermes_bot.edge.text import storable

MOST_FILES = 10
NAME_CHARACTERS = 120
LINK_CHARACTERS = 1_000
MEGABYTE = 1_048_576


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRules:
    """`slack.files`: a larger file, or one of a kind that is not listed, is named but its link is not kept.

    `types` are Slack's `filetype` words; none listed: every kind.
    """

    max_bytes: int = 25 * MEGABYTE
    types: tuple[str, ...] = ()


def named_files(message: Mapping[str, Any], rules: FileRules | None = None) -> tuple[str, ...]:
    """Return a line for each file, those of forwarded messages too: its name, then its link, or why there is none."""
    rules = rules or FileRules()
    shared = [each for each in mappings(message.get("attachments")) if each.get("is_share")]
    files = [file for each in (message, *shared) for file in mappings(each.get("files"))]
    lines = [_line(file, rules) for file in files[:MOST_FILES]]
    return (*lines, f"… {len(files) - MOST_FILES}") if len(files) > MOST_FILES else tuple(lines)


def _line(file: Mapping[str, Any], rules: FileRules) -> str:
    name = _words(file.get("name")) or _words(file.get("title")) or _words(file.get("id")) or "file"
    size, kind, link = file.get("size"), _words(file.get("filetype")).lower(), file.get("permalink")
    if isinstance(size, int) and size > rules.max_bytes:
        return f"{name} (too large)"
    if rules.types and kind not in rules.types:
        return f"{name} (kind not kept)"
    fits = isinstance(link, str) and link.startswith(("https://", "http://")) and len(link) <= LINK_CHARACTERS
    return f"{name} {storable(link)}" if fits and isinstance(link, str) else name


def _words(raw: object) -> str:
    return storable(" ".join(str(raw).split()))[:NAME_CHARACTERS] if isinstance(raw, str) else ""
