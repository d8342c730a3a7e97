"""Floors under the accuracy, so that no edit of routes or code makes it worse unseen. Figures: docs/routing.md."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hermes_bot.llm.english_words import english_words
from hermes_bot.llm.joined_encoder import JoinedEncoder
from hermes_bot.llm.latin_encoder import LatinEncoder
from hermes_bot.llm.light_encoder import LightEncoder
from hermes_bot.llm.minilm_encoder import MiniLMEncoder
from routing.evaluate import Evaluation, LabelledText, evaluate
from routing.route import Route
from routing.router import Router
from routing.routes_file import load_table

CONFIGS = Path(__file__).resolve().parents[2] / "configs"


async def test_our_own_labelled_texts_stay_above_the_floor(router: Router, labelled: list[LabelledText]) -> None:
    figures = await evaluate(router, labelled)

    assert figures.accuracy >= 0.90, _worst(figures)
    assert figures.wrong_agent_share <= 0.04, _worst(figures)
    assert figures.by_language["en"][0] >= 0.90
    assert figures.by_language["zh"][0] >= 0.90


def test_no_labelled_text_is_an_utterance(shipped_routes: tuple[Route, ...], labelled: list[LabelledText]) -> None:
    utterances = {sentence.casefold() for route in shipped_routes for _, sentence in route.examples()}

    assert not [row.text for row in labelled if row.text.casefold() in utterances]


def test_no_utterance_stands_in_two_routes(shipped_routes: tuple[Route, ...]) -> None:
    seen = [sentence.casefold() for route in shipped_routes for _, sentence in route.examples()]

    assert len(seen) == len(set(seen))


@pytest.fixture(scope="session")
def default_encoder(light_encoder: LightEncoder) -> JoinedEncoder:
    return JoinedEncoder(light_encoder, LatinEncoder(MiniLMEncoder()))


@pytest.fixture
async def default_router(
    shipped_routes: tuple[Route, ...], default_encoder: JoinedEncoder, vectors_folder: Path
) -> AsyncIterator[Router]:
    """The shipped routes in the profile `default`."""
    built = Router(
        shipped_routes,
        default_encoder,
        cache_folder=vectors_folder,
        known_words=english_words(),
        not_sure=load_table(CONFIGS / "routing.yaml").not_sure,
    )
    yield built
    built.close()


async def test_our_own_labelled_texts_stay_above_the_floor_in_the_default_profile(
    default_router: Router, labelled: list[LabelledText]
) -> None:
    figures = await evaluate(default_router, labelled)

    assert figures.accuracy >= 0.95, _worst(figures)
    assert figures.wrong_agent_share <= 0.02, _worst(figures)


@pytest.fixture
def foreign(shared_dir: Path) -> list[LabelledText]:
    """The rows of the core tier."""
    lines = (shared_dir / "data" / "routing_dev.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["tier"] == "core"]
    return [LabelledText(text=row["text"], label=row["label"], lang=row["lang"]) for row in rows]


def _others(figures: Evaluation) -> float:
    """Return the accuracy on all languages but English and Chinese."""
    others = [value for lang, value in figures.by_language.items() if lang not in {"en", "zh"}]
    return sum(share * rows for share, rows in others) / sum(rows for _, rows in others)


@pytest.mark.shared
async def test_foreign_texts_stay_above_the_floors(router: Router, foreign: list[LabelledText]) -> None:
    figures = await evaluate(router, foreign)

    assert figures.by_language["en"][0] >= 0.945
    assert figures.by_language["zh"][0] >= 0.945
    assert _others(figures) >= 0.96
    assert figures.other_recall >= 0.945
    assert figures.wrong_agent_share <= 0.03
    assert figures.calibration_error <= 0.06


@pytest.mark.shared
@pytest.mark.timeout(900)
async def test_foreign_texts_stay_above_the_floors_in_the_default_profile(
    default_router: Router, foreign: list[LabelledText]
) -> None:
    figures = await evaluate(default_router, foreign)

    assert figures.by_language["en"][0] >= 0.955
    assert figures.by_language["zh"][0] >= 0.95
    assert _others(figures) >= 0.97
    assert figures.other_recall >= 0.955
    assert figures.wrong_agent_share <= 0.025
    assert figures.accuracy_unasked >= 0.97
    assert figures.asked_share <= 0.10


@pytest.mark.shared
def test_no_utterance_is_a_row_of_the_foreign_texts(shipped_routes: tuple[Route, ...], shared_dir: Path) -> None:
    lines = (shared_dir / "data" / "routing_dev.jsonl").read_text(encoding="utf-8").splitlines()
    foreign = {_letters(json.loads(line)["text"]) for line in lines}

    assert not [
        sentence for route in shipped_routes for _, sentence in route.examples() if _letters(sentence) in foreign
    ]


def _letters(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalpha())


def _worst(figures: Evaluation) -> str:
    return "\n".join(f"{one.row.label} -> {one.chosen}: {one.row.text}" for one in figures.mistakes)
