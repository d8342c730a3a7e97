"""One encoder for several routers: models are not made for calls from two threads at once."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hermes_bot.llm.joined_encoder import Part

CHUNK = 32


class SharedEncoder:
    """Lets one thread in at a time, and makes a long list wait in between, so that a customer's text waits little."""

    def __init__(self, encoder: Part) -> None:
        self._encoder = encoder
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The encoder and its version, a key for caches."""
        return self._encoder.name

    @property
    def dimension(self) -> int:
        """The number of columns that `encode` returns."""
        return self._encoder.dimension

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit-length row per text, shape (len(texts), dimension), float32. Blocks: call it in a thread."""
        rows = []
        for start in range(0, max(1, len(texts)), CHUNK):
            with self._lock:
                rows.append(self._encoder.encode(texts[start : start + CHUNK]))
        return np.concatenate(rows)
