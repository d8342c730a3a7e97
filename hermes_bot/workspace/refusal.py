"""The one error with which a part of the workspace says no: it becomes `{"ok": false, "error": …}`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hermes_bot.errors import HermesError


class Refusal(HermesError):
    """Slack's own error code, with the sentences of `response_metadata.messages` where there are any.

    `more` are further fields of the answer: `needed` and `provided` of a missing scope.
    """

    def __init__(self, error: str, messages: Sequence[str] = (), more: Mapping[str, str] | None = None) -> None:
        super().__init__(": ".join([error, *messages]))
        self.error = error
        self.messages = tuple(messages)
        self.more = dict(more or {})
