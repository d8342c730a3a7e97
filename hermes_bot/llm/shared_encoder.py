"""One encoder for routers and memory: models are not made for calls from two threads at once.

A message is looked at several times (where it goes, what is known about it, which article answers it), each time with
the same text: that is encoded once.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hermes_bot.llm.joined_encoder import Part

CHUNK = 32
RECENT = 64
HEAD_CHARACTERS = 2_000
"""As much of a text is looked at, whatever a customer pastes: 40,000 characters would hold everybody up for seconds."""


class SharedEncoder:
    """Lets one thread in at a time, and makes a long list wait in between, so that a customer's text waits little."""

    def __init__(self, encoder: Part) -> None:
        self._encoder = encoder
        self._lock = threading.Lock()
        self._recent: dict[str, NDArray[np.float32]] = {}

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
        heads = [text[:HEAD_CHARACTERS] for text in texts]
        if len(heads) == 1:
            return self._alone(heads[0])
        rows = []
        for start in range(0, max(1, len(heads)), CHUNK):
            with self._lock:
                rows.append(self._encoder.encode(heads[start : start + CHUNK]))
        return np.concatenate(rows)

    def _alone(self, text: str) -> NDArray[np.float32]:
        """Return the row of a text that comes alone, encoded anew where it is none of the last ones."""
        with self._lock:
            row = self._recent.pop(text, None)
            if row is None:
                row = self._encoder.encode([text])
            self._recent[text] = row  # the newest stands last
            if len(self._recent) > RECENT:
                del self._recent[next(iter(self._recent))]
            return row.copy()
