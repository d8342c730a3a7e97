"""Faults that a test sets on a Web API method: each is used up by the calls that it spoils."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class RateLimited:
    """HTTP 429 `ratelimited`; `retry_after_s` None leaves the header out, as Slack sometimes does."""

    retry_after_s: float | None = 1


@dataclass(frozen=True, slots=True)
class ServerError:
    """An HTTP status of 500 or above with a body that is not JSON."""

    status: int = 500


@dataclass(frozen=True, slots=True)
class ReplyLost:
    """The call takes effect, then the connection is closed without an answer."""


@dataclass(frozen=True, slots=True)
class ApiError:
    """The method answers `{"ok": false, "error": …}` and has no effect."""

    error: str


@dataclass(frozen=True, slots=True)
class TokenRevoked:
    """The token is revoked for good at this call; only `Tokens.restore` makes it good again."""


@dataclass(frozen=True, slots=True)
class Slow:
    """The call takes effect at once and is answered that much later, on the workspace's clock."""

    delay_s: float


@dataclass(frozen=True, slots=True)
class Lacks:
    """The call takes effect, and its answer lacks these fields, as another server's may: "message", "user.profile"."""

    fields: tuple[str, ...]

    def left_of(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer without the fields."""
        left = dict(body)
        for field in self.fields:
            outer, _, inner = field.partition(".")
            if not inner:
                left.pop(outer, None)
            elif isinstance(left.get(outer), Mapping):
                left[outer] = Lacks((inner,)).left_of(left[outer])
        return left


Fault = RateLimited | ServerError | ReplyLost | ApiError | TokenRevoked | Slow | Lacks


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    method: str
    fault: Fault
    times: int
    channel: str


class Faults:
    """The faults that wait for their calls, oldest first."""

    def __init__(self) -> None:
        self._entries: list[_Entry] = []
        self._known: frozenset[str] | None = None

    def only(self, *methods: str) -> None:
        """Answer `unknown_method` to all but these, as an older or another server does; without any, know all again."""
        self._known = frozenset(methods) or None

    def knows(self, method: str) -> bool:
        """Return whether the method is one that is answered."""
        return self._known is None or method in self._known

    def add(self, *, method: str, fault: Fault, times: int = 1, channel: str = "") -> None:
        """Spoil the next `times` calls of `method` ("*": of any), in `channel` alone when one is given."""
        self._entries.append(_Entry(method=method, fault=fault, times=times, channel=channel))

    def take(self, method: str, channel: str) -> Fault | None:
        """Return the fault for this call and count it as used; None when the call is to go well."""
        for at, entry in enumerate(self._entries):
            if entry.method not in (method, "*") or (entry.channel and entry.channel != channel):
                continue
            self._entries[at : at + 1] = [replace(entry, times=entry.times - 1)] if entry.times > 1 else []
            return entry.fault
        return None

    def waiting(self) -> int:
        """Return how many calls are still to be spoiled."""
        return sum(entry.times for entry in self._entries)

    def clear(self) -> None:
        """Forget all faults."""
        self._entries.clear()
