"""The chat client against a real server on loopback."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from hermes_bot.llm.chat import ChatAsk, ChatFunction, ChatMessage, ChatProtocol, ModelUnavailable
from hermes_bot.llm.openai_chat import OpenAIChat
from tests.llm.model_server import Fails, ModelServer, Raw, Says, Silent, call, model_server

Make = Callable[..., OpenAIChat]
FUNCTION = ChatFunction(name="look", description="Looks.", parameters={"type": "object", "properties": {}})
ASK = ChatAsk(
    messages=(ChatMessage(role="system", text="You look."), ChatMessage(role="user", text="Look!")),
    functions=(FUNCTION,),
    schema={"type": "object"},
    temperature=0.3,
)


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with model_server() as server:
        yield server


@pytest.fixture
async def make(server: ModelServer) -> AsyncIterator[Make]:
    made: list[OpenAIChat] = []

    def make(**options: Any) -> OpenAIChat:
        chat = OpenAIChat(
            "scripted", base_url=server.base_url, **{"sleep": no_sleep, "api_key": "sk-secret", **options}
        )
        made.append(chat)
        return chat

    yield make
    for chat in made:
        await chat.close()


async def no_sleep(_seconds: float) -> None:
    return


async def test_a_function_call_comes_in_a_stream_with_its_tokens(server: ModelServer, make: Make) -> None:
    server.replies.append(call("look", order_id="10001"))

    answer = await make().ask(ASK)

    assert [(each.name, each.arguments) for each in answer.calls] == [("look", '{"order_id": "10001"}')]
    assert (answer.protocol, answer.tokens_in, answer.tokens_out, answer.counted) == (ChatProtocol.TOOLS, 100, 20, True)
    (asked,) = server.asked
    assert asked.functions == ("look",)
    assert asked.body["temperature"] == 0.3
    assert asked.key == "Bearer sk-secret"


async def test_text_is_heard_while_it_is_written(server: ModelServer, make: Make) -> None:
    server.replies.append(Says(text="one two three four five"))
    heard: list[str] = []

    answer = await make().ask(ASK, on_delta=heard.append)

    assert answer.text == "".join(heard) == "one two three four five"
    assert len(heard) > 1


async def test_without_streaming_the_answer_comes_whole(server: ModelServer, make: Make) -> None:
    server.replies.append(Says(text="whole"))

    answer = await make(stream=False).ask(ASK)

    assert answer.text == "whole"
    assert "stream" not in server.asked[0].body


async def test_an_endpoint_that_does_not_stream_is_asked_again_for_the_whole(server: ModelServer, make: Make) -> None:
    server.streams = False
    chat = make()

    await chat.ask(ASK)
    await chat.ask(ASK)

    assert ["stream" in asked.body for asked in server.asked] == [True, False, False]


@pytest.mark.parametrize(
    "refused, protocol", [({"tools"}, ChatProtocol.SCHEMA), ({"tools", "response_format"}, ChatProtocol.PLAIN)]
)
async def test_what_the_endpoint_refuses_is_found_out_once(
    server: ModelServer, make: Make, refused: set[str], protocol: ChatProtocol
) -> None:
    server.refuses = refused
    chat = make()

    first = await chat.ask(ASK)
    asked = len(server.asked)
    second = await chat.ask(ASK)

    assert first.protocol is second.protocol is protocol
    assert len(server.asked) == asked + 1


@pytest.mark.parametrize("name", ["temperature", "stream_options", "tool_choice", "parallel_tool_calls"])
async def test_an_option_that_is_refused_is_left_out(server: ModelServer, make: Make, name: str) -> None:
    server.refuses = {name}

    answer = await make().ask(ASK)

    assert answer.protocol is ChatProtocol.TOOLS
    assert name not in server.asked[-1].body


async def test_a_model_that_wants_its_limit_under_another_name_gets_it(server: ModelServer, make: Make) -> None:
    server.replies.append(Fails(status=400, says="Use 'max_completion_tokens' instead of max_tokens"))

    await make(max_tokens=77).ask(ASK)

    assert server.asked[-1].body["max_completion_tokens"] == 77
    assert "max_tokens" not in server.asked[-1].body


async def test_tokens_that_are_not_counted_are_estimated(server: ModelServer, make: Make) -> None:
    server.counts = False

    answer = await make().ask(ASK)

    assert not answer.counted
    assert answer.tokens_in > 0


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503])
async def test_what_passes_by_itself_is_tried_again(server: ModelServer, make: Make, status: int) -> None:
    server.replies += [Fails(status=status), Fails(status=status)]

    answer = await make(retries=2).ask(ASK)

    assert answer.tries == 3


async def test_the_pause_before_a_try_grows_and_follows_the_endpoint(server: ModelServer, make: Make) -> None:
    server.replies += [Fails(status=500), Fails(status=500), Fails(status=429, headers={"Retry-After": "3"})]
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    await make(retries=3, sleep=sleep, jitter=lambda: 0.5).ask(ASK)

    assert waited == [0.5, 1.0, 3.0]


@pytest.mark.parametrize("status", [401, 403])
async def test_a_refusal_is_not_tried_again_and_tells_no_secret(server: ModelServer, make: Make, status: int) -> None:
    server.otherwise = lambda _asked: Fails(status=status, says="wrong key sk-secret")

    with pytest.raises(ModelUnavailable, match=str(status)) as refused:
        await make().ask(ASK)

    assert refused.value.reason == "refused"
    assert "sk-secret" not in str(refused.value)
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "body", [b"", b"not json", b"[]", b'"text"', b'{"choices": "no"}', b'{"choices": [{"message": null}]}', b'{"a": 1}']
)
async def test_any_body_is_an_answer_or_no_model(server: ModelServer, make: Make, body: bytes) -> None:
    server.otherwise = lambda _asked: Raw(body=body)

    for stream in (False, True):
        try:
            answer = await make(retries=0, stream=stream).ask(ASK)
        except ModelUnavailable:
            continue
        assert (answer.text, answer.calls) == ("", ())


async def test_a_model_that_is_too_slow_is_given_up(server: ModelServer, make: Make) -> None:
    server.otherwise = lambda _asked: Silent()

    with pytest.raises(ModelUnavailable) as given_up:
        await make(timeout_s=0.2, retries=5).ask(ASK)

    assert given_up.value.reason == "slow"


async def test_after_failures_in_a_row_nothing_is_asked_until_one_may_try(server: ModelServer, make: Make) -> None:
    server.otherwise = lambda _asked: Fails(status=500)
    now = [0.0]
    chat = make(retries=0, failure_threshold=2, reset_timeout_s=60, clock_s=lambda: now[0])
    for _ in range(2):
        with pytest.raises(ModelUnavailable):
            await chat.ask(ASK)

    with pytest.raises(ModelUnavailable) as held_back:
        await chat.ask(ASK)
    assert (held_back.value.reason, len(server.asked)) == ("open", 2)

    now[0] = 61.0
    server.otherwise = lambda _asked: Says(text="back")
    assert (await chat.ask(ASK)).text == "back"
    assert (await chat.ask(ASK)).text == "back"


async def test_no_more_requests_run_at_once_than_allowed(server: ModelServer, make: Make) -> None:
    server.replies += [Silent()] * 4
    chat = make(concurrency=2)

    async with asyncio.TaskGroup() as asking:
        for number in range(4):
            asking.create_task(chat.ask(ASK), name=f"ask-{number}")
        async with asyncio.timeout(30):
            await server.arrived.wait()
        server.speaks.set()

    assert len(server.asked) == 4
    assert server.most_at_once <= 2


async def test_an_ask_that_is_cancelled_says_nothing_about_the_model(server: ModelServer, make: Make) -> None:
    server.replies.append(Silent())
    chat = make(failure_threshold=1)
    asking = asyncio.create_task(chat.ask(ASK), name="ask")
    async with asyncio.timeout(30):
        await server.arrived.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking

    assert (await chat.ask(ASK)).calls


async def test_an_answer_that_was_cut_off_says_so(server: ModelServer, make: Make) -> None:
    server.replies.append(Says(text="half of", finish_reason="length"))

    assert not (await make().ask(ASK)).complete
