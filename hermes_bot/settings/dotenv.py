"""Reads a `.env` file: `NAME=value` lines, as shells and most tools write them, without expansion."""

from __future__ import annotations

import re
from pathlib import Path

from hermes_bot.errors import SettingsError
from hermes_bot.settings.problems import Problem, refuse

_LINE = re.compile(r"\s*(?:export\s+)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)\s*=\s*(?P<value>.*?)\s*$")
_QUOTED = re.compile(r"(?P<quote>['\"])(?P<text>.*)(?P=quote)\s*(?:#.*)?$")


def read_dotenv(path: Path) -> dict[str, str]:
    """Return the variables in `path`, none where there is no such file; raise SettingsError for a line that is none."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError("this file cannot be read; make it readable UTF-8 text", file=path.name) from error
    values: dict[str, str] = {}
    problems = []
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _LINE.match(line)
        if match:
            values[match["name"]] = _value(match["value"])
        else:
            problems.append(Problem(text="this is no NAME=value line", place=path.name, line=number))
    if problems:
        refuse(problems)
    return values


def _value(raw: str) -> str:
    """Return the value without quotes and without a comment behind it."""
    quoted = _QUOTED.match(raw)
    return quoted["text"] if quoted else re.split(r"\s#", f" {raw}", maxsplit=1)[0].strip()
