"""The second step of routing: a text that no rule took is compared with the examples of all routes."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from routing import kept
from routing.choice import Encoder, Neighbour
from routing.decision import Decision, fit
from routing.mending import Mender
from routing.route import Route
from routing.spelling import DIMENSION as SPELLING_DIMENSION
from routing.spelling import spell
from routing.text import for_encoder
from routing.vectors import Progress, VectorCache, unheard

Matrix = NDArray[np.float32]
Method = Literal["head", "similarity"]

PENALTY = 1e-4
TEMPERATURE = 0.7  # fitted on foreign rows: expected calibration error 0.02, against 0.07 without
SPELLING_WEIGHT = 0.8  # of the spelling's vector, where the meaning's has 1
_SHOWN_ROUTES = 3  # whose examples are looked at for the nearest ones, so that many routes cost no more than a few


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What similarity says of one text: a score per route, 0..1, and the closest examples of the best routes.

    With the head the scores are probabilities; with plain similarity each is the cosine of the route's nearest example.
    """

    scores: dict[str, float]
    neighbours: tuple[Neighbour, ...]

    def best(self) -> tuple[str, float]:
        """Return the route with the highest score, and that score."""
        return max(self.scores.items(), key=lambda item: item[1])


NOTHING = Judgement(scores={}, neighbours=())


class Similarity:
    """A head fitted to the routes' examples, and the examples themselves for the explanation. Blocks.

    `method` similarity leaves the head out. `known_words` are English words that are right as they are; without them
    no slip of the finger is mended.
    """

    def __init__(
        self,
        routes: Sequence[Route],
        encoder: Encoder,
        folder: Path | None,
        *,
        top_k: int = 3,
        method: Method = "head",
        temperature: float = TEMPERATURE,
        known_words: Collection[str] = (),
        progress: Progress = unheard,
    ) -> None:
        self._one_thread = ThreadpoolController()
        pairs = [(route.name, sentence) for route in routes for _, sentence in route.examples()]
        self._encoder = encoder
        self._routes = [name for name, _ in pairs]
        self._utterances = [sentence for _, sentence in pairs]
        plain = [for_encoder(sentence) for sentence in self._utterances]
        self._mender = Mender(plain, known_words)
        self._vectors = VectorCache(folder).encode(encoder, plain, progress)
        self._spans = _spans(self._routes)
        self._method = method
        self._temperature = temperature
        self._top_k = top_k
        with self._one_thread.limit(limits=1, user_api="blas"):
            self._head = self._fitted(plain, folder) if pairs and method == "head" else None

    def judge(self, texts: Sequence[str]) -> list[Judgement]:
        """Return one judgement per text; without any example, or without words, one that knows no route."""
        plain = [self._mender.mend(for_encoder(text)) for text in texts]
        if not self._spans or not any(plain):
            return [NOTHING for _ in texts]
        vectors = self._encoder.encode([text or "." for text in plain])
        # On cores that others use too, BLAS threads wait for each other: a hundred times slower than one thread.
        with self._one_thread.limit(limits=1, user_api="blas"):
            table = self._scores(plain, vectors)
            return [
                self._judgement(scores, vector) if text else NOTHING
                for text, scores, vector in zip(plain, table, vectors, strict=True)
            ]

    def _scores(self, plain: Sequence[str], vectors: Matrix) -> Matrix:
        """Return one row per text, one column per route that has examples."""
        if self._head is not None:
            return self._head.probabilities(features(plain, vectors))
        starts = [span.start for span in self._spans.values()]
        return np.asarray(np.maximum.reduceat(vectors @ self._vectors.T, starts, axis=1), dtype=np.float32)

    def _fitted(self, plain: Sequence[str], folder: Path | None) -> Decision:
        """Return the head for the examples, from the cache when it was fitted to the same ones before."""
        path = kept.file_for(folder, self._encoder.name, kind="head") if folder else None
        key = _head_key(self._routes, plain, self._vectors)
        labels = tuple(self._spans)
        stored = (kept.load(path) if path else None) or {}
        columns = self._vectors.shape[1] + SPELLING_DIMENSION
        earlier = _head_in(stored, (columns, len(labels)), self._temperature)
        if earlier is not None and np.array_equal(stored["key"], key):
            return earlier
        head = fit(
            features(plain, self._vectors),
            self._routes,
            penalty=PENALTY,
            temperature=self._temperature,
            start=earlier,
        )
        if path:
            arrays = {"weights": head.weights, "bias": head.bias, "labels": np.array(labels)}
            kept.save(path, {"key": key, "slack": np.array(head.slack), **arrays})
        return head

    def _judgement(self, row: Matrix, vector: Matrix) -> Judgement:
        if not bool(np.isfinite(row).all()):
            return NOTHING
        scores = dict(zip(self._spans, (min(1.0, max(0.0, float(score))) for score in row), strict=True))
        best = sorted(scores, key=lambda name: -scores[name])[:_SHOWN_ROUTES]
        return Judgement(scores=scores, neighbours=self._nearest(best, vector))

    def _nearest(self, routes: Sequence[str], vector: Matrix) -> tuple[Neighbour, ...]:
        """Return the examples of these routes that are closest to the text, closest first."""
        places = np.concatenate([np.arange(self._spans[name].start, self._spans[name].stop) for name in routes])
        cosines = np.concatenate([self._vectors[self._spans[name]] @ vector for name in routes])
        count = min(self._top_k, len(places))
        nearest = np.argpartition(-cosines, count - 1)[:count]
        ordered = nearest[np.argsort(-cosines[nearest], kind="stable")]
        return tuple(
            Neighbour(
                route=self._routes[int(places[at])],
                utterance=self._utterances[int(places[at])],
                cosine=min(1.0, max(-1.0, float(cosines[at]))),
            )
            for at in ordered
        )


def _spans(routes: Sequence[str]) -> dict[str, slice]:
    """Return where the examples of each route stand; those of one route stand together."""
    spans: dict[str, slice] = {}
    for place, name in enumerate(routes):
        start = spans[name].start if name in spans else place
        spans[name] = slice(start, place + 1)
    return spans


def features(texts: Sequence[str], vectors: Matrix) -> Matrix:
    """Return meaning and spelling side by side, rows of unit length."""
    joined = np.hstack([vectors, spell(texts) * np.float32(SPELLING_WEIGHT)])
    return np.asarray(joined / np.sqrt(np.float32(1 + SPELLING_WEIGHT**2)), dtype=np.float32)


def _head_key(routes: Sequence[str], plain: Sequence[str], vectors: Matrix) -> NDArray[np.uint8]:
    """Return a digest of all that the head depends on."""
    digest = hashlib.blake2b(digest_size=16)
    digest.update(repr((PENALTY, SPELLING_WEIGHT, SPELLING_DIMENSION, list(routes), list(plain))).encode())
    digest.update(np.ascontiguousarray(vectors).tobytes())
    return np.frombuffer(digest.digest(), dtype=np.uint8)


def _head_in(stored: dict[str, NDArray[Any]], shape: tuple[int, int], temperature: float) -> Decision | None:
    """Return the stored head when it is whole and of this shape, for whichever examples it was fitted."""
    if not stored.keys() >= {"key", "weights", "bias", "labels", "slack"}:
        return None
    weights, bias, slack = stored["weights"], stored["bias"], stored["slack"]
    whole = weights.shape == shape and bias.shape == shape[1:] and weights.dtype == bias.dtype == np.float32
    if not whole or slack.shape or not all(bool(np.isfinite(each).all()) for each in (weights, bias, slack)):
        return None
    labels = tuple(str(name) for name in stored["labels"])
    return Decision(labels=labels, weights=weights, bias=bias, temperature=temperature, slack=float(slack))
