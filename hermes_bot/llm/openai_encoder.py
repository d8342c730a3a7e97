"""Embeddings from any endpoint that speaks OpenAI's protocol: OpenAI itself, or a server of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from hermes_bot.errors import PermanentError, TransientError

BATCH_SIZE = 96

Matrix = NDArray[np.float32]


class OpenAIEncoder:
    """Encodes texts with an embeddings endpoint (`POST <base_url>/embeddings`), `BATCH_SIZE` a request.

    A request that fails for a passing reason is repeated `retries` times, as the endpoint asks for it; each try has
    `timeout_s`. After that `TransientError` is raised; `PermanentError` when the endpoint refuses key or model.
    """

    def __init__(
        self, model: str, *, api_key: str = "", base_url: str = "", timeout_s: float = 10.0, retries: int = 2
    ) -> None:
        import openai

        self._model = model
        self._base_url = base_url
        self._client = openai.OpenAI(
            api_key=api_key or "none",  # servers of one's own often want no key, the client wants one
            base_url=base_url or "https://api.openai.com/v1",
            timeout=timeout_s,
            max_retries=retries,
        )
        self._dimension = 0

    @property
    def name(self) -> str:
        """The model and where it is served, a key for caches."""
        return f"openai-{self._model}@{self._base_url}" if self._base_url else f"openai-{self._model}"

    @property
    def dimension(self) -> int:
        """The number of columns that `encode` returns. Asks the endpoint once. Blocks."""
        if not self._dimension:
            self._dimension = self._ask(["."]).shape[1]
        return self._dimension

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return one unit-length row per text, shape (len(texts), dimension), float32. Blocks: call it in a thread."""
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        parts = [self._ask(texts[first : first + BATCH_SIZE]) for first in range(0, len(texts), BATCH_SIZE)]
        if len({part.shape[1] for part in parts} | ({self._dimension} if self._dimension else set())) > 1:
            raise TransientError("encoder: the endpoint changed the length of its vectors")
        rows = np.concatenate(parts)
        self._dimension = rows.shape[1]
        return rows

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _ask(self, texts: Sequence[str]) -> Matrix:
        import openai

        try:
            answer = self._client.embeddings.create(model=self._model, input=list(texts), encoding_format="float")
        except openai.OpenAIError as error:
            _refuse(error)
        ordered = sorted(answer.data or [], key=lambda each: each.index)
        vectors = [each.embedding for each in ordered]
        if [each.index for each in ordered] != list(range(len(texts))) or len(set(map(len, vectors))) != 1:
            raise TransientError("encoder: the endpoint did not return one vector for each text")
        rows = np.asarray(vectors, dtype=np.float32)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if not bool(np.isfinite(rows).all()) or not bool((lengths > 0).all()):
            raise TransientError("encoder: the endpoint returned a vector that is none")
        return np.asarray(rows / lengths, dtype=np.float32)


def _refuse(error: Exception) -> NoReturn:
    """Raise what the caller can act on; the endpoint's own words may quote a customer, so only their kind is told."""
    import openai

    if isinstance(error, openai.APIStatusError):
        told = f"encoder: the endpoint answered {error.status_code}"
        if error.status_code in {400, 401, 403, 404, 422}:
            raise PermanentError(f"{told}; check encoder.model, encoder.base_url and OPENAI_API_KEY") from error
        raise TransientError(told, retry_after_s=_seconds(error.response.headers.get("retry-after"))) from error
    raise TransientError(f"encoder: the endpoint cannot be used ({type(error).__name__})") from error


def _seconds(header: str | None) -> float | None:
    try:
        return max(0.0, float(header)) if header else None
    except ValueError:
        return None
