"""Vectors of the shipped utterances, kept on disk by content, so that a restart encodes nothing anew."""

from __future__ import annotations

import hashlib
import logging
import os
import re
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from routing.choice import Encoder

_log = logging.getLogger(__name__)

_KEY_BYTES = 16
_UNIT_TOLERANCE = 0.05

Matrix = NDArray[np.float32]


class VectorCache:
    """One file per encoder in `folder`: a key of each text's content and its vector. No folder, no cache."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def encode(self, encoder: Encoder, texts: Sequence[str]) -> Matrix:
        """Return one row per text, encoding only those that the file does not know. A damaged file is rebuilt."""
        keys = [_key(text) for text in texts]
        known = self._load(encoder)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            fresh = encoder.encode(list(missing.values()))
            known.update(zip(missing, fresh, strict=True))
        if missing or len(known) > len(set(keys)):
            self._save(encoder, {key: known[key] for key in keys})
        if not keys:
            return np.zeros((0, encoder.dimension), dtype=np.float32)
        return np.stack([known[key] for key in keys]).astype(np.float32, copy=False)

    def path(self, encoder: Encoder) -> Path | None:
        """Return the file for this encoder."""
        if self._folder is None:
            return None
        digest = hashlib.blake2b(encoder.name.encode(), digest_size=4).hexdigest()
        return self._folder / f"{re.sub(r'[^A-Za-z0-9._-]+', '-', encoder.name)[:60]}-{digest}.npz"

    def _load(self, encoder: Encoder) -> dict[bytes, Matrix]:
        path = self.path(encoder)
        if path is None or not path.exists():
            return {}
        try:
            with np.load(path, allow_pickle=False) as stored:
                return _checked(stored["keys"], stored["vectors"], encoder.dimension)
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            _log.warning("utterance cache is damaged, encoding anew", extra={"path": str(path), "cause": str(error)})
            return {}

    def _save(self, encoder: Encoder, rows: dict[bytes, Matrix]) -> None:
        """Write beside the file and rename, so that a crash leaves the old file or the new one."""
        path = self.path(encoder)
        if path is None or not rows:
            return
        keys = np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(-1, _KEY_BYTES)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, written = tempfile.mkstemp(dir=path.parent, suffix=".part")
            try:
                with os.fdopen(handle, "wb") as file:
                    np.savez(file, keys=keys, vectors=np.stack(list(rows.values())))
                Path(written).replace(path)
            finally:
                Path(written).unlink(missing_ok=True)
        except OSError as error:
            _log.warning("utterance cache cannot be written", extra={"path": str(path), "cause": str(error)})


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_KEY_BYTES).digest()


def _checked(keys: NDArray[np.uint8], vectors: Matrix, dimension: int) -> dict[bytes, Matrix]:
    """Return the rows by key. Raises ValueError for anything but finite unit rows of the encoder's dimension."""
    if keys.shape != (len(vectors), _KEY_BYTES) or vectors.shape != (len(keys), dimension):
        raise ValueError("shapes do not fit together")
    lengths = np.linalg.norm(vectors, axis=1)
    if not bool(np.all(np.abs(lengths - 1) < _UNIT_TOLERANCE)):
        raise ValueError("rows are not of unit length")
    return {key.tobytes(): row for key, row in zip(keys, vectors, strict=True)}
