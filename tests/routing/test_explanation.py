"""What an admin reads: why, and what would have to change."""

import pytest

from hermes_bot.llm.light_encoder import LightEncoder
from routing.choice import Neighbour, RouteChoice
from routing.explanation import explain_text, why_line
from routing.route import Keywords, Route
from routing.router import Router

NEAR = (Neighbour(route="order", utterance="Where is it?", cosine=0.81),)


def similar(reason: str, score: float) -> RouteChoice:
    rest = {"refund": round(1 - score, 2)}
    return RouteChoice(
        route="order" if reason == "similarity" else None,
        type="ticket.order",
        score=score,
        reason=reason,
        threshold=0.7,
        neighbours=NEAR,
        scores={"other" if reason == "other" else "order": score, **rest},
    )


def test_a_score_that_is_too_low_names_what_is_missing_and_the_threshold_that_would_do() -> None:
    words = explain_text(similar("below threshold", 0.628))

    assert "'order' needs 0.07 more" in words
    assert "score_threshold to 0.62 or less" in words
    assert "'refund' is the next in line with 0.37" in words


def test_a_score_that_is_high_enough_names_the_threshold_that_would_not_do_and_the_rival() -> None:
    words = explain_text(similar("similarity", 0.9))

    assert "with a score_threshold above 0.90 'order' would lose it to nobody" in words
    assert "it would have to gain 0.80" in words


def test_a_score_short_of_one_is_not_told_as_one() -> None:
    words = explain_text(similar("similarity", 0.9961))

    assert "probability 0.996 reaches" in words
    assert "with a score_threshold above 0.996 'order' would lose it to nobody" in words


async def test_a_silenced_rule_names_the_word_that_blocks_it(
    small_routes: tuple[Route, ...], light_encoder: LightEncoder
) -> None:
    blocked = small_routes[0].model_copy(update={"keywords": (Keywords(any=("tea",), none=("iced",)),)})
    router = Router((blocked, *small_routes[1:]), light_encoder)

    words = explain_text(await router.explain("iced tea"))
    router.close()

    assert "tea: tea, silenced by: iced" in words
    assert "without 'iced' in the text, or under none of that rule, a rule of 'tea' would hit" in words


async def test_a_rule_that_wins_names_the_rule_that_would_be_next(router: Router) -> None:
    words = explain_text(await router.explain("refund my order or get me a human agent"))

    assert words.startswith("route 'handoff'")
    assert "without that rule, one of 'refund' would take it, which hit on: refund" in words


async def test_a_rule_that_stands_alone_names_what_similarity_would_say(router: Router) -> None:
    assert "without that rule similarity would decide; it finds 'refund'" in explain_text(
        await router.explain("reimburse me")
    )


@pytest.mark.parametrize(
    "choice, line",
    [
        (
            RouteChoice(route="refund", type="t", score=1.0, reason="keyword", matched="refund"),
            "keyword rule, hit on: refund",
        ),
        (
            similar("similarity", 0.9),
            "order by similarity (0.90 ≥ 0.70); nearest example (order, cosine 0.81): Where is it?",
        ),
        (
            similar("below threshold", 0.6),
            "order by similarity (0.60 < 0.70); nearest example (order, cosine 0.81): Where is it?",
        ),
        (
            similar("other", 0.8),
            "like what no agent takes (0.80); nearest example (order, cosine 0.81): Where is it?",
        ),
        (RouteChoice(route=None, type="t", score=0.0, reason="other"), "no words to go by"),
    ],
)
def test_a_ticket_tells_why_in_one_line(choice: RouteChoice, line: str) -> None:
    assert why_line(choice) == line
