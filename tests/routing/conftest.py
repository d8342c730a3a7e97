"""One real light encoder for all routing tests, and the router on the shipped routes."""

import json
import shutil
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from hermes_bot.llm.english_words import english_words
from hermes_bot.llm.light_encoder import LightEncoder
from routing.evaluate import LabelledText
from routing.route import Route
from routing.router import Router
from routing.routes_file import load_routes

ROOT = Path(__file__).resolve().parents[2]


class CountingEncoder:
    """The encoder it is given, and what it was asked to encode."""

    def __init__(self, inner: LightEncoder) -> None:
        self._inner = inner
        self.batches: list[list[str]] = []

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def dimension(self) -> int:
        return self._inner.dimension

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.batches.append(list(texts))
        return self._inner.encode(texts)


def read_rows(path: Path) -> list[LabelledText]:
    rows = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    return [LabelledText(text=row["text"], label=row["label"], lang=row["lang"]) for row in rows]


@pytest.fixture(scope="session")
def light_encoder() -> LightEncoder:
    return LightEncoder()


@pytest.fixture
def encoder(light_encoder: LightEncoder) -> CountingEncoder:
    return CountingEncoder(light_encoder)


@pytest.fixture(scope="session")
def shipped_routes() -> tuple[Route, ...]:
    return load_routes(ROOT / "configs" / "routing.yaml")


@pytest.fixture(scope="session")
def vectors_folder(vectors: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the shipped routes' vectors, for some tests add routes."""
    return shutil.copytree(vectors, tmp_path_factory.mktemp("routes") / "cache")


@pytest.fixture
async def router(
    shipped_routes: tuple[Route, ...], light_encoder: LightEncoder, vectors_folder: Path
) -> AsyncIterator[Router]:
    """The shipped routes in the light profile."""
    built = Router(shipped_routes, light_encoder, cache_folder=vectors_folder, known_words=english_words())
    yield built
    built.close()


@pytest.fixture
def labelled() -> list[LabelledText]:
    """The repository's own labelled texts."""
    return read_rows(ROOT / "tests" / "data" / "labelled.jsonl")


@pytest.fixture
def small_routes() -> tuple[Route, ...]:
    """Three routes that cost nothing to encode."""
    return (
        Route(name="tea", type="drink.tea", agent="tea", utterances={"en": ("a cup of green tea", "brew tea")}),
        Route(name="car", type="ride.car", agent="car", utterances={"en": ("drive me home by car", "start the car")}),
        Route(name="rest", type="none", agent="rest", nobody=True, utterances={"en": ("what a day", "who are you")}),
    )
