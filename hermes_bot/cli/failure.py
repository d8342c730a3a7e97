"""Tells a person why the program ended: one sentence for what we know, a reference for what we do not."""

from __future__ import annotations

import errno
import logging
import secrets
from typing import TextIO

from hermes_bot.errors import HermesError, SettingsError

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
    if logging.getLogger().handlers:
        _LOG.error("unexpected error", exc_info=error, extra={"reference": reference})
        where = "the log file tells more"
    else:
        where = "run it again with --debug to see more"
    stream.write(f"hermes-bot: something went wrong on our side. Reference {reference}; {where}.\n")
    if debug and not logging.getLogger().handlers:
        logging.basicConfig(stream=stream)
        _LOG.error("unexpected error", exc_info=error, extra={"reference": reference})
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
