"""The encoder that asks an endpoint, against a real server on loopback."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import numpy as np
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from hermes_bot.errors import PermanentError, TransientError
from hermes_bot.llm.openai_encoder import BATCH_SIZE, OpenAIEncoder
from routing.route import Route
from routing.router import Router

Answer = Callable[[dict[str, Any]], web.Response]


class Endpoint:
    """Answers each request as the next of `answers` says, then with vectors made from the texts' lengths."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.answers: list[Answer] = []
        self.speaks = asyncio.Event()
        self.speaks.set()

    async def handle(self, request: web.Request) -> web.Response:
        asked = await request.json()
        self.requests.append(asked)
        self.keys.append(request.headers["Authorization"])
        await self.speaks.wait()
        return self.answers.pop(0)(asked) if self.answers else vectors(asked)


def vectors(asked: dict[str, Any], *, columns: int = 3) -> web.Response:
    rows = [{"object": "embedding", "index": at, "embedding": [3.0, len(text)] + [0.5] * (columns - 2)}
            for at, text in enumerate(asked["input"])]  # fmt: skip
    return web.json_response({"object": "list", "model": asked["model"], "data": rows[::-1]})


def failing(status: int, **headers: str) -> Answer:
    return lambda _asked: web.json_response({"error": {"message": "no"}}, status=status, headers=headers)


@pytest.fixture
def endpoint() -> Endpoint:
    return Endpoint()


@pytest.fixture
async def base_url(endpoint: Endpoint) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_post("/v1/embeddings", endpoint.handle)
    async with TestServer(app) as server:
        yield f"http://127.0.0.1:{server.port}/v1"


@pytest.fixture
async def encoder(base_url: str) -> AsyncIterator[OpenAIEncoder]:
    built = OpenAIEncoder("small", api_key="sk-test", base_url=base_url, timeout_s=5, retries=1)
    yield built
    built.close()


async def test_texts_become_unit_rows_in_their_order(encoder: OpenAIEncoder, endpoint: Endpoint) -> None:
    rows = await asyncio.to_thread(encoder.encode, ["a", "four"])

    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)
    assert rows[0][1] / rows[0][0] == pytest.approx(1 / 3)
    assert rows[1][1] / rows[1][0] == pytest.approx(4 / 3)
    assert endpoint.requests[0]["model"] == "small"
    assert endpoint.keys == ["Bearer sk-test"]


async def test_many_texts_are_sent_in_batches(encoder: OpenAIEncoder, endpoint: Endpoint) -> None:
    rows = await asyncio.to_thread(encoder.encode, ["x"] * (BATCH_SIZE + 1))

    assert rows.shape == (BATCH_SIZE + 1, 3)
    assert [len(request["input"]) for request in endpoint.requests] == [BATCH_SIZE, 1]


async def test_the_dimension_is_asked_once(encoder: OpenAIEncoder, endpoint: Endpoint) -> None:
    assert await asyncio.to_thread(lambda: (encoder.dimension, encoder.dimension)) == (3, 3)
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_passing_failure_is_tried_again(encoder: OpenAIEncoder, endpoint: Endpoint, status: int) -> None:
    endpoint.answers.append(failing(status, **{"Retry-After": "0.01"}))

    assert (await asyncio.to_thread(encoder.encode, ["a"])).shape == (1, 3)
    assert len(endpoint.requests) == 2


async def test_a_lasting_failure_is_a_transient_error_that_says_when_to_try_again(
    encoder: OpenAIEncoder, endpoint: Endpoint
) -> None:
    endpoint.answers += [failing(429, **{"Retry-After": "0.02"})] * 2

    with pytest.raises(TransientError, match="429") as caught:
        await asyncio.to_thread(encoder.encode, ["a secret text"])

    assert caught.value.retry_after_s == 0.02
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("status", [400, 401, 404])
async def test_a_refusal_is_a_permanent_error_that_names_the_settings(
    encoder: OpenAIEncoder, endpoint: Endpoint, status: int
) -> None:
    endpoint.answers.append(failing(status))

    with pytest.raises(PermanentError, match="OPENAI_API_KEY"):
        await asyncio.to_thread(encoder.encode, ["a"])
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize(
    "data",
    [
        [],
        [{"index": 0, "embedding": [1.0]}] * 2,
        [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 2.0]}],
        [{"index": 0, "embedding": [0.0, 0.0]}, {"index": 1, "embedding": [1.0, 2.0]}],
        [{"index": 0, "embedding": [float("nan"), 1.0]}, {"index": 1, "embedding": [1.0, 2.0]}],
    ],
)
async def test_an_answer_that_is_none_is_a_transient_error(
    encoder: OpenAIEncoder, endpoint: Endpoint, data: list[dict[str, Any]]
) -> None:
    body = json.dumps({"object": "list", "model": "small", "data": data})
    endpoint.answers.append(lambda _asked: web.Response(text=body, content_type="application/json"))

    with pytest.raises(TransientError):
        await asyncio.to_thread(encoder.encode, ["a", "b"])


async def test_an_endpoint_that_is_not_there_or_silent_is_a_transient_error(
    base_url: str, endpoint: Endpoint, unused_tcp_port: int
) -> None:
    gone = OpenAIEncoder("small", base_url=f"http://127.0.0.1:{unused_tcp_port}/v1", timeout_s=2, retries=0)
    hasty = OpenAIEncoder("small", base_url=base_url, timeout_s=0.05, retries=0)

    endpoint.speaks.clear()

    for each in (gone, hasty):
        with pytest.raises(TransientError, match="cannot be used"):
            await asyncio.to_thread(each.encode, ["a"])
        each.close()
    endpoint.speaks.set()


async def test_the_router_works_on_an_endpoint_and_passes_its_failure_on(
    encoder: OpenAIEncoder, endpoint: Endpoint, small_routes: tuple[Route, ...]
) -> None:
    router = await asyncio.to_thread(Router, small_routes, encoder)

    choice = await router.choose("a cup of green tea")
    endpoint.answers += [failing(500, **{"Retry-After": "0.01"})] * 2
    with pytest.raises(TransientError):
        await router.choose("another text")
    router.close()

    assert choice.scores
