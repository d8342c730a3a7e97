"""How a text without a rule is judged: by the head, or by the nearest example alone."""

from pathlib import Path

import pytest

from hermes_bot.llm.light_encoder import LightEncoder
from routing.route import Route
from routing.router import Router
from routing.routes_file import parse_table
from routing.similarity import Similarity


def test_plain_similarity_scores_each_route_by_its_nearest_example(
    small_routes: tuple[Route, ...], light_encoder: LightEncoder
) -> None:
    judgement = Similarity(small_routes, light_encoder, None, method="similarity").judge(["start the car"])[0]

    name, score = judgement.best()
    assert name == "car"
    assert score == pytest.approx(1.0, abs=1e-3)
    assert judgement.neighbours[0].utterance == "start the car"
    assert judgement.scores["tea"] == pytest.approx(
        max(near.cosine for near in judgement.neighbours if near.route == "tea"), abs=1e-3
    )


async def test_a_threshold_cuts_plain_similarity(small_routes: tuple[Route, ...], light_encoder: LightEncoder) -> None:
    router = Router(small_routes, light_encoder, method="similarity", score_threshold=0.99)

    same, near = await router.choose("brew tea"), await router.choose("could you brew some tea")
    router.close()

    assert (same.route, same.reason) == ("tea", "similarity")
    assert (near.route, near.reason) == (None, "below threshold")


async def test_a_route_that_has_skills_alone_gets_its_texts_and_takes_none_of_the_others(
    shipped_routes: tuple[Route, ...], light_encoder: LightEncoder, vectors_folder: Path
) -> None:
    new = Route(
        name="gift",
        type="ticket.gift",
        agent="gift",
        skills=("Wraps a purchase as a gift and adds a greeting card", "Gift wrapping, ribbons and gift messages"),
    )
    router = Router((*shipped_routes, new), light_encoder, cache_folder=vectors_folder, score_threshold=0.5)

    wrapped = [
        (await router.choose(text)).route
        for text in ("can you wrap it as a gift with a ribbon", "please add a greeting card to the gift")
    ]
    others = [
        (await router.choose(text)).route
        for text in ("my parcel is late", "退款", "I want to talk to a human", "what's the weather like")
    ]
    router.close()

    assert wrapped == ["gift", "gift"]
    assert others == ["order", "refund", "handoff", None]


def test_the_file_says_how_to_decide() -> None:
    table = parse_table(
        "decision: similarity\nscore_threshold: 0.6\ntemperature: 1.5\nroutes: [{name: a, type: a, agent: a}]",
        file="routing.yaml",
    )

    assert (table.decision, table.score_threshold, table.temperature) == ("similarity", 0.6, 1.5)
