"""Sets logging up: words on the console, JSON Lines in a file."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TextIO

from hermes_bot.errors import SettingsError
from hermes_bot.observe.formats import ConsoleFormat, JsonFormat
from hermes_bot.observe.hops import on_the_way
from hermes_bot.observe.redact import Redactor

OUR_LOGGERS = ("hermes_bot", "agents", "routing")

_MAX_BYTES = 20_000_000
_KEPT_FILES = 5


def configure(
    *, stream: TextIO, debug: bool = False, colour: bool = False, file: Path | None = None, secrets: Iterable[str] = ()
) -> Callable[[], None]:
    """Send records to `stream` as words and to `file` as JSON Lines, both redacted; return what undoes it.

    Hops stand in the file always, on the stream with `debug` only. Libraries are heard from WARNING on.
    """
    redactor = Redactor(secrets)
    handlers: list[logging.Handler] = [_console(stream, redactor, colour=colour, debug=debug)]
    if file is not None:
        handlers.append(_file(file, redactor))
    root = logging.getLogger()
    before = {logger: logger.level for logger in (root, *map(logging.getLogger, OUR_LOGGERS))}
    root.setLevel(logging.WARNING)
    for name in OUR_LOGGERS:
        logging.getLogger(name).setLevel(logging.DEBUG if debug else logging.INFO)
    for handler in handlers:
        root.addHandler(handler)

    def undo() -> None:
        for handler in handlers:
            root.removeHandler(handler)
            handler.close()
        for logger, level in before.items():
            logger.setLevel(level)

    return undo


def log_file() -> Path | None:
    """Return the file that records go to, None where there is none."""
    files = (handler for handler in logging.getLogger().handlers if isinstance(handler, RotatingFileHandler))
    return next((Path(handler.baseFilename) for handler in files), None)


def _console(stream: TextIO, redactor: Redactor, *, colour: bool, debug: bool) -> logging.Handler:
    handler = logging.StreamHandler(stream)
    handler.setFormatter(ConsoleFormat(redactor, colour=colour, debug=debug))
    handler.addFilter(on_the_way)
    if not debug:
        handler.addFilter(lambda record: record.name != "hermes_bot.hops")
    return handler


def _file(file: Path, redactor: Redactor) -> logging.Handler:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handler = RotatingFileHandler(file, maxBytes=_MAX_BYTES, backupCount=_KEPT_FILES, encoding="utf-8")
    except OSError as error:
        reason = error.strerror or str(error)
        message = f"data folder {file.parent} cannot be written: {reason}; set data.path to a folder that can"
        raise SettingsError(message, key="data.path") from error
    handler.setFormatter(JsonFormat(redactor))
    return handler
