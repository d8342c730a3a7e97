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
from scipy import sparse

Matrix = NDArray[np.float32]

_MAX_STEPS = 250  # more change no answer
_POWER_STEPS = 30
_TOLERANCE = 1e-5
_SPARSE_BELOW = 0.1  # a column with values in fewer of the rows is kept sparse


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The fitted head. `temperature` below 1 sharpens the probabilities, above 1 softens them.

    `slack` is the largest entry of the gradient where the fit ended: what a fit that starts here has to reach again.
    """

    labels: tuple[str, ...]
    weights: Matrix  # (dimension, labels)
    bias: Matrix  # (labels,)
    temperature: float = 1.0
    slack: float = 0.0

    def probabilities(self, vectors: Matrix) -> Matrix:
        """Return one row per vector, one column per label; each row sums to 1."""
        return _softmax((vectors @ self.weights + self.bias) / np.float32(self.temperature))


def fit(
    vectors: Matrix,
    labels: Sequence[str],
    *,
    penalty: float = 1e-4,
    temperature: float = 1.0,
    balance: float = 1.0,
    start: Decision | None = None,
) -> Decision:
    """Return the head for the examples, rows of `vectors` with their label.

    `balance` 1 gives every label the same weight in sum, 0 every example. A single label is allowed: it gets 1.0.
    `start` is a head for almost the same examples: from there the way is a fraction as long, since the best head is
    one and the same wherever the fit begins. One for other labels is left aside.
    """
    names = tuple(dict.fromkeys(labels))
    index = {name: column for column, name in enumerate(names)}
    target = np.zeros((len(labels), len(names)), dtype=np.float32)
    target[np.arange(len(labels)), [index[label] for label in labels]] = 1.0
    share = (target.sum(axis=0) ** -balance)[target.argmax(axis=1)]
    sample = (share / share.sum()).astype(np.float32)[:, None]
    inputs = _Inputs(vectors)
    begin = start if start is not None and start.labels == names else None
    weights, bias, slack = _descend(inputs, target, sample, penalty, begin)
    return Decision(labels=names, weights=weights, bias=bias, temperature=temperature, slack=slack)


class _Inputs:
    """The examples' rows, centred, with a column of ones for the bias.

    Columns that are zero for most rows (the hashed spelling) are kept as a sparse matrix, and the centre is taken off
    in the products: a step over the full table would read ten times as many bytes.
    """

    def __init__(self, vectors: Matrix) -> None:
        filled = (vectors != 0).mean(axis=0) > _SPARSE_BELOW
        self._dense, self._sparse = np.flatnonzero(filled), np.flatnonzero(~filled)
        self._table = np.ascontiguousarray(vectors[:, self._dense])
        self._rest = sparse.csr_matrix(vectors[:, self._sparse])
        self._back = self._rest.T.tocsr()
        self._centre = vectors.mean(axis=0)
        self.shape = vectors.shape

    def times(self, weights: Matrix, bias: Matrix) -> Matrix:
        """Return one row per example, one column per label."""
        product = self._table @ weights[self._dense] + self._rest @ weights[self._sparse]
        return np.asarray(product + (bias - self._centre @ weights), dtype=np.float32)

    def back(self, rows: Matrix) -> tuple[Matrix, Matrix]:
        """Return what the transpose gives: for the weights, and for the bias."""
        total = rows.sum(axis=0)
        weights = -np.outer(self._centre, total).astype(np.float32)
        weights[self._dense] += self._table.T @ rows
        weights[self._sparse] += self._back @ rows
        return weights, total

    def centred(self, weights: Matrix, bias: Matrix) -> Matrix:
        """Return the bias that goes with centred rows."""
        return np.asarray(bias + self._centre @ weights, dtype=np.float32)

    def uncentred(self, weights: Matrix, bias: Matrix) -> Matrix:
        """Return the bias that goes with rows as they come."""
        return np.asarray(bias - self._centre @ weights, dtype=np.float32)


def _descend(
    inputs: _Inputs, target: Matrix, sample: Matrix, penalty: float, start: Decision | None
) -> tuple[Matrix, Matrix, float]:
    """Return weights, the bias, which the penalty spares, and the largest entry of the last gradient."""
    step = np.float32(1.0 / (0.5 * _spread(inputs, sample) + penalty))
    shrink = np.float32(penalty)
    weights = np.zeros((inputs.shape[1], target.shape[1]), dtype=np.float32)
    bias = np.zeros(target.shape[1], dtype=np.float32)
    if start is not None:
        weights, bias = start.weights, inputs.centred(start.weights, start.bias)
    enough, slack = max(_TOLERANCE, start.slack if start is not None else 0.0), np.inf
    ahead, ahead_bias, momentum = weights, bias, 1.0
    for _ in range(_MAX_STEPS):
        gradient, slope = inputs.back(sample * (_softmax(inputs.times(ahead, ahead_bias)) - target))
        gradient += shrink * ahead
        following, following_bias = ahead - step * gradient, ahead_bias - step * slope
        if float(np.sum(gradient * (following - weights)) + np.sum(slope * (following_bias - bias))) > 0:
            momentum = 1.0  # the step goes uphill: forget the speed
        faster = (1 + float(np.sqrt(1 + 4 * momentum**2))) / 2
        speed = np.float32((momentum - 1) / faster)
        ahead = following + speed * (following - weights)
        ahead_bias = following_bias + speed * (following_bias - bias)
        weights, bias, momentum = following, following_bias, faster
        slack = max(float(np.abs(gradient).max()), float(np.abs(slope).max()))
        if slack <= enough:
            break
    return weights, inputs.uncentred(weights, bias), slack


def _spread(inputs: _Inputs, sample: Matrix) -> float:
    """Return a little more than the greatest eigenvalue of the weighted scatter matrix, by power iteration."""
    direction, bias = np.ones((inputs.shape[1], 1), dtype=np.float32), np.ones(1, dtype=np.float32)
    largest = 1.0
    for _ in range(_POWER_STEPS):
        following, rest = inputs.back(sample * inputs.times(direction, bias))
        largest = max(float(np.sqrt(np.sum(following**2) + np.sum(rest**2))), 1e-12)
        direction, bias = following / np.float32(largest), rest / np.float32(largest)
    return 1.1 * largest


def _softmax(logits: Matrix) -> Matrix:
    raised = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True), dtype=np.float32)
