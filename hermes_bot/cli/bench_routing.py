"""`hermes-bot bench routing`: how fast texts are routed here, beside the keyword rules alone in the same run."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hermes_bot.cli.offline import Offline, with_offline
from hermes_bot.cli.output import AsJson, Config, say_json, say_table
from hermes_bot.cli.progress import progress

if TYPE_CHECKING:  # imported for its name alone, so that --help stays fast
    from routing.route import Route

BURST = 64

Choose = Callable[[str], Awaitable[object]]

COLUMNS = ("", "one at a time p50/p99 ms", f"texts/s in bursts of {BURST}")


def routing(
    texts: Annotated[int, typer.Option(min=BURST, max=100_000, help="Texts, none of which was seen before.")] = 512,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Measure routing with the settings' encoder on variations of the routes' own examples."""
    figures = with_offline(config, lambda parts: _measured(parts, texts))
    if as_json:
        say_json(figures)
        return
    named = {"rules and embeddings": figures, "rules alone": figures["yardstick"]}
    rows = [
        [name, f"{one['latency_ms']['p50']:.2f}/{one['latency_ms']['p99']:.2f}", f"{one['texts_per_s']:,.0f}"]
        for name, one in named.items()
    ]
    say_table(COLUMNS, rows, empty="")


async def _measured(parts: Offline, count: int) -> dict[str, Any]:
    from routing.keywords import KeywordRules

    router = parts.router
    rules = KeywordRules(router.routes)

    async def match(text: str) -> object:
        return rules.match(text)

    await router.choose("warm up")
    single, burst = variations(router.routes, count, "a"), variations(router.routes, count, "b")
    with progress(2 * count, "Routing") as heard:
        ours = await _timed(router.choose, single, burst, heard)
    yardstick = await _timed(match, single, burst, lambda _done: None)
    return {"n": count, **ours, "yardstick": yardstick}


async def _timed(
    choose: Choose, single: Sequence[str], burst: Sequence[str], heard: Callable[[int], object]
) -> dict[str, Any]:
    """Return the latency of one text after another, ms, and the rate of texts that come together."""
    took_ms: list[float] = []
    for number, text in enumerate(single, start=1):
        begun = time.perf_counter()
        await choose(text)
        took_ms.append((time.perf_counter() - begun) * 1_000)
        heard(number)
    begun = time.perf_counter()
    for start in range(0, len(burst), BURST):
        await asyncio.gather(*(choose(text) for text in burst[start : start + BURST]))
        heard(len(single) + start + BURST)
    rate = len(burst) / (time.perf_counter() - begun)
    took_ms.sort()
    at = {name: round(took_ms[int(share * (len(took_ms) - 1))], 3) for name, share in (("p50", 0.5), ("p99", 0.99))}
    return {"latency_ms": at, "texts_per_s": round(rate, 1)}


def variations(routes: Sequence[Route], count: int, mark: str) -> list[str]:
    """Return that many texts that no cache holds, made from the routes' examples."""
    examples = [text for route in routes for some in route.utterances.values() for text in some]
    examples = examples or ["Where is my order?"]
    return [f"{examples[number % len(examples)]} {mark}{number}" for number in range(count)]
