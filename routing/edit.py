"""Writes an utterance into a routes file and leaves everything else in it as it was, comments above all."""

from __future__ import annotations

import difflib
import io
import os
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import YAMLError
from ruamel.yaml.scalarstring import DoubleQuotedScalarString
from ruamel.yaml.tokens import CommentToken

from hermes_bot.errors import SettingsError
from routing.routes_file import read_table

WIDTH = 100_000  # never fold a line that the author did not fold
_PLAIN_START = frozenset("-?:,[]{}#&*!|>'\"%@` ")


class ReadOnly(SettingsError):
    """The routes file may not be written; the text says how to get one that may."""


def with_utterance(content: bytes, route: str, language: str, utterance: str, *, file: str) -> bytes:
    """Return the file's content with the utterance as the last of its language; raise SettingsError where it cannot be.

    What comes out is read again before it is returned: it is a good routes file that holds the utterance.
    """
    read_table(content, file=file)
    writer = _writer()
    try:
        tree = writer.load(content.decode())
    except YAMLError as error:
        raise SettingsError(f"cannot be edited: {error}", file=file) from error
    entry = next((each for each in tree["routes"] if each.get("name") == route), None)
    if entry is None:
        raise SettingsError(f"there is no route {route!r}", file=file, key="routes")
    _append(entry, language, utterance)
    out = io.BytesIO()
    writer.dump(tree, out)
    edited = out.getvalue()
    table = read_table(edited, file=file)
    written = next(each for each in table.routes if each.name == route)
    if utterance not in written.utterances.get(language, ()):
        raise SettingsError("the utterance did not come out as it went in", file=file)
    return edited


def with_numbers(content: bytes, *, temperature: float | None, thresholds: Mapping[str, float], file: str) -> bytes:
    """Return the file's content with these numbers in place of its own; raise SettingsError where it cannot be.

    `temperature` None and routes that are not named stay as they are.
    """
    read_table(content, file=file)
    writer = _writer()
    tree = writer.load(content.decode())
    if temperature is not None and "temperature" in tree:
        tree["temperature"] = temperature
    elif temperature is not None:
        tree.insert(list(tree).index("routes"), "temperature", temperature)
    for entry in tree["routes"]:
        if entry["name"] in thresholds and "score_threshold" in entry:
            entry["score_threshold"] = thresholds[entry["name"]]
        elif entry["name"] in thresholds:
            entry.insert(1 + list(entry).index("type"), "score_threshold", thresholds[entry["name"]])
    out = io.BytesIO()
    writer.dump(tree, out)
    read_table(out.getvalue(), file=file)
    return out.getvalue()


def changed_lines(old: bytes, new: bytes, *, name: str) -> str:
    """Return the difference as a unified diff, without lines around it."""
    lines = difflib.unified_diff(
        old.decode().splitlines(), new.decode().splitlines(), f"{name} (now)", f"{name} (then)", n=0, lineterm=""
    )
    return "\n".join(lines)


def replace_file(file: Path, content: bytes) -> None:
    """Replace the file's content in one step; raise ReadOnly where that is not allowed.

    Who reads the file meanwhile sees the old content or the new one, whole.
    """
    target = file.resolve()
    try:
        mode = stat.S_IMODE(target.stat().st_mode)
        if not os.access(target, os.W_OK):
            raise PermissionError
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(handle, "wb") as draft:
            draft.write(content)
            draft.flush()
            os.fsync(draft.fileno())
        Path(name).chmod(mode)
        Path(name).replace(target)
    except OSError as error:
        raise ReadOnly(
            f"cannot be written ({error.strerror or 'read-only'}). Copy it into a folder of your own, for example "
            f"`mkdir -p configs && cp {target} configs/routing.yaml`, and start Hermes beside that folder, "
            "or set routing.file to the copy",
            file=str(file),
            key="routing.file",
        ) from error


def _append(entry: Any, language: str, utterance: str) -> None:
    if entry.get("utterances") is None:
        entry["utterances"] = CommentedMap()
    by_language = entry["utterances"]
    if by_language.get(language) is None:
        by_language[language] = CommentedSeq()
    sentences = by_language[language]
    value = utterance if _may_stand_plain(utterance) else DoubleQuotedScalarString(utterance)
    trailing = _taken_comment(sentences)
    sentences.append(value)
    if trailing is not None and not sentences.fa.flow_style():
        sentences.ca.items[len(sentences) - 1] = trailing


def _taken_comment(sentences: CommentedSeq) -> Any:
    """Return what stands below the last item (comments, blank lines), which has to stay at the end.

    A comment on the item's own line stays with the item.
    """
    place = len(sentences) - 1
    found = sentences.ca.items.get(place)
    if not found or found[0] is None:
        return sentences.ca.items.pop(place, None)
    own, newline, below = found[0].value.partition("\n")
    if not own:
        return sentences.ca.items.pop(place)
    sentences.ca.items[place] = [_token(own + newline, found[0]), *found[1:]]
    return [_token(newline + below, found[0]), *([None] * (len(found) - 1))] if below else None


def _token(value: str, like: Any) -> CommentToken:
    return CommentToken(value, like.start_mark, None, like.column)


def _may_stand_plain(text: str) -> bool:
    """Whether YAML reads the bare words as these very words."""
    if text[0] in _PLAIN_START or ": " in text or " #" in text or text.endswith(":") or "\n" in text:
        return False
    try:
        return bool(yaml.safe_load(text) == text)
    except yaml.YAMLError:
        return False


def _writer() -> YAML:
    writer = YAML(typ="rt", pure=True)
    writer.preserve_quotes = True
    writer.width = WIDTH
    writer.indent(mapping=2, sequence=4, offset=2)
    writer.allow_unicode = True
    return writer
