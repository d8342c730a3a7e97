"""A logistic head on embeddings: from a text's vector to one probability per route.

Multinomial logistic regression with an L2 penalty (Bishop, Pattern Recognition and Machine Learning, 4.3.4),
fitted by accelerated gradient descent with restarts (O'Donoghue and Candès 2015). Plain numpy: it takes about a
second for a thousand examples, needs no random numbers and gives the same head every time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]

_MAX_STEPS = 250  # more change no answer
_POWER_STEPS = 30
_TOLERANCE = 1e-5


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The fitted head. `temperature` below 1 sharpens the probabilities, above 1 softens them."""

    labels: tuple[str, ...]
    weights: Matrix  # (dimension, labels)
    bias: Matrix  # (labels,)
    temperature: float = 1.0

    def probabilities(self, vectors: Matrix) -> Matrix:
        """Return one row per vector, one column per label; each row sums to 1."""
        return _softmax((vectors @ self.weights + self.bias) / np.float32(self.temperature))


def fit(
    vectors: Matrix, labels: Sequence[str], *, penalty: float = 1e-4, temperature: float = 1.0, balance: float = 1.0
) -> Decision:
    """Return the head for the examples, rows of `vectors` with their label.

    `balance` 1 gives every label the same weight in sum, 0 every example. A single label is allowed: it gets 1.0.
    """
    names = tuple(dict.fromkeys(labels))
    index = {name: column for column, name in enumerate(names)}
    target = np.zeros((len(labels), len(names)), dtype=np.float32)
    target[np.arange(len(labels)), [index[label] for label in labels]] = 1.0
    share = (target.sum(axis=0) ** -balance)[target.argmax(axis=1)]
    sample = (share / share.sum()).astype(np.float32)[:, None]
    centre = vectors.mean(axis=0, keepdims=True)
    weights = _descend(vectors - centre, target, sample, penalty)
    bias = weights[-1] - (centre @ weights[:-1])[0]
    return Decision(labels=names, weights=weights[:-1], bias=bias.astype(np.float32), temperature=temperature)


def _descend(vectors: Matrix, target: Matrix, sample: Matrix, penalty: float) -> Matrix:
    """Return weights with the bias as last row, which the penalty spares."""
    inputs = np.hstack([vectors, np.ones((len(vectors), 1), dtype=np.float32)])
    step = np.float32(1.0 / (0.5 * _spread(inputs, sample) + penalty))
    shrink = np.full((inputs.shape[1], 1), penalty, dtype=np.float32)
    shrink[-1] = 0.0
    weights = np.zeros((inputs.shape[1], target.shape[1]), dtype=np.float32)
    ahead, momentum = weights, 1.0
    for _ in range(_MAX_STEPS):
        gradient = inputs.T @ (sample * (_softmax(inputs @ ahead) - target)) + shrink * ahead
        following = ahead - step * gradient
        if float(np.sum(gradient * (following - weights))) > 0:
            momentum = 1.0  # the step goes uphill: forget the speed
        faster = (1 + float(np.sqrt(1 + 4 * momentum**2))) / 2
        ahead = following + np.float32((momentum - 1) / faster) * (following - weights)
        weights, momentum = following, faster
        if float(np.abs(gradient).max()) < _TOLERANCE:
            break
    return weights


def _spread(inputs: Matrix, sample: Matrix) -> float:
    """Return a little more than the greatest eigenvalue of the weighted scatter matrix, by power iteration."""
    direction = np.ones((inputs.shape[1], 1), dtype=np.float32)
    largest = 1.0
    for _ in range(_POWER_STEPS):
        following = inputs.T @ (sample * (inputs @ direction))
        largest = max(float(np.linalg.norm(following)), 1e-12)
        direction = following / np.float32(largest)
    return 1.1 * largest


def _softmax(logits: Matrix) -> Matrix:
    raised = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True), dtype=np.float32)
