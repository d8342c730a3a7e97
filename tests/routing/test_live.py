"""A router is replaced while texts are being routed."""

from __future__ import annotations

import asyncio

from routing.live import LiveRouter
from routing.route import Keywords, Route
from routing.router import Router
from tests.routing.conftest import CountingEncoder


def router(encoder: CountingEncoder, name: str) -> Router:
    route = Route(name=name, type=f"t.{name}", agent=name, keywords=(Keywords(any=("tea",)),))
    return Router((route,), encoder)


async def test_what_comes_after_the_swap_is_asked_of_the_new_one(encoder: CountingEncoder) -> None:
    live = LiveRouter(router(encoder, "old"))
    before = await live.choose("tea")
    live.swap(router(encoder, "new"))
    after = await live.choose("tea")
    live.close()

    assert (before.route, after.route) == ("old", "new")
    assert [route.name for route in live.routes] == ["new"]


async def test_a_text_that_is_being_routed_is_finished_by_the_old_one(encoder: CountingEncoder) -> None:
    old, new = router(encoder, "old"), router(encoder, "new")
    asked, answer = asyncio.Event(), asyncio.Event()
    choose = old.choose

    async def slowly(text: str) -> object:
        asked.set()
        await answer.wait()
        return await choose(text)

    old.choose = slowly  # type: ignore[method-assign, assignment]  # the encoder is too fast to be met at work
    live = LiveRouter(old)
    waiting = asyncio.create_task(live.choose("tea"))
    await asked.wait()
    live.swap(new)
    meanwhile = await live.choose("tea")
    answer.set()

    assert meanwhile.route == "new"
    assert (await waiting).route == "old"
    live.close()
