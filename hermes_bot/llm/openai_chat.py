"""Chat with any endpoint that speaks OpenAI's protocol (`POST <base_url>/chat/completions`), streamed where it can.

Endpoints differ in what they take. What one refuses is left out from then on: function calls, a JSON Schema, a
temperature, the count of tokens in a stream. The endpoint's own words are never repeated: they may quote a customer.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Any

from hermes_bot.llm.chat import ChatAnswer, ChatAsk, ChatProtocol, ModelUnavailable, OnDelta
from hermes_bot.llm.chat_answers import read_stream, read_whole
from hermes_bot.llm.chat_dialect import Dialect
from hermes_bot.llm.request_breaker import RequestBreaker

BACKOFF_S = 0.5
BACKOFF_MAX_S = 8.0
LIMIT_IN_TIMEOUTS = 1.8  # all tries of one ask; a step's own limit is twice the time of one try
_PASSING = frozenset({408, 409, 425, 429})
_NONSENSE = (ValueError, TypeError, AttributeError, LookupError)  # what reading a body that is no completion can raise


class OpenAIChat:
    """Asks the endpoint; at most `concurrency` requests at once, each try within `timeout_s`.

    A request that fails for a passing reason is repeated `retries` times with growing, jittered pauses, or as the
    endpoint asks for it. After `failure_threshold` asks that failed in a row nothing is asked for `reset_timeout_s`.
    """

    def __init__(
        self,
        model: str,
        *,
        api_key: str = "",
        base_url: str = "",
        protocol: ChatProtocol | None = None,
        stream: bool = True,
        timeout_s: float = 20.0,
        retries: int = 2,
        max_tokens: int = 1024,
        concurrency: int = 8,
        failure_threshold: int = 3,
        reset_timeout_s: float = 60.0,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
        clock_s: Callable[[], float] = monotonic,
    ) -> None:
        """Take no `protocol` where it shall be found out."""
        import openai  # when a client is made: it takes a second

        self._client = openai.AsyncOpenAI(
            api_key=api_key or "none",  # servers of one's own often want no key, the client wants one
            base_url=base_url or "https://api.openai.com/v1",
            timeout=timeout_s,
            max_retries=0,
        )
        self._model = model
        self._limit_s = timeout_s * LIMIT_IN_TIMEOUTS
        self._retries = retries
        self._max_tokens = max_tokens
        self._sleep = sleep
        self._jitter = jitter
        self._clock_s = clock_s
        self._room = asyncio.Semaphore(concurrency)
        self._protocol = protocol
        self._stream = stream
        self._dialects: dict[str, Dialect] = {}
        self._breaker = RequestBreaker(failure_threshold, reset_timeout_s, clock_s=clock_s)

    @property
    def model(self) -> str:
        """The model that is asked where an ask names none."""
        return self._model

    async def ask(self, ask: ChatAsk, *, on_delta: OnDelta | None = None) -> ChatAnswer:
        """Return the answer; raise ModelUnavailable."""
        if not self._breaker.admit():
            raise ModelUnavailable("open", "model: no request is made after so many failures in a row")
        try:
            async with asyncio.timeout(self._limit_s), self._room:
                answer = await self._tried(ask, on_delta)
        except TimeoutError as error:
            self._breaker.failed()
            raise ModelUnavailable("slow", f"model: no answer within {self._limit_s:g} s") from error
        except ModelUnavailable:
            self._breaker.failed()
            raise
        except BaseException:
            self._breaker.given_up()
            raise
        self._breaker.succeeded()
        return answer

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _tried(self, ask: ChatAsk, on_delta: OnDelta | None) -> ChatAnswer:
        import openai

        model = ask.model or self._model
        dialect = self._dialects.get(model) or Dialect(protocol=self._protocol, stream=self._stream)
        tries, failures, started = 0, 0, self._clock_s()
        while True:
            tries += 1
            try:
                answer = await self._asked(model, ask, dialect, on_delta)
            except (openai.OpenAIError, *_NONSENSE) as error:
                simpler = dialect.without_what_was_refused(error)
                if simpler is not None:
                    dialect = simpler
                    continue
                failures += 1
                await self._pause(error, failures)
                continue
            if answer is None:  # asked for a stream, and got something else
                dialect = dialect.unstreamed()
                continue
            self._dialects[model] = dialect
            return ChatAnswer(
                text=answer.text,
                calls=answer.calls,
                model=model,
                protocol=dialect.used,
                tokens_in=answer.tokens_in,
                tokens_out=answer.tokens_out,
                counted=answer.counted,
                seconds=self._clock_s() - started,
                tries=tries,
                complete=answer.complete,
            )

    async def _asked(self, model: str, ask: ChatAsk, dialect: Dialect, on_delta: OnDelta | None) -> ChatAnswer | None:
        wanted: dict[str, Any] = dialect.request(model, ask, max_tokens=ask.max_tokens or self._max_tokens)
        reply: Any = await self._client.chat.completions.create(**wanted)
        if not dialect.stream:
            return read_whole(reply, ask)
        async with reply:
            return await read_stream(reply, ask, on_delta)

    async def _pause(self, error: Exception, failures: int) -> None:
        """Wait before the next try; raise ModelUnavailable where there is none."""
        reason, passing = _reason(error)
        if not passing or failures > self._retries:
            raise ModelUnavailable(reason, f"model: {_told(error)}") from error
        wait_s = min(BACKOFF_S * 2 ** (failures - 1), BACKOFF_MAX_S) * (0.5 + self._jitter())
        await self._sleep(max(wait_s, _retry_after_s(error)))


def _reason(error: Exception) -> tuple[str, bool]:
    """Return why there is no answer, and whether it may pass by itself."""
    import openai

    if isinstance(error, openai.APIStatusError):
        passing = error.status_code in _PASSING or error.status_code >= 500
        return ("down" if passing else "refused"), passing
    if isinstance(error, openai.APITimeoutError):
        return "slow", True
    return "down", isinstance(error, (openai.APIError, *_NONSENSE))


def _told(error: Exception) -> str:
    import openai

    if isinstance(error, openai.APIStatusError):
        told = f"the endpoint answered {error.status_code}"
        return told if error.status_code >= 500 else f"{told}; check model.name, model.base_url and OPENAI_API_KEY"
    return f"the endpoint cannot be used ({type(error).__name__})"


def _retry_after_s(error: Exception) -> float:
    import openai

    header = error.response.headers.get("retry-after", "") if isinstance(error, openai.APIStatusError) else ""
    try:
        return max(0.0, float(header))
    except ValueError:
        return 0.0
