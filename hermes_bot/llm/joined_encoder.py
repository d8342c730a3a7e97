"""Several encoders as one: their vectors side by side, so that each makes up for what another does not know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Part(Protocol):
    """One of the joined encoders: unit-length rows, as the port to encoders says, or zeros for what it cannot read."""

    @property
    def name(self) -> str:
        """The encoder and its version."""
        ...

    @property
    def dimension(self) -> int:
        """The number of columns."""
        ...

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row per text, of unit length or zero."""
        ...


class JoinedEncoder:
    """Concatenates what its parts return and scales each row to unit length, so that the parts weigh the same."""

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
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows / np.where(lengths > 0, lengths, np.float32(1.0)), dtype=np.float32)
