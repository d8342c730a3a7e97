"""The second step of routing: a text that no rule took is compared with the examples of all routes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from routing import kept
from routing.choice import Encoder, Neighbour
from routing.decision import Decision, fit
from routing.route import Route
from routing.spelling import DIMENSION as SPELLING_DIMENSION
from routing.spelling import spell
from routing.text import for_encoder
from routing.vectors import VectorCache

Matrix = NDArray[np.float32]

PENALTY = 1e-4
TEMPERATURE = 0.7  # fitted on foreign rows: expected calibration error 0.02, against 0.07 without
SPELLING_WEIGHT = 0.8  # of the spelling's vector, where the meaning's has 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What similarity says of one text: a probability per route and the closest examples."""

    scores: dict[str, float]
    neighbours: tuple[Neighbour, ...]

    def best(self) -> tuple[str, float]:
        """Return the route with the highest probability, and that probability."""
        return max(self.scores.items(), key=lambda item: item[1])


class Similarity:
    """A head fitted to the routes' examples, and the examples themselves for the explanation. Blocks."""

    def __init__(self, routes: Sequence[Route], encoder: Encoder, folder: Path | None, *, top_k: int = 3) -> None:
        self._one_thread = ThreadpoolController()
        pairs = [(route.name, sentence) for route in routes for _, sentence in route.examples()]
        self._encoder = encoder
        self._routes = [name for name, _ in pairs]
        self._utterances = [sentence for _, sentence in pairs]
        plain = [for_encoder(sentence) for sentence in self._utterances]
        self._vectors = VectorCache(folder).encode(encoder, plain)
        self._top_k = min(top_k, len(pairs))
        with self._one_thread.limit(limits=1, user_api="blas"):
            self._head = self._fitted(plain, folder) if pairs else None

    def judge(self, texts: Sequence[str]) -> list[Judgement]:
        """Return one judgement per text; without any example, or without words, one that knows no route."""
        plain = [for_encoder(text) for text in texts]
        if self._head is None or not any(plain):
            return [Judgement(scores={}, neighbours=()) for _ in texts]
        vectors = self._encoder.encode([text or "." for text in plain])
        # On cores that others use too, BLAS threads wait for each other: a hundred times slower than one thread.
        with self._one_thread.limit(limits=1, user_api="blas"):
            table = self._head.probabilities(_features(plain, vectors))
            cosines = vectors @ self._vectors.T
        return [
            self._judgement(*row) if text else Judgement(scores={}, neighbours=())
            for text, row in zip(plain, zip(table, cosines, strict=True), strict=True)
        ]

    def _fitted(self, plain: Sequence[str], folder: Path | None) -> Decision:
        """Return the head for the examples, from the cache when it was fitted to the same ones before."""
        path = kept.file_for(folder, self._encoder.name, kind="head") if folder else None
        key = _head_key(self._routes, plain, self._vectors)
        labels = tuple(dict.fromkeys(self._routes))
        stored = kept.load(path) if path else None
        if stored is not None and _fits(stored, key, (self._encoder.dimension + SPELLING_DIMENSION, len(labels))):
            return Decision(labels=labels, weights=stored["weights"], bias=stored["bias"], temperature=TEMPERATURE)
        head = fit(_features(plain, self._vectors), self._routes, penalty=PENALTY, temperature=TEMPERATURE)
        if path:
            kept.save(path, {"key": key, "weights": head.weights, "bias": head.bias})
        return head

    def _judgement(self, probabilities: Matrix, cosines: Matrix) -> Judgement:
        if self._head is None or not bool(np.isfinite(probabilities).all()):
            return Judgement(scores={}, neighbours=())
        nearest = np.argpartition(-cosines, self._top_k - 1)[: self._top_k]
        ordered = nearest[np.argsort(-cosines[nearest], kind="stable")]
        scores = zip(self._head.labels, (min(1.0, max(0.0, float(p))) for p in probabilities), strict=True)
        return Judgement(scores=dict(scores), neighbours=tuple(self._neighbour(int(i), cosines) for i in ordered))

    def _neighbour(self, index: int, cosines: Matrix) -> Neighbour:
        return Neighbour(
            route=self._routes[index],
            utterance=self._utterances[index],
            cosine=min(1.0, max(-1.0, float(cosines[index]))),
        )


def _features(texts: Sequence[str], vectors: Matrix) -> Matrix:
    """Return meaning and spelling side by side, rows of unit length."""
    joined = np.hstack([vectors, spell(texts) * np.float32(SPELLING_WEIGHT)])
    return np.asarray(joined / np.sqrt(np.float32(1 + SPELLING_WEIGHT**2)), dtype=np.float32)


def _head_key(routes: Sequence[str], plain: Sequence[str], vectors: Matrix) -> NDArray[np.uint8]:
    """Return a digest of all that the head depends on."""
    digest = hashlib.blake2b(digest_size=16)
    digest.update(repr((PENALTY, SPELLING_WEIGHT, SPELLING_DIMENSION, list(routes), list(plain))).encode())
    digest.update(np.ascontiguousarray(vectors).tobytes())
    return np.frombuffer(digest.digest(), dtype=np.uint8)


def _fits(stored: dict[str, NDArray[Any]], key: NDArray[np.uint8], shape: tuple[int, int]) -> bool:
    """Whether the stored head was fitted to the same examples and is whole."""
    if not stored.keys() >= {"key", "weights", "bias"} or not np.array_equal(stored["key"], key):
        return False
    weights, bias = stored["weights"], stored["bias"]
    whole = weights.shape == shape and bias.shape == shape[1:] and weights.dtype == bias.dtype == np.float32
    return whole and bool(np.isfinite(weights).all() and np.isfinite(bias).all())
