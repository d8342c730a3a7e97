"""The head on the vectors, and the spelling beside them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from routing.decision import fit
from routing.spelling import DIMENSION, spell
from routing.text import MAX_CHARS, clean, fold, for_encoder


def unit(rows: list[list[float]]) -> NDArray[np.float32]:
    matrix = np.array(rows, dtype=np.float32)
    return np.asarray(matrix / np.linalg.norm(matrix, axis=1, keepdims=True), dtype=np.float32)


def test_separable_examples_are_told_apart_and_a_point_between_is_unsure() -> None:
    head = fit(unit([[1, 0, 0], [1, 0.1, 0], [0, 1, 0], [0.1, 1, 0]]), ["a", "a", "b", "b"])

    sure, unsure = head.probabilities(unit([[1, 0.05, 0], [1, 1, 0]]))

    assert head.labels == ("a", "b")
    assert sure[0] > 0.95
    assert unsure[0] == pytest.approx(0.5, abs=0.05)


def test_the_same_examples_make_the_same_head() -> None:
    vectors = np.random.default_rng(7).normal(size=(40, 8)).astype(np.float32)
    labels = [str(number % 3) for number in range(40)]

    assert np.array_equal(fit(vectors, labels).weights, fit(vectors, labels).weights)


def _clouds(rows: int) -> tuple[NDArray[np.float32], list[str]]:
    """Return rows around three centres that overlap, and their labels."""
    drawn = np.random.default_rng(7)
    labels = [("order", "refund", "other")[row % 3] for row in range(rows)]
    centres = drawn.normal(size=(3, 20))
    vectors = np.stack([centres[row % 3] + drawn.normal(size=20) for row in range(rows)])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors.astype(np.float32), labels


def test_a_fit_that_starts_from_the_head_of_almost_the_same_examples_ends_at_the_same_head() -> None:
    vectors, labels = _clouds(300)
    before = fit(vectors[:297], labels[:297])

    cold, warm = fit(vectors, labels), fit(vectors, labels, start=before)

    assert warm.slack <= before.slack
    assert np.abs(cold.probabilities(vectors) - warm.probabilities(vectors)).max() < 0.01
    assert np.abs(before.probabilities(vectors) - cold.probabilities(vectors)).max() > 0


def test_a_head_for_other_labels_is_no_start() -> None:
    vectors, labels = _clouds(90)
    other = fit(vectors, [f"not {label}" for label in labels])

    assert np.array_equal(fit(vectors, labels, start=other).weights, fit(vectors, labels).weights)


def test_one_label_alone_is_certain() -> None:
    assert fit(unit([[1, 0]]), ["only"]).probabilities(unit([[0, 1]])).tolist() == [[1.0]]


def test_a_rare_label_weighs_as_much_as_a_frequent_one() -> None:
    head = fit(unit([[1, 0.02 * number] for number in range(50)] + [[-1, 0.0]]), ["many"] * 50 + ["rare"])

    assert head.probabilities(unit([[-1, 0.1]]))[0][1] > 0.9


def test_a_temperature_below_one_sharpens() -> None:
    vectors, labels = unit([[1, 0], [0, 1]]), ["a", "b"]
    plain = fit(vectors, labels).probabilities(unit([[1, 0.5]]))
    sharp = fit(vectors, labels, temperature=0.5).probabilities(unit([[1, 0.5]]))

    assert sharp[0][0] > plain[0][0] > 0.5


@given(st.lists(st.text(), max_size=4))
def test_spelling_is_of_unit_length_or_nothing(texts: list[str]) -> None:
    rows = spell(texts)

    assert rows.shape == (len(texts), DIMENSION)
    lengths = np.linalg.norm(rows, axis=1)
    assert np.all((np.abs(lengths - 1) < 1e-4) | (lengths == 0))


def test_a_misspelled_word_is_spelled_much_like_the_right_one() -> None:
    right, wrong, other = spell(["reimbursement", "reimbursment", "thunderstorm"])

    assert right @ wrong > 0.6
    assert right @ other < 0.2


@given(st.text())
def test_cleaned_text_stays_cleaned_and_bounded(text: str) -> None:
    assert len(clean(text)) <= MAX_CHARS
    assert clean(clean(text)) == clean(text)
    assert len(for_encoder(text)) <= MAX_CHARS


def test_order_numbers_links_and_mentions_read_the_same_to_the_encoder() -> None:
    seen = {
        for_encoder(text)
        for text in [
            "order 4471 late",
            "order W-99812 late",
            "order #7-630384 late <@U0EMMA>",
            "order JD036494796487 late https://a.example/x",
        ]
    }

    assert seen == {"order 1234 late"}


def test_ordinary_numbers_are_kept() -> None:
    assert for_encoder("2 chairs, 45 euros, at 17:30") == "2 chairs, 45 euros, at 17:30"
    assert fold("Ｆｕｌｌ  ＷＩＤＴＨ") == "full width"
