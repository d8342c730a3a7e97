"""Whether an app is still told of events: Slack stops when nearly all that it delivers fails."""

from __future__ import annotations

from collections import deque

from hermes_bot.workspace.clock import Clock

WINDOW_S = 3_600.0
LOWEST_SUCCESS = 0.05
FEWEST_EVENTS = 1_000


class Subscriptions:
    """The event subscriptions of one app. With `watched` they are disabled below 5 % success over an hour.

    An app that gets fewer than 1,000 events an hour keeps them. `enable` is the switch in the app's own settings.
    """

    def __init__(self, clock: Clock) -> None:
        self.watched = False
        self.disabled = False
        self._clock = clock
        self._events: deque[float] = deque()
        self._tries: deque[tuple[float, bool]] = deque()
        self._taken = 0
        self._since = clock.now()

    def sent(self) -> None:
        """Count an event on its way."""
        if self.watched:
            self._events.append(self._clock.now())

    def tried(self, *, taken: bool) -> None:
        """Count a delivery and disable the subscriptions where too few of the last hour's were taken."""
        if not self.watched:
            return
        self._tries.append((self._clock.now(), taken))
        self._taken += taken
        self._forget()
        full_hour = self._clock.now() - self._since >= WINDOW_S
        if full_hour and len(self._events) >= FEWEST_EVENTS:
            self.disabled = self.disabled or self._taken < LOWEST_SUCCESS * len(self._tries)

    def enable(self) -> None:
        """Subscribe again, with an hour to do better."""
        self.disabled, self._since, self._taken = False, self._clock.now(), 0
        self._events.clear()
        self._tries.clear()

    def _forget(self) -> None:
        start = self._clock.now() - WINDOW_S
        while self._events and self._events[0] < start:
            self._events.popleft()
        while self._tries and self._tries[0][0] < start:
            self._taken -= self._tries.popleft()[1]
