"""Any sentence-transformers model, by the name of one in the local model cache or by its folder.

sentence-transformers brings torch, seconds to import and hundreds of megabytes: both are imported when an encoder is
built and never by this module. Nothing is downloaded here: a start must not depend on a model hub.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from hermes_bot.errors import SettingsError

_BATCH_SIZE = 32


class SentenceEncoder:
    """Encodes texts with a sentence-transformers model on the CPU. Raises SettingsError when it cannot be loaded.

    One thread: several wait for each other on cores that others use too, ten times slower than one.
    """

    def __init__(self, model: str, *, threads: int = 1) -> None:
        self._name = f"st-{model}"
        try:
            with _quiet():
                import torch
                from sentence_transformers import SentenceTransformer

                torch.set_num_threads(threads)
                self._model = SentenceTransformer(model, device="cpu", local_files_only=True)
        except (ImportError, OSError, ValueError) as error:
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            raise SettingsError(
                f"encoder.model: the model {model!r} cannot be loaded ({reason}); download it once with `hf download "
                "NAME`, name a folder that holds it, or set encoder.profile to default or light",
                key="encoder.model",
            ) from error
        self._dimension = int(self._model.get_embedding_dimension() or 0)

    @property
    def name(self) -> str:
        """The encoder and its version, a key for caches."""
        return self._name

    @property
    def dimension(self) -> int:
        """The number of columns that `encode` returns."""
        return self._dimension

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit-length row per text, shape (len(texts), dimension), float32. Blocks: call it in a thread."""
        if not texts:
            return np.zeros((0, self._dimension), dtype=np.float32)
        rows = self._model.encode(
            list(texts),
            batch_size=_BATCH_SIZE,
            normalize_embeddings=True,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        return np.asarray(rows, dtype=np.float32)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the bars of the loading libraries off the terminal, which is ours."""
    before = os.environ.get("TQDM_DISABLE")
    os.environ["TQDM_DISABLE"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["TQDM_DISABLE"]
        else:
            os.environ["TQDM_DISABLE"] = before
