"""The encoder that routers and memory share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hermes_bot.llm.shared_encoder import CHUNK, HEAD_CHARACTERS, RECENT, SharedEncoder


class Lengths:
    """A text's vector is its length; keeps what it was asked for."""

    name, dimension = "lengths", 1

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked.append(list(texts))
        return np.array([[len(text)] for text in texts], dtype=np.float32)


def test_the_text_of_a_message_is_encoded_once_however_many_look_at_it() -> None:
    encoder = Lengths()
    shared = SharedEncoder(encoder)

    assert [shared.encode(["refund"]).tolist() for _ in range(3)] == [[[6.0]]] * 3
    assert encoder.asked == [["refund"]]


def test_what_somebody_does_to_a_vector_is_theirs_alone() -> None:
    shared = SharedEncoder(Lengths())
    shared.encode(["refund"])[:] = 0

    assert shared.encode(["refund"]).tolist() == [[6.0]]


def test_only_the_last_texts_are_kept_and_one_that_is_used_stays() -> None:
    encoder = Lengths()
    shared = SharedEncoder(encoder)
    for number in range(RECENT + 1):
        shared.encode([f"text {number}"])
        shared.encode(["kept"])
    encoder.asked.clear()
    shared.encode(["kept"])
    shared.encode(["text 0"])

    assert encoder.asked == [["text 0"]]


def test_a_long_list_is_encoded_in_pieces_and_in_order() -> None:
    encoder = Lengths()
    texts = ["x" * number for number in range(CHUNK + 2)]

    assert SharedEncoder(encoder).encode(texts)[:, 0].tolist() == list(range(CHUNK + 2))
    assert [len(asked) for asked in encoder.asked] == [CHUNK, 2]


def test_of_a_long_text_the_head_is_looked_at_alone_or_among_others() -> None:
    shared = SharedEncoder(Lengths())
    long = "x" * 40_000

    assert shared.encode([long]).tolist() == [[HEAD_CHARACTERS]]
    assert shared.encode([long, "ab"]).tolist() == [[HEAD_CHARACTERS], [2]]
