"""The vectors of all facts in memory, searched exactly: an index that SQL can rebuild at any time.

Truth is in SQL: a search names the ids that may be found, and what the index does not hold it hands back. So an index
that is late, gone or still being built makes a search slower and never wrong.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hermes_bot.memory import index_file
from hermes_bot.memory.fact_rows import Changes, Vector
from hermes_bot.memory.index_file import Header

if TYPE_CHECKING:  # loads a library of 15 MB, which a bot without facts does not need
    import faiss

log = logging.getLogger(__name__)

Hits = list[tuple[int, float]]


class FactIndex:
    """FAISS, exact (`IndexIDMap2` over `IndexFlatIP`). Every method blocks; call them in a thread.

    `path` is where it is kept between starts, None for nowhere.
    """

    def __init__(self, path: Path | None, *, encoder: str) -> None:
        self.version = 0
        self._path = path
        self._encoder = encoder
        self._lock = threading.Lock()
        self._index: faiss.IndexIDMap2 | None = None
        self._known: set[int] = set()
        self._saved = -1

    def __len__(self) -> int:
        return len(self._known)

    @property
    def unsaved(self) -> bool:
        """Whether the file does not hold what this does."""
        gone = self._path is not None and self._index is not None and not self._path.exists()
        return gone or self.version != self._saved

    def load(self) -> bool:
        """Take over the file; return whether there was a good one."""
        if self._path is None:
            return False
        found = index_file.load(self._path, encoder=self._encoder)
        if found is None:
            if self._path.exists():
                log.info("the index of the memory is built anew", extra={"path": str(self._path)})
            return False
        import faiss

        with self._lock:
            self._index, header = found
            self._known = set(faiss.vector_to_array(self._index.id_map).tolist())
            self.version = self._saved = header.version
        return True

    def save(self) -> None:
        """Write the file; raise StoreError where that cannot be."""
        if self._path is None:
            return
        with self._lock:
            index = self._index
            if index is None:
                self._path.unlink(missing_ok=True)
            else:
                header = Header(encoder=self._encoder, dimension=index.d, version=self.version, size=index.ntotal)
                index_file.save(self._path, index, header)
            self._saved = self.version

    def clear(self) -> None:
        """Hold nothing."""
        with self._lock:
            self._index, self._known, self.version = None, set(), 0

    def apply(self, changes: Changes) -> None:
        """Bring the index to the version of the changes."""
        with self._lock:
            leaving = (set(changes.gone) | set(changes.added)) & self._known
            if leaving and self._index is not None:
                self._index.remove_ids(_batch(leaving))
                self._known -= leaving
            if changes.added:
                rows = np.ascontiguousarray(changes.vectors, dtype=np.float32)
                self._opened(rows.shape[1]).add_with_ids(rows, np.asarray(changes.added, dtype=np.int64))
                self._known |= set(changes.added)
            self.version = changes.version

    def search(self, wanted: Sequence[int], vector: Vector, k: int) -> tuple[Hits, list[int]]:
        """Return the k nearest of the wanted ids with their cosines, and those that are not in the index."""
        with self._lock:
            missing = [number for number in wanted if number not in self._known]
            here = len(wanted) - len(missing)
            if self._index is None or not here:
                return [], missing
            import faiss

            faiss.omp_set_num_threads(1)  # of this thread: a second one waits for cores that others use too
            only = faiss.SearchParameters()
            only.sel = _batch(wanted)
            found = self._index.search(vector[None, :], min(k, here), params=only)
        cosines, numbers = found[0][0].tolist(), found[1][0].tolist()
        return [(n, c) for n, c in zip(numbers, cosines, strict=True) if n >= 0], missing

    def _opened(self, dimension: int) -> faiss.IndexIDMap2:
        if self._index is None:
            import faiss

            self._index = faiss.IndexIDMap2(faiss.IndexFlatIP(dimension))
        return self._index


def _batch(numbers: Collection[int]) -> faiss.IDSelectorBatch:
    import faiss

    return faiss.IDSelectorBatch(np.fromiter(numbers, dtype=np.int64, count=len(numbers)))


def nearest(numbers: Sequence[int], rows: Vector, vector: Vector) -> Hits:
    """Return each id with its cosine, computed here: what a search falls back to."""
    if not len(numbers) or rows.shape[1] != len(vector):
        return []
    return list(zip(numbers, (rows @ vector).tolist(), strict=True))
