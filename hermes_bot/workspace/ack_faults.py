"""What happens to the app's acknowledgements on their way: a test lets some get lost or come late."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AckFault:
    """The ack is lost for good (`delay_s` None), or arrives that much later on the workspace's clock.

    With an `event_id` it is the ack of that event, and of no other.
    """

    delay_s: float | None = None
    event_id: str = ""


class AckFaults:
    """The faults that wait for their acks, oldest first. `server.acks.lose(2)` makes two deliveries come again."""

    def __init__(self) -> None:
        self._waiting: list[AckFault] = []

    def lose(self, times: int = 1, event_id: str = "") -> None:
        """Lose the next acks, of one event where it is named: the app did its work and Slack does not know."""
        self._waiting += [AckFault(event_id=event_id)] * times

    def delay(self, delay_s: float, times: int = 1) -> None:
        """Let the next acks arrive late."""
        self._waiting += [AckFault(delay_s)] * times

    def take(self, event_id: str = "") -> AckFault | None:
        """Return the fault of this event's ack and count it as used; None when it arrives in good order."""
        for at, fault in enumerate(self._waiting):
            if fault.event_id in ("", event_id):
                return self._waiting.pop(at)
        return None

    def waiting(self) -> int:
        """Return how many acks are still to be spoiled."""
        return len(self._waiting)

    def clear(self) -> None:
        """Forget all faults."""
        self._waiting.clear()
