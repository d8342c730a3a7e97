"""The answer to "who gets this message", with what led to it, and the port to an encoder of texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray


class Neighbour(msgspec.Struct, frozen=True, kw_only=True):
    """An utterance close to the text: its route, its words and the cosine between both, -1..1."""

    route: str
    utterance: str
    cosine: float


class RuleHit(msgspec.Struct, frozen=True, kw_only=True):
    """A keyword rule that hits a text: its route, the words that made it hit, and the one that silences it, if any."""

    route: str
    matched: str
    silenced_by: str = ""


class RouteChoice(msgspec.Struct, frozen=True, kw_only=True):
    """Which route takes a text, or none, and why.

    `score` is a calibrated probability, 0..1 (1.0 for a keyword rule). `matched` is the keyword, phrase or
    expression that hit, empty when similarity decided. `type` is the message type that the route emits.
    `rules` are all that hit, the deciding one first, filled in by an explanation alone.
    `candidates` are the routes among which it is better to ask, none when the choice is clear; see `NotSure`.
    """

    route: str | None
    type: str
    score: float
    reason: str  # keyword | similarity | below threshold | other
    threshold: float = 0.0
    matched: str = ""
    neighbours: tuple[Neighbour, ...] = ()
    scores: dict[str, float] = {}
    candidates: tuple[str, ...] = ()
    rules: tuple[RuleHit, ...] = ()


class Encoder(Protocol):
    """Turns texts into vectors."""

    @property
    def name(self) -> str:
        """The encoder and its version, a key for caches."""
        ...

    @property
    def dimension(self) -> int:
        """The number of columns that `encode` returns."""
        ...

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit-length row per text, shape (len(texts), dimension), float32. Blocks: call it in a thread."""
        ...
