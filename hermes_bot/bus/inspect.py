"""The bus seen from another process: what the commands read and change in a sqlite file while the bot runs.

Nothing is leased here. A running bus notices within a second what was put back in its queue.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from hermes_bot.bus import erasure, rows
from hermes_bot.bus.erasure import Concerns, Erased
from hermes_bot.bus.port import ANY, Delivery, State, Wanted
from hermes_bot.bus.schema import alone, as_store_error, connect, require_current
from hermes_bot.errors import StoreError
from hermes_bot.messages.message import utc_now


class BusFile:
    """Short reads and writes on the bus database at `path`; raise StoreError where there is none of this version."""

    def __init__(self, path: Path, *, clock: Callable[[], datetime] = utc_now) -> None:
        self._path = path
        self._clock = clock
        if not path.is_file():
            raise StoreError(f"bus database {path} does not exist; has the bot run with this data.path?")
        with as_store_error(path):
            self._connection = connect(path)
            try:
                require_current(self._connection, path)
            except Exception:
                self._connection.close()
                raise

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def counts(self) -> Mapping[tuple[str, State], int]:
        """Return how many deliveries there are by (agent, state)."""
        with as_store_error(self._path):
            return rows.counts(self._connection)

    def oldest(self) -> Mapping[str, datetime]:
        """Return, by agent, since when the delivery waits that has waited longest of those in no final state."""
        with as_store_error(self._path):
            return rows.oldest(self._connection)

    def find(
        self, *, states: Sequence[State] = (), message_id: str = "", wanted: Wanted = ANY, limit: int = 100
    ) -> Sequence[Delivery]:
        """Return matching deliveries, newest first."""
        with as_store_error(self._path):
            return rows.find(self._connection, states, message_id, limit, wanted)

    def requeue(self, message_id: str, subscription: str) -> bool:
        """Put a dead, expired or suspended delivery back in its queue; return whether there was one."""
        with as_store_error(self._path):
            return rows.requeue(self._connection, message_id, subscription, self._clock(), outside=True) is not None

    def cancel(self, context_id: str) -> int:
        """Cancel what is unfinished in the context; return how much that is. A running bot obeys within a second."""
        with as_store_error(self._path):
            rows.order_cancellation(self._connection, context_id, self._clock(), outside=True)
            return rows.count_waiting(self._connection, context_id)

    def erase(self, concerns: Concerns) -> Erased:
        """Take the words out of deliveries that concern; return how many, and how many a running bot still works on."""
        with as_store_error(self._path), alone(self._path) as nobody:
            return erasure.erase(self._connection, concerns, alone=nobody)

    def pause(self) -> None:
        """Let nothing be handled, from within a second until `resume`, over restarts."""
        with as_store_error(self._path):
            rows.set_paused(self._connection, self._clock(), paused=True)

    def resume(self) -> None:
        """End the pause."""
        with as_store_error(self._path):
            rows.set_paused(self._connection, self._clock(), paused=False)

    def paused_since(self) -> datetime | None:
        """Return since when nothing may be handled, or None."""
        with as_store_error(self._path):
            return rows.paused_since(self._connection)

    def drop(self, message_id: str, subscription: str) -> bool:
        """Turn a dead, expired or suspended delivery into cancelled; return whether there was one."""
        with as_store_error(self._path):
            return rows.drop(self._connection, message_id, subscription, self._clock())
