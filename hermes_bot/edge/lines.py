"""One budget of calls, and the line of those who wait for it."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from hermes_bot.messages.message import PRIORITY_NOTICE, Message

RESERVED = 5.0
AGED_S = 60.0
LAPSE_S = 5.0
SOON_S = 0.25
WARY_S = 3600.0
MOST_PLACES = 10_000


class Haste(StrEnum):
    """Who waits for a call: a person, nobody much (a notice), or nobody at all (a decoration, which may be let go)."""

    PERSON = "person"
    NOTICE = "notice"
    DECORATION = "decoration"


def haste_of(message: Message) -> Haste:
    """Return who waits for what the message asks for."""
    return Haste.NOTICE if message.priority <= PRIORITY_NOTICE else Haste.PERSON


class Budget:
    """So many calls at once, and `per_s` more with every second: in t seconds at most `at_once + per_s * t`.

    Slack often takes more. So it is `trust` times that until Slack refuses a call, and again an hour after it did.
    """

    def __init__(self, at_once: float, per_s: float, now: float, *, trust: float = 1.0) -> None:
        self._granted = (max(at_once, 1.0), per_s)
        self._trust = max(trust, 1.0)
        self._wary_until = now
        self._level = self._granted[0] * self._trust
        self._at = now
        self.reserve = min(RESERVED, self._granted[0] // 4)

    def wait_s(self, now: float, calls: float) -> float:
        """Return in how many seconds there is room for so many calls."""
        self._fill(now)
        return max(self._at - now, 0.0) + max(calls - self._level, 0.0) / self._now(now)[1]

    def take(self, now: float) -> None:
        """Use one call."""
        self._fill(now)
        self._level -= 1.0

    def rest(self, now: float, seconds: float) -> None:
        """Have nothing for so long, then one call, then as many as come with time."""
        self.be_wary(now)
        self._level, self._at = 1.0, max(self._at, now + seconds)

    def be_wary(self, now: float) -> None:
        """Use no more than is granted for an hour."""
        self._wary_until = now + WARY_S
        self._level = min(self._level, self._granted[0])

    def _fill(self, now: float) -> None:
        if now > self._at:
            at_once, per_s = self._now(now)
            self._level = min(at_once, self._level + (now - self._at) * per_s)
            self._at = now

    def _now(self, now: float) -> tuple[float, float]:
        """Return how many may come at once, and how many more with every second."""
        times = 1.0 if now < self._wary_until else self._trust
        return self._granted[0] * times, self._granted[1] * times


@dataclass(slots=True)
class _Place:
    """When it was taken, and when the call was told to come back."""

    since: float
    due: float


class Line:
    """Those who wait for a budget: people in the order of coming, then notices in theirs.

    A place lapses when its call is `LAPSE_S` late: its delivery may have been cancelled, or be another process's by
    now. A notice that has waited for `AGED_S` stands in line with people from then on. `strict`: nobody goes while
    somebody before them has not come back.
    """

    def __init__(self, budget: Budget, *, strict: bool = False) -> None:
        self._budget = budget
        self._strict = strict
        self._people: OrderedDict[str, _Place] = OrderedDict()
        self._notices: OrderedDict[str, _Place] = OrderedDict()
        self.lock = asyncio.Lock()
        self.refusals = 0

    def wait_s(self, key: str, haste: Haste, now: float) -> float:
        """Return in how many seconds it is the call's turn, 0 for now."""
        self._forget_the_late(now)
        people = haste is Haste.PERSON or key in self._people
        ahead = _rank(self._people, key) if people else len(self._people) + _rank(self._notices, key)
        kept = 0.0 if people else self._budget.reserve
        wait_s = self._budget.wait_s(now, 1 + ahead + kept)
        return SOON_S if self._strict and ahead and wait_s < SOON_S else wait_s

    def stand(self, key: str, haste: Haste, now: float, wait_s: float) -> None:
        """Keep the call's place, or give it the last one, until it comes back after the wait."""
        place = self._people.get(key) or self._notices.get(key) or _Place(since=now, due=now)
        place.due = now + wait_s
        aged = now - place.since >= AGED_S
        line = self._people if haste is Haste.PERSON or aged or key in self._people else self._notices
        if line is self._people:
            self._notices.pop(key, None)
        if key in line or len(line) < MOST_PLACES:
            line[key] = place

    def go(self, key: str, now: float) -> None:
        """Use one call of the budget and leave the line."""
        self._budget.take(now)
        self._people.pop(key, None)
        self._notices.pop(key, None)

    def be_wary(self, now: float) -> None:
        """Use no more than is granted for an hour."""
        self._budget.be_wary(now)

    def rest(self, key: str, now: float, seconds: float) -> None:
        """Let nobody go for so long; the call that was turned away is the first afterwards, if it has a key."""
        self._budget.rest(now, seconds)
        if key:
            self._notices.pop(key, None)
            self._people[key] = _Place(since=now, due=now + seconds)
            self._people.move_to_end(key, last=False)
        for at, place in enumerate(self._places()):
            place.due = max(place.due, now + self._budget.wait_s(now, 1 + at))

    def _places(self) -> Iterator[_Place]:
        yield from self._people.values()
        yield from self._notices.values()

    def _forget_the_late(self, now: float) -> None:
        for line in (self._people, self._notices):
            while line and (first := next(iter(line.items())))[1].due + LAPSE_S < now:
                del line[first[0]]


def _rank(line: OrderedDict[str, _Place], key: str) -> int:
    """Return how many stand before the call; all, where it has no place yet."""
    if key not in line:
        return len(line)
    return next(at for at, each in enumerate(line) if each == key)
