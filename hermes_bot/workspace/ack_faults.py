"""What happens to the app's acknowledgements on their way: a test lets some get lost or come late."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AckFault:
    """The ack is lost for good (`delay_s` None), or arrives that much later on the workspace's clock."""

    delay_s: float | None = None


class AckFaults:
    """The faults that wait for their acks, oldest first. `server.acks.lose(2)` makes two deliveries come again."""

    def __init__(self) -> None:
        self._waiting: list[AckFault] = []

    def lose(self, times: int = 1) -> None:
        """Lose the next acks: the app did its work and Slack does not know."""
        self._waiting += [AckFault()] * times

    def delay(self, delay_s: float, times: int = 1) -> None:
        """Let the next acks arrive late."""
        self._waiting += [AckFault(delay_s)] * times

    def take(self) -> AckFault | None:
        """Return the fault of this ack and count it as used; None when it arrives in good order."""
        return self._waiting.pop(0) if self._waiting else None

    def clear(self) -> None:
        """Forget all faults."""
        self._waiting.clear()
