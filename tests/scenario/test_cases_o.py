"""Field cases F5, L1, L5, M6 and O1: channels without the bot, queues, refused tokens, ages, streams; in both modes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from hermes_bot.edge import slack_errors
from hermes_bot.edge.manifest import SHORTCUT_TICKET
from hermes_bot.workspace.faults import ApiError, RateLimited
from hermes_bot.workspace.people import App, Channel
from hermes_bot.workspace.posts import Post
from tests.ports import free_port
from tests.scenario.cases import SHARED, STRANGER, playing
from tests.scenario.field import TEAM, bot_posts, soon, tickets_of
from tests.scenario.in_both_modes import MODES
from tests.scenario.stage import OMAR, SUPPORT, Buyer, Stage, Talk, ask_for_refund

pytestmark = pytest.mark.asyncio(loop_scope="module")

SECRET = "C0SECRET"
REFUSED_CALLS = 40
TOKEN_AGAIN_S = 4.0  # a refused token is tried again twice a minute; nobody has to wait for that here


@pytest.fixture(scope="module")
def port() -> int:
    """Where the bot tells how it is, in Socket Mode."""
    return free_port()


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=MODES)
async def stage(
    request: pytest.FixtureRequest, port: int, vectors: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stage]:
    more = {"HERMES_SLACK__STREAM_FROM": "20"}
    more |= {"HERMES_HTTP__PORT": str(port)} if request.param == "socket" else {}
    async with playing(request.param, tmp_path_factory.mktemp("cases"), vectors, more=more) as stage:
        stage.workspace.roster.put_channel(Channel(id=SECRET, name="secret", private=True, members=("U0EMMA", OMAR)))
        yield stage


async def readyz(stage: Stage, port: int) -> tuple[int, dict[str, Any]]:
    """Return what the bot says of itself."""
    http = stage.server.http
    base = http.events_url.partition("/slack")[0] if http is not None else f"http://127.0.0.1:{port}"
    async with aiohttp.ClientSession() as session, session.get(f"{base}/readyz") as response:
        return response.status, await response.json()


@pytest.mark.parametrize("words", ["help", "status", "tickets", "something else"])
async def test_f5_a_command_from_a_private_channel_without_the_bot_is_answered_there(stage: Stage, words: str) -> None:
    before = len(stage.workspace.ephemerals("U0EMMA"))
    assert (await stage.workspace.command("U0EMMA", SECRET, "/hermes", words)).ok
    await stage.until(lambda: len(stage.workspace.ephemerals("U0EMMA")) > before)
    await stage.quiet()

    told = stage.workspace.ephemerals("U0EMMA")[before:]
    assert all(each["channel"] == SECRET for each in told)
    assert any("/invite" in each["text"] for each in told)


async def test_f5_a_shortcut_in_a_private_channel_without_the_bot_says_how_to_have_it_there(stage: Stage) -> None:
    post = Post(channel=SECRET, ts=stage.workspace.posts.next_ts(), user="U0EMMA", text="Where is my order?")
    stage.workspace.conversations.post(post)
    before = len(stage.whispers("U0EMMA", "/invite"))
    assert (await stage.workspace.shortcut("U0EMMA", SHORTCUT_TICKET, SECRET, post.ts)).ok
    await stage.until(lambda: len(stage.whispers("U0EMMA", "/invite")) > before)
    await stage.quiet()

    assert tickets_of(stage, Talk(user="U0EMMA", channel=SECRET, ts=post.ts, root=post.ts)) == []


async def test_l1_ten_cards_at_once_with_429_are_each_posted_once_and_the_wait_is_kept(stage: Stage) -> None:
    people = [stage.next_buyer() for _ in range(10)]
    stage.server.faults.add(method="chat.postMessage", fault=RateLimited(2), channel=SUPPORT, times=2)
    talks = [await stage.say(each.user, SUPPORT, f"I want a refund for order {each.order.id}") for each in people]
    await stage.until(lambda: all(_cards(stage, each) for each in people))
    await stage.quiet()

    assert [len(_cards(stage, each)) for each in people] == [1] * 10
    assert [len(stage.replies(talk)) for talk in talks] == [1] * 10
    assert stage.server.faults.waiting() == 0


def _cards(stage: Stage, buyer: Buyer) -> list[Post]:
    return stage.cards("approval", buyer.order.id)


async def test_m6_after_a_rest_and_a_new_connection_the_next_message_is_handled_and_ages_are_told(
    stage: Stage, port: int
) -> None:
    if stage.server.http is None:
        stage.server.sockets.disconnect("warning")
        stage.server.sockets.cut()
    buyer = stage.next_buyer()
    talk = await stage.say(buyer.user, SUPPORT, f"Where is my order {buyer.order.id}?")
    assert "was delivered" in await stage.answer(talk)
    status, told = await readyz(stage, port)

    assert status == 200
    assert told["last_event_s"] >= 0
    assert ("last_pong_s" in told) is (stage.server.http is None)


@pytest.mark.parametrize("place", ["thread", SHARED])
async def test_o1_an_answer_that_is_streamed_names_the_human_and_their_team(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    user = STRANGER if place == SHARED else stage.next_buyer().user
    started: list[dict[str, Any]] = []
    begin = AsyncWebClient.chat_startStream

    async def listened(client: AsyncWebClient, **named: Any) -> AsyncSlackResponse:
        started.append(named)
        return await begin(client, **named)

    with monkeypatch.context() as patch:
        patch.setattr(AsyncWebClient, "chat_startStream", listened)
        talk = await stage.say(user, SHARED if place == SHARED else SUPPORT, "Where is my order?")
        await stage.answer(talk)
        await stage.quiet()

    people = [(each["recipient_user_id"], each["recipient_team_id"]) for each in started]
    assert people == [(user, "T9OTHER" if place == SHARED else TEAM)]
    assert len(stage.replies(talk)) == 1


@pytest.mark.parametrize("missing", ["recipient_user_id", "recipient_team_id"])
async def test_o1_without_a_recipient_the_workspace_streams_nothing_in_a_channel(stage: Stage, missing: str) -> None:
    talk = await stage.say("U0EMMA", SUPPORT, "Where is my order?")
    await stage.answer(talk)
    person: dict[str, Any] = {"recipient_user_id": "U0EMMA", "recipient_team_id": TEAM} | {missing: None}
    client = AsyncWebClient(stage.server.world.app.bot_token, base_url=stage.server.api_url, retry_handlers=[])
    client.proxy = None

    with pytest.raises(SlackApiError, match=f"missing_{missing}"):
        await client.chat_startStream(channel=SUPPORT, thread_ts=talk.ts, **person)


FAULTY = [
    ("chat.startStream", "channel_type_not_supported"),
    ("chat.appendStream", "message_not_in_streaming_state"),
    ("chat.stopStream", "internal_error"),
    ("chat.update", "streaming_state_conflict"),
    ("agents.sessions.setStatus", "invalid_thread_ts"),
]


@pytest.mark.parametrize("method, error", FAULTY)
async def test_o_what_goes_wrong_with_the_show_leaves_one_whole_answer(stage: Stage, method: str, error: str) -> None:
    buyer = stage.next_buyer()
    stage.server.faults.add(method=method, fault=ApiError(error))
    talk = await stage.say(buyer.user, SUPPORT, f"Where is my order {buyer.order.id}?")
    await stage.answer(talk)
    await stage.quiet()

    assert stage.server.faults.waiting() == 0
    (reply,) = stage.replies(talk)
    assert "was delivered" in reply.text
    assert reply.streaming in ("", "completed")


async def test_o_a_conversation_of_the_older_assistant_view_gets_its_prompts_and_answers_in_its_thread(
    stage: Stage,
) -> None:
    buyer = stage.next_buyer()
    posts = len(bot_posts(stage))
    thread_ts = stage.workspace.odd.assistant_thread(buyer.user, context_channel=SUPPORT)
    await stage.until(lambda: _prompts(stage, buyer, thread_ts))
    stage.workspace.odd.assistant_context(buyer.user, thread_ts, SECRET)
    await stage.quiet()
    assert len(bot_posts(stage)) == posts + 1  # Slack's own "New Assistant Thread"
    talk = await stage.say(buyer.user, buyer.dm, f"Where is my order {buyer.order.id}?", thread_ts)

    assert "was delivered" in await stage.answer(talk)


def _prompts(stage: Stage, buyer: Buyer, thread_ts: str) -> list[str]:
    session = stage.workspace.sessions.of(buyer.dm, thread_ts)
    return [each["message"] for each in session.prompts] if session is not None else []


async def test_l5_a_token_that_is_refused_keeps_every_ticket_and_readyz_says_so_until_there_is_a_good_one(
    stage: Stage, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    buyer, tokens, app = stage.next_buyer(), stage.server.tokens, stage.server.world.app
    calls = _counted(stage, monkeypatch)
    monkeypatch.setattr(slack_errors, "TOKEN_RETRY_AFTER_S", TOKEN_AGAIN_S)
    tokens.revoke(app.bot_token)
    talk = await stage.say(buyer.user, SUPPORT, f"Where is my order {buyer.order.id}?")
    await soon(lambda: tickets_of(stage, talk))
    await soon(lambda: calls)
    status, told = await readyz(stage, port)
    refused = len(calls)
    tokens.restore(app.bot_token)
    await stage.until(lambda: stage.replies(talk))
    await stage.quiet()

    assert status == 503
    assert "token" in told["reason"]
    assert refused < REFUSED_CALLS
    assert len(tickets_of(stage, talk)) == 1
    assert (await readyz(stage, port))[0] == 200
    await ask_for_refund(stage, stage.next_buyer())


def _counted(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that grows with each call with the bot's token."""
    calls: list[str] = []
    owner = stage.server.tokens.owner

    def counted(token: str) -> App:
        calls.append(token)
        return owner(token)

    monkeypatch.setattr(stage.server.tokens, "owner", counted)
    return calls
