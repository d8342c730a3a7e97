"""How a log record is written: as one line of JSON for machines, as one line of words for people."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Any

from hermes_bot.observe.context import KEYS, current
from hermes_bot.observe.hops import HOP, hop_line
from hermes_bot.observe.redact import Redactor

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_COLOURS = {"DEBUG": "2", "INFO": "36", "WARNING": "33", "ERROR": "31", "CRITICAL": "1;31"}


def fields_of(record: logging.LogRecord, redactor: Redactor) -> dict[str, Any]:
    """Return the record's own fields and the bound ones, redacted; the common keys first, empty ones left out."""
    given = {**current(), **{key: value for key, value in vars(record).items() if key not in _STANDARD}}
    keys = [key for key in KEYS if given.get(key) not in {None, ""}]
    rest = [key for key in given if key not in KEYS]
    return {key: redactor.field(key, given[key]) for key in [*keys, *rest]}


class JsonFormat(logging.Formatter):
    """One JSON object a line: at, level, logger, event, then the fields; an exception as `error` and `traceback`."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redactor = redactor

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, without a line break."""
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": self._redactor.text(record.getMessage()),
        }
        line |= {key: value for key, value in fields_of(record, self._redactor).items() if key not in line}
        if record.exc_info:
            line["error"] = self._redactor.text(str(record.exc_info[1]))
            line["traceback"] = self._redactor.text(self.formatException(record.exc_info))
        return json.dumps(line, ensure_ascii=False)


class ConsoleFormat(logging.Formatter):
    """One line for a person, coloured on a terminal; a traceback only where `debug` is on."""

    def __init__(self, redactor: Redactor, *, colour: bool, debug: bool) -> None:
        super().__init__()
        self._redactor = redactor
        self._colour = colour
        self._debug = debug

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, without a line break at its end."""
        fields = fields_of(record, self._redactor)
        if record.getMessage() == HOP and "outputs" in fields:
            return self._paint("2", hop_line(fields))
        at = datetime.fromtimestamp(record.created).astimezone().strftime("%H:%M:%S")
        level = self._paint(_COLOURS.get(record.levelname, ""), f"{record.levelname.lower():<8}")
        told = "  ".join(f"{key}={value}" for key, value in fields.items())
        event = self._redactor.text(record.getMessage())
        line = f"{self._paint('2', at)} {level}{event}  {self._paint('2', told) if told else ''}".rstrip()
        return line + self._exception(record)

    def _exception(self, record: logging.LogRecord) -> str:
        if not record.exc_info:
            return ""
        if self._debug:
            return "\n" + self._redactor.text(self.formatException(record.exc_info))
        kind, error = record.exc_info[:2]
        return f"  ({kind.__name__ if kind else 'error'}: {self._redactor.text(str(error))})"

    def _paint(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._colour and code else text
