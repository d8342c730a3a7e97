"""Tells a person why the program ended: one sentence for what we know, a reference for what we do not."""

from __future__ import annotations

import errno
import logging
import secrets
import traceback
from typing import TextIO

from hermes_bot.errors import HermesError, SettingsError
from hermes_bot.observe import Redactor, log_file

PROBLEM = 1
WRONG_USE = 2

_LOG = logging.getLogger(__name__)


def report(error: BaseException, stream: TextIO, *, debug: bool = False) -> int:
    """Write what went wrong, without a traceback, and return the exit code."""
    known = _known(error)
    if known is not None:
        for line in str(known).splitlines():
            stream.write(f"hermes-bot: {line}\n")
        return WRONG_USE if isinstance(known, SettingsError) else PROBLEM
    reference = f"ERR-{secrets.token_hex(4)}"
    file = log_file()
    where = f"{file} tells more" if file else "run it again with --debug to see more"
    stream.write(f"hermes-bot: something went wrong on our side. Reference {reference}; {where}.\n")
    if file is not None:
        _LOG.error("unexpected error", exc_info=error, extra={"reference": reference})
    elif debug:
        stream.write(Redactor().text("".join(traceback.format_exception(error))))
    return PROBLEM


def _known(error: BaseException) -> BaseException | None:
    """Return the error that a person can act on, also from within a group; None where there is none."""
    if isinstance(error, HermesError):
        return error
    if isinstance(error, BaseExceptionGroup):
        return next((known for each in error.exceptions if (known := _known(each)) is not None), None)
    if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EROFS, errno.EDQUOT}:
        return HermesError(f"cannot write {error.filename or 'to the data folder'}: {error.strerror}")
    return None
