"""Vectors of the shipped utterances, kept on disk by content, so that a restart encodes nothing anew."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from routing import kept
from routing.choice import Encoder

_log = logging.getLogger(__name__)

_KEY_BYTES = 16
_UNIT_TOLERANCE = 0.05
_CHUNK = 64

Matrix = NDArray[np.float32]
Progress = Callable[[int, int], None]
"""Hears how many examples are encoded, and of how many."""


def unheard(done: int, whole: int) -> None:
    """Progress that nobody looks at."""


class VectorCache:
    """One file per encoder in `folder`: a key of each text's content and its vector. No folder, no cache."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def encode(self, encoder: Encoder, texts: Sequence[str], progress: Progress = unheard) -> Matrix:
        """Return one row per text, encoding only those that the file does not know. A damaged file is rebuilt."""
        if not texts:
            return np.zeros((0, encoder.dimension), dtype=np.float32)
        path = self.path(encoder)
        keys = [_key(text) for text in texts]
        known = _rows(kept.load(path) if path else None, encoder.dimension)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            known.update(zip(missing, _encoded(encoder, list(missing.values()), progress), strict=True))
        rows = {key: known[key] for key in keys}
        if path and (missing or len(known) > len(rows)):
            flat = np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(-1, _KEY_BYTES)
            kept.save(path, {"keys": flat, "vectors": np.stack(list(rows.values()))})
        return np.stack([rows[key] for key in keys]).astype(np.float32, copy=False)

    def path(self, encoder: Encoder) -> Path | None:
        """Return the file for this encoder."""
        return kept.file_for(self._folder, encoder.name, kind="utterances") if self._folder else None


def _encoded(encoder: Encoder, texts: Sequence[str], progress: Progress) -> Matrix:
    """Return the rows, encoded in chunks of texts of like length, which spares encoders that pad."""
    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    rows: Matrix | None = None
    for start in range(0, len(order), _CHUNK):
        chunk = order[start : start + _CHUNK]
        encoded = encoder.encode([texts[place] for place in chunk])
        if rows is None:
            rows = np.empty((len(texts), encoded.shape[1]), dtype=np.float32)
        rows[chunk] = encoded
        progress(start + len(chunk), len(texts))
    return np.zeros((0, encoder.dimension), dtype=np.float32) if rows is None else rows


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_KEY_BYTES).digest()


def _rows(stored: dict[str, NDArray[Any]] | None, dimension: int) -> dict[bytes, Matrix]:
    """Return the rows by key; none at all unless they are finite unit rows of the encoder's dimension."""
    if stored is None:
        return {}
    keys, vectors = stored.get("keys"), stored.get("vectors")
    if keys is None or vectors is None or keys.dtype != np.uint8 or vectors.dtype != np.float32:
        fits = False
    else:
        fits = keys.shape == (len(vectors), _KEY_BYTES) and vectors.shape == (len(keys), dimension)
        fits = fits and bool(np.all(np.abs(np.linalg.norm(vectors, axis=1) - 1) < _UNIT_TOLERANCE))
    if not fits or keys is None or vectors is None:
        _log.warning("cached utterances do not fit the encoder and will be rebuilt")
        return {}
    return {key.tobytes(): row for key, row in zip(keys, vectors, strict=True)}
