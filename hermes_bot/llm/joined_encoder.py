"""Several encoders as one: their vectors side by side, so that each makes up for what another does not know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Part(Protocol):
    """One of the joined encoders: unit-length rows, as the port to encoders says."""

    @property
    def name(self) -> str:
        """The encoder and its version."""
        ...

    @property
    def dimension(self) -> int:
        """The number of columns."""
        ...

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit-length row per text."""
        ...


class JoinedEncoder:
    """Concatenates what its parts return and scales each row to unit length, so that each part weighs the same."""

    def __init__(self, *parts: Part) -> None:
        if not parts:
            raise ValueError("a joined encoder needs at least one part")
        self._parts = parts

    @property
    def name(self) -> str:
        """The names of the parts, a key for caches."""
        return "+".join(part.name for part in self._parts)

    @property
    def dimension(self) -> int:
        """The number of columns that `encode` returns."""
        return sum(part.dimension for part in self._parts)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit-length row per text, shape (len(texts), dimension), float32. Blocks: call it in a thread."""
        rows = np.concatenate([part.encode(texts) for part in self._parts], axis=1)
        return np.asarray(rows / np.sqrt(np.float32(len(self._parts))), dtype=np.float32)
