"""What the router answers, whatever it is asked."""

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from typing import Protocol

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from hermes_bot.llm.light_encoder import LightEncoder
from routing.choice import RouteChoice
from routing.explanation import explain_text
from routing.route import Route
from routing.router import Router


class CountingEncoder(Protocol):
    """The fixture's encoder: it notes what it was asked."""

    batches: list[list[str]]

    @property
    def name(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]: ...


class HeldEncoder:
    """Vectors from nothing; after the first call each one waits until the test releases it."""

    name = "held"
    dimension = 4

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.started = threading.Semaphore(0)
        self.held = threading.Semaphore(1)
        self.fail = False

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.batches.append(list(texts))
        self.started.release()
        assert self.held.acquire(timeout=10)
        if self.fail:
            raise RuntimeError("no memory")
        return np.tile(np.array([1, 0, 0, 0], dtype=np.float32), (len(texts), 1))


@pytest.fixture
async def small(small_routes: tuple[Route, ...], light_encoder: LightEncoder) -> AsyncIterator[Router]:
    built = Router(small_routes, light_encoder, score_threshold=0.4)
    yield built
    built.close()


@pytest.mark.parametrize(
    "text",
    [
        "这个订单我要退款",
        "退款，订单号 4471",
        "订单还没发货，能退款吗",
        "我的订单退款到哪了",
        "I want a refund for my order",
        "where is the refund of my order 4471",
        "cancel the order and refund me",
        "order 4471: refund, please",
    ],
)
async def test_a_refund_of_an_order_is_one_request_and_it_is_a_refund(router: Router, text: str) -> None:
    choice = await router.choose(text)

    assert (choice.route, choice.type, choice.reason) == ("refund", "ticket.refund", "keyword")


@pytest.mark.parametrize(
    "text",
    [
        "refund my order or get me a human agent",
        "退款的事我要转人工",
        "where is my order? I want to speak to a manager",
    ],
)
async def test_who_asks_for_a_person_beside_something_else_gets_a_person(router: Router, text: str) -> None:
    assert (await router.choose(text)).route == "handoff"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n\t ",
        "\u200b\u200d\u2066\u2069\ufeff",
        "😀" * 10_000,
        "👩‍👩‍👧‍👦" * 2_000,
        "https://example.com/" + "a" * 5_000,
        "x" * 100_000,
        "\u202e" + "abc" * 10,
        "٠١٢٣" * 1000,
        "\ud800",
        "\x00\x01\x02",
        "!?!?" * 500,
    ],
)
async def test_what_has_no_meaning_goes_to_nobody(router: Router, text: str) -> None:
    choice = await router.choose(text)

    assert choice.route is None
    assert choice.type == "ticket.unknown"


@pytest.mark.parametrize(
    "text", ["ｒｅｆｕｎｄ please", "re\u200bfund please", "REFUND PLEASE", "\u202drefund\u202c please"]
)
async def test_width_case_and_invisible_marks_change_nothing(router: Router, text: str) -> None:
    assert (await router.choose(text)).route == "refund"


async def test_only_the_head_of_a_long_text_counts(router: Router) -> None:
    head = "please tell me a joke about cats. " * 100

    assert await router.choose(head + "refund " * 20_000) == await router.choose(head)


async def test_rules_and_examples_of_a_disabled_route_are_not_used(light_encoder: LightEncoder) -> None:
    on = Route(name="on", type="a.on", agent="on", utterances={"en": ("tea with milk",)})
    off = Route.model_validate(
        {"name": "off", "type": "a.off", "agent": "off", "enabled": False, "keywords": {"any": ["tea"]}}
    )
    router = Router((on, off), light_encoder)

    choice = await router.choose("tea")
    router.close()

    assert choice.route == "on"
    assert choice.reason == "similarity"


async def test_an_unsure_text_goes_to_nobody_and_says_so(
    small_routes: tuple[Route, ...], light_encoder: LightEncoder
) -> None:
    strict = tuple(route.model_copy(update={"score_threshold": 1.0}) for route in small_routes)
    router = Router(strict, light_encoder)

    choice = await router.choose("some tea, then we take the car")
    router.close()

    assert (choice.route, choice.reason, choice.type) == (None, "below threshold", "none")
    assert choice.threshold == 1.0
    assert "below the threshold 1.00" in explain_text(choice)


async def test_a_route_that_means_nobody_wins_as_nobody(small: Router) -> None:
    choice = await small.choose("what a day")

    assert (choice.route, choice.reason, choice.type) == (None, "other", "none")


async def test_texts_that_come_together_are_encoded_together(small_routes: tuple[Route, ...]) -> None:
    slow = HeldEncoder()
    router = Router(small_routes, slow)
    slow.batches.clear()
    assert slow.started.acquire(timeout=10)  # the examples' own encoding

    first = asyncio.create_task(router.choose("text 0"))
    assert await asyncio.to_thread(slow.started.acquire, True, 10)
    rest = [asyncio.create_task(router.choose(f"text {number}")) for number in range(1, 40)]
    await asyncio.sleep(0)
    slow.held.release(2)
    await asyncio.gather(first, *rest)
    router.close()

    assert [len(batch) for batch in slow.batches] == [1, 39]


async def test_a_text_seen_lately_is_not_encoded_again(
    small_routes: tuple[Route, ...], encoder: CountingEncoder
) -> None:
    router = Router(small_routes, encoder, recent=2)
    await router.choose("green tea")
    encoded = len(encoder.batches)

    again = await router.choose("  green   tea ")
    await router.choose("one")
    await router.choose("two")
    await router.choose("green tea")
    router.close()

    assert again.scores
    assert encoder.batches[encoded:] == [["one"], ["two"], ["green tea"]]


async def test_an_encoder_that_fails_fails_the_caller_and_not_the_next_one(small_routes: tuple[Route, ...]) -> None:
    broken = HeldEncoder()
    router = Router(small_routes, broken)
    broken.held.release(2)
    broken.fail = True

    with pytest.raises(RuntimeError, match="no memory"):
        await router.choose("tea")
    broken.fail = False
    choice = await router.choose("tea")
    router.close()

    assert choice.scores


async def test_explaining_a_keyword_hit_also_shows_scores_and_examples(router: Router) -> None:
    choice = await router.explain("refund please")
    words = explain_text(choice)

    assert choice.reason == "keyword"
    assert len(choice.neighbours) == 3
    assert "by a keyword rule that hit on: refund" in words
    assert "nearest examples (cosine):" in words
    assert "narrow that rule" in words


async def test_explaining_similarity_names_threshold_examples_and_the_next_route(router: Router) -> None:
    choice = await router.explain("my box has not come yet")
    words = explain_text(choice)

    assert choice.reason == "similarity"
    assert "reaches the threshold 0.70" in words
    assert choice.neighbours[0].utterance in words
    assert "is the next in line with" in words


async def test_explaining_a_text_without_words_says_that_there_is_nothing_to_go_by(router: Router) -> None:
    assert "no words to go by" in explain_text(await router.explain("\u200b"))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.one_of(st.text(), st.text(alphabet="退款订单refund order人工 \u200b\u202e0123", max_size=200)))
async def test_every_text_gets_a_choice_with_probabilities(router: Router, text: str) -> None:
    choice = await router.choose(text)

    _check(choice)
    _check(await router.explain(text))
    assert explain_text(choice)


def _check(choice: RouteChoice) -> None:
    assert 0.0 <= choice.score <= 1.0
    assert all(0.0 <= score <= 1.0 for score in choice.scores.values())
    assert not choice.scores or sum(choice.scores.values()) == pytest.approx(1.0, abs=1e-3)
    assert all(-1.0 <= near.cosine <= 1.0 for near in choice.neighbours)
    assert choice.route in {None, "order", "refund", "handoff"}
    assert (choice.type == "ticket.unknown") == (choice.route is None)
