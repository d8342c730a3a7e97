"""Field cases of kind L, what goes wrong on the way out: L3, L7 and their relatives, over sockets and over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from hermes_bot.workspace.faults import ApiError, RateLimited, ReplyLost, ServerError
from tests.scenario.cases import playing
from tests.scenario.field import tickets_of
from tests.scenario.in_both_modes import MODES
from tests.scenario.stage import APPROVE, CORNER, OMAR, SUPPORT, Stage, ask_for_refund, paid_once

pytestmark = pytest.mark.asyncio(loop_scope="module")

MANY = 100
PATIENT = {
    "HERMES_AGENTS__CIRCUIT_BREAKER__FAILURE_THRESHOLD": "50",  # or a minute of silence follows
    "HERMES_AGENTS__SLACK__RETRY_POLICY__BACKOFF_START_S": "0.2",  # what Slack did not take is sent again soon
}
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
