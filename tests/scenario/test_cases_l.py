"""Field cases of kind L, what goes wrong on the way out: L1, L3, L7 and their relatives, in both modes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

import pytest
import pytest_asyncio

from hermes_bot.edge.lines import Line
from hermes_bot.edge.pacing import POST
from hermes_bot.workspace.faults import ApiError, RateLimited, ReplyLost, ServerError
from tests.scenario.cases import playing
from tests.scenario.field import tickets_of
from tests.scenario.in_both_modes import MODES
from tests.scenario.stage import APPROVE, CORNER, HANDOFF, OMAR, SUPPORT, Stage, ask_for_refund, key_of, paid_once

pytestmark = pytest.mark.asyncio(loop_scope="module")

MANY = 100
PATIENT = {
    "HERMES_AGENTS__CIRCUIT_BREAKER__FAILURE_THRESHOLD": "50",  # or a minute of silence follows
    "HERMES_AGENTS__SLACK__RETRY_POLICY__BACKOFF_START_S": "0.2",  # what Slack did not take is sent again soon
    "HERMES_SLACK__RATE_LIMITS__POSTS_A_SECOND": "20",  # after a refusal; a test does not wait for ten seconds
}
CARDS = 10
REST_S = 5
REFUSED = r"reply.ready .*(is_archived|not_in_channel|channel_not_found|restricted_action)"


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=MODES)
async def stage(
    request: pytest.FixtureRequest, vectors: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stage]:
    async with playing(request.param, tmp_path_factory.mktemp("cases"), vectors, more=PATIENT, meant=REFUSED) as stage:
        yield stage


@pytest.mark.parametrize("error", ["is_archived", "not_in_channel", "channel_not_found", "restricted_action"])
async def test_l3_where_the_bot_may_not_post_it_does_not_insist_and_people_are_told(stage: Stage, error: str) -> None:
    buyer = stage.next_buyer()
    stage.server.faults.add(method="chat.postMessage", fault=ApiError(error), times=MANY, channel=CORNER)
    talk = await stage.say(buyer.user, CORNER, f"Where is my order {buyer.order.id}?")
    await stage.until(lambda: stage.server.faults.waiting() < MANY)
    await stage.card("handoff", buyer.order.id)
    await stage.quiet()
    used = MANY - stage.server.faults.waiting()
    stage.server.faults.clear()

    (ticket,) = tickets_of(stage, talk)
    assert used <= 2  # the answer, and the word that there is none
    assert ticket["owner"] != "bot"
    card = await stage.card("handoff", buyer.order.id)
    assert error in card.text
    assert "person" in stage.now(card).text


@pytest.mark.parametrize(
    "method, error",
    [
        ("users.info", "user_not_visible"),
        ("chat.getPermalink", "message_not_found"),
        ("agents.sessions.setStatus", "not_enabled"),
        ("assistant.threads.setStatus", "invalid_thread_ts"),
        ("chat.delete", "cant_delete_message"),
    ],
)
async def test_l7_what_is_only_decoration_fails_and_the_main_work_is_done(
    stage: Stage, method: str, error: str
) -> None:
    buyer = stage.next_buyer()
    if method != "users.info":
        stage.server.faults.add(method=method, fault=ApiError(error), times=MANY)
    talk = await stage.say(buyer.user, SUPPORT, f"Where is my order {buyer.order.id}?")
    assert "was delivered" in await stage.answer(talk)
    if method == "users.info":
        stage.server.faults.add(method=method, fault=ApiError(error), times=MANY)
    await stage.say(buyer.user, SUPPORT, "Can I talk to a person?", talk.root)
    await stage.answer(talk, 2)
    await stage.quiet()
    stage.server.faults.clear()

    assert len(tickets_of(stage, talk)) == 1
    assert tickets_of(stage, talk)[0]["owner"] == "pending_human"


@pytest.mark.parametrize(
    "fault",
    [RateLimited(1), RateLimited(None), ServerError(500), ServerError(503), ReplyLost(), ApiError("internal_error")],
    ids=["429", "429 without a time", "500", "503", "reply lost", "internal_error"],
)
async def test_l1_whatever_slack_answers_for_a_while_each_word_arrives_once(
    stage: Stage, fault: RateLimited | ServerError | ReplyLost | ApiError
) -> None:
    buyer = stage.next_buyer()
    stage.server.faults.add(method="chat.postMessage", fault=fault, channel=SUPPORT)
    talk, card = await ask_for_refund(stage, buyer)
    stage.server.faults.add(method="chat.update", fault=fault)
    assert (await stage.click(OMAR, card, APPROVE)).ok

    await paid_once(stage, buyer, talk, card)
    assert stage.server.faults.waiting() == 0


@contextmanager
def watched(stage: Stage, channel: str) -> Iterator[tuple[list[float], list[str]]]:
    """Yield when posts for the channel came to Slack, and the keys of those that had to wait, as they came to."""
    take, stand, rest = stage.server.faults.take, Line.stand, Line.rest
    calls: list[float] = []
    waited: dict[str, None] = {}

    def taken(method: str, where: str) -> object:
        if (method, where) == (POST, channel):
            calls.append(monotonic())
        return take(method, where)

    def stood(line: Line, key: str, *arguments: object) -> None:
        waited[key] = None
        stand(line, key, *arguments)  # type: ignore[arg-type]  # whatever they are

    def rested(line: Line, key: str, *arguments: object) -> None:
        waited[key] = None
        rest(line, key, *arguments)  # type: ignore[arg-type]  # the same

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stage.server.faults, "take", taken)
        patch.setattr(Line, "stand", stood)
        patch.setattr(Line, "rest", rested)
        came: list[str] = []
        yield calls, came
        came.extend(waited)


async def test_l1_ten_cards_at_once_and_a_refusal_all_stand_once_in_order_after_the_wait(stage: Stage) -> None:
    await stage.quiet()
    buyers = [stage.next_buyer() for _ in range(CARDS)]
    stage.server.faults.add(method=POST, fault=RateLimited(REST_S), channel=HANDOFF)
    with watched(stage, HANDOFF) as (calls, came):
        asked = (stage.say(each.user, each.dm, f"I want a refund for order {each.order.id}") for each in buyers)
        await asyncio.gather(*asked)
        cards = [await stage.card("approval", each.order.id) for each in buyers]
        await stage.quiet()

    assert {card.channel for card in cards} == {HANDOFF}
    assert all(len(stage.cards("approval", each.order.id)) == 1 for each in buyers)
    wait_s = calls[1] - calls[0]
    assert wait_s > REST_S - 0.1  # not a single call before; a timer may be some milliseconds early
    order = [key_of(card) for card in sorted(cards, key=lambda card: float(card.ts))]
    turned_away = [key for key in came if key in order]
    assert turned_away  # all ten, but on a machine so slow that the others come when the wait is over
    assert order[: len(turned_away)] == turned_away
