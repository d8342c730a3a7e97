"""A clock that stands still, and an encoder without a model: texts are near when they share words."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from hermes_bot.errors import TransientError
from hermes_bot.memory.owner import PersonOwner

DIMENSION = 64
EMMA, LI = PersonOwner("T1", "U0EMMA"), PersonOwner("T1", "U0LI")


class Clock:
    """Noon of a day in May; `pass_by` moves it."""

    def __init__(self) -> None:
        self.now = datetime(2026, 5, 4, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def pass_by(self, minutes: float) -> None:
        self.now += timedelta(minutes=minutes)


class WordEncoder:
    """Adds up a random direction for each word. `away` makes it fail as an endpoint that is down."""

    def __init__(self, name: str = "words-1", dimension: int = DIMENSION) -> None:
        self.name = name
        self.dimension = dimension
        self.away = False
        self.encoded = 0

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.away:
            raise TransientError("encoder: the endpoint does not answer")
        self.encoded += len(texts)
        rows = np.stack([self._row(text) for text in texts]) if texts else np.zeros((0, self.dimension))
        return rows.astype(np.float32)

    def _row(self, text: str) -> NDArray[np.float64]:
        total = np.zeros(self.dimension)
        for word in text.casefold().split() or [""]:
            seed = int.from_bytes(hashlib.blake2b(f"{self.name}{word}".encode(), digest_size=8).digest())
            total += np.random.default_rng(seed).normal(size=self.dimension)
        return np.asarray(total / np.linalg.norm(total))
