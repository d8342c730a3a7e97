"""Reads labelled texts, JSON Lines with `text`, `label` and perhaps `lang`."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path

from hermes_bot.errors import SettingsError
from hermes_bot.settings.problems import Problem, did_you_mean, refuse
from routing.evaluate import LabelledText


def read_labelled(file: Path, *, labels: Collection[str] | None = None) -> Sequence[LabelledText]:
    """Return the file's rows; raise SettingsError that tells every line that is none, at most ten.

    `labels` are the known ones, None where any will do.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise SettingsError(f"cannot be read: {reason}", file=str(file)) from error
    rows, problems = [], []
    for number, line in enumerate(lines, start=1):
        read = _row(line, labels) if line.strip() else None
        if isinstance(read, LabelledText):
            rows.append(read)
        elif read is not None:
            problems.append(Problem(text=read, place=str(file), line=number))
    if problems:
        refuse(problems[:10])
    if not rows:
        raise SettingsError("holds no rows; each line is an object with text and label", file=str(file))
    return rows


def _row(line: str, labels: Collection[str] | None) -> LabelledText | str:
    """Return the row, or what is wrong with the line."""
    try:
        row = json.loads(line)
    except ValueError as error:
        return f"is not JSON: {error}"
    if not isinstance(row, dict) or not isinstance(row.get("text"), str) or not isinstance(row.get("label"), str):
        return "must be an object with text and label"
    label = row["label"]
    if labels is not None and label not in labels:
        near = did_you_mean(label, labels)
        remedy = f"did you mean {near!r}?" if near else f"known: {', '.join(labels)}"
        return f"unknown label {label!r}; {remedy}"
    return LabelledText(text=row["text"], label=label, lang=str(row.get("lang", "")))
