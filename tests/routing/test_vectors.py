"""What the router keeps on disk, and what a damaged file costs."""

from pathlib import Path
from typing import Protocol

import numpy as np
import pytest

from routing.choice import Encoder
from routing.route import Route
from routing.router import Router
from routing.similarity import Similarity
from routing.vectors import VectorCache


class CountingEncoder(Encoder, Protocol):
    batches: list[list[str]]


def test_a_known_text_is_not_encoded_again(encoder: CountingEncoder, tmp_path: Path) -> None:
    first = VectorCache(tmp_path).encode(encoder, ["tea", "car", "tea"])

    again = VectorCache(tmp_path).encode(encoder, ["car", "bus", "tea"])

    assert encoder.batches == [["tea", "car"], ["bus"]]
    assert np.array_equal(again[0], first[1])
    assert np.array_equal(again[2], first[0])


def test_texts_that_left_the_routes_leave_the_file(encoder: CountingEncoder, tmp_path: Path) -> None:
    VectorCache(tmp_path).encode(encoder, ["tea", "car"])
    VectorCache(tmp_path).encode(encoder, ["tea"])

    VectorCache(tmp_path).encode(encoder, ["car"])

    assert encoder.batches == [["tea", "car"], ["car"]]


@pytest.mark.parametrize("damage", ["cut", "noise", "empty", "wrong"])
def test_a_damaged_file_is_rebuilt(encoder: CountingEncoder, tmp_path: Path, damage: str) -> None:
    cache = VectorCache(tmp_path)
    whole = cache.encode(encoder, ["tea", "car"])
    path = cache.path(encoder)
    assert path is not None
    content = path.read_bytes()
    if damage == "wrong":
        np.savez(path, allow_pickle=False, keys=np.zeros((2, 16), np.uint8), vectors=np.zeros((2, 3), np.float32))
    else:
        path.write_bytes({"cut": content[: len(content) // 2], "noise": b"\x93NUMPY" * 99, "empty": b""}[damage])

    rebuilt = VectorCache(tmp_path).encode(encoder, ["tea", "car"])
    VectorCache(tmp_path).encode(encoder, ["tea", "car"])

    assert np.allclose(rebuilt, whole)
    assert len(encoder.batches) == 2


def test_a_folder_that_cannot_be_written_costs_the_cache_and_nothing_else(
    encoder: CountingEncoder, tmp_path: Path
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")

    assert VectorCache(blocked).encode(encoder, ["tea"]).shape == (1, encoder.dimension)


def test_a_restart_with_the_same_routes_encodes_nothing(
    small_routes: tuple[Route, ...], encoder: CountingEncoder, tmp_path: Path
) -> None:
    Router(small_routes, encoder, cache_folder=tmp_path).close()
    Router(small_routes, encoder, cache_folder=tmp_path).close()

    assert len(encoder.batches) == 1


def test_the_kept_head_judges_like_the_fitted_one_and_a_changed_route_is_fitted_anew(
    small_routes: tuple[Route, ...], encoder: CountingEncoder, tmp_path: Path
) -> None:
    fitted = Similarity(small_routes, encoder, tmp_path).judge(["a mug of tea"])
    kept = Similarity(small_routes, encoder, tmp_path).judge(["a mug of tea"])
    swapped = (small_routes[0], small_routes[1].model_copy(update={"name": "bus"}), small_routes[2])
    changed = Similarity(swapped, encoder, tmp_path).judge(["a mug of tea"])

    assert kept[0].scores == pytest.approx(fitted[0].scores)
    assert set(changed[0].scores) == {"tea", "bus", "rest"}
