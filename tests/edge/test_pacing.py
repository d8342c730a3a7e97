"""Calls to Slack go out in turn: within the budget, in order, people before notices, and nobody is forgotten."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_bot.edge.lines import AGED_S, RESERVED, WARY_S, Haste
from hermes_bot.edge.pacing import MOST_LINES, PER_MINUTE, POST, Limits, Pacing
from hermes_bot.edge.slack_errors import RateLimited
from hermes_bot.errors import NotYet
from hermes_bot.messages.message import PRIORITY_NOTICE, PRIORITY_USER, Message
from hermes_bot.messages.payloads import (
    APPROVAL_REQUESTED,
    APPROVAL_SETTLED,
    ApprovalRequested,
    ApprovalSettled,
    fields_of,
)
from hermes_bot.messages.ticket_payloads import TICKET_CARD, TicketCard
from hermes_bot.workspace import faults
from hermes_bot.workspace.web_api import METHODS
from tests.edge.rig import Rig

UPDATE = "chat.update"
CHANNELS = ("C1", "C2")
LIMITS = Limits(posts_a_second=1, posts_at_once=4, posts_a_minute=30, tier_minutes=0.2, until_refused=1)
UPDATES_AT_ONCE = 10  # 0.2 minutes of 50


@dataclass(kw_only=True)
class Asked:
    """A call that comes back as often as it is told to."""

    key: str
    method: str = POST
    channel: str = "C1"
    haste: Haste = Haste.PERSON
    asked_at: float = 0.0
    waits: int = 0


@dataclass
class Slack:
    """Time that stands still between calls, those who wait, and who got through when."""

    limits: Limits = LIMITS
    now: float = 1_000.0
    waiting: list[tuple[float, int, Asked]] = field(default_factory=list)
    gone: list[tuple[float, Asked]] = field(default_factory=list)
    number: int = 0

    def __post_init__(self) -> None:
        self.pacing = Pacing(self.limits, steady=lambda: self.now)

    async def ask(self, asked: Asked, *, refused_for_s: float = 0.0) -> float:
        """Return how long the call has to wait, 0 where it went through."""
        try:
            async with self.pacing.turn(asked.method, channel=asked.channel, key=asked.key, haste=asked.haste):
                if refused_for_s:
                    raise RateLimited(asked.method, refused_for_s)
        except NotYet as error:
            asked.waits += 1
            self.number += 1
            if asked.haste is not Haste.DECORATION:
                self.waiting.append((self.now + error.wait_s, self.number, asked))
            return error.wait_s
        self.gone.append((self.now, asked))
        return 0.0

    async def pass_time(self, until: float) -> None:
        """Let those come back whose time it is, in the order in which the bus wakes them."""
        while self.waiting and min(self.waiting)[0] <= until:
            first = min(self.waiting, key=lambda each: each[:2])
            self.waiting.remove(first)
            self.now = max(self.now, first[0])
            await self.ask(first[2])
        self.now = max(self.now, until)

    async def all_gone(self) -> None:
        """Wait until nobody waits."""
        while self.waiting:
            await self.pass_time(min(each[0] for each in self.waiting))


def keys(slack: Slack, channel: str = "C1", haste: Haste | None = None) -> list[str]:
    return [each.key for _, each in slack.gone if each.channel == channel and haste in (None, each.haste)]


calls = st.lists(
    st.tuples(
        st.floats(0, 3),
        st.sampled_from([POST, UPDATE]),
        st.sampled_from(CHANNELS),
        st.sampled_from(Haste),
        st.sampled_from([0.0, 0.0, 0.0, 0.0, 1.0, 5.0]),
    ),
    max_size=60,
)


async def played(given_calls: list[tuple[float, str, str, Haste, float]]) -> Slack:
    """Return what came of the calls: after each pause one, which Slack may turn away the first time."""
    slack = Slack()
    for number, (pause_s, method, channel, haste, refused_for_s) in enumerate(given_calls):
        await slack.pass_time(slack.now + pause_s)
        asked = Asked(key=f"{number:03}", method=method, channel=channel, haste=haste, asked_at=slack.now)
        await slack.ask(asked, refused_for_s=refused_for_s)
    await slack.all_gone()
    return slack


def within(times: list[float], at_once: float, per_s: float) -> bool:
    return all(
        last - first <= at_once + per_s * (times[last - 1] - times[first]) + 0.1
        for first in range(len(times))
        for last in range(first + 1, len(times) + 1)
    )


@settings(max_examples=60, deadline=None)
@given(calls)
def test_whatever_comes_the_budgets_hold_and_nobody_is_forgotten(
    given_calls: list[tuple[float, str, str, Haste, float]],
) -> None:
    slack = asyncio.run(played(given_calls))

    for channel in CHANNELS:
        posts = [at for at, each in slack.gone if each.method == POST and each.channel == channel]
        assert within(posts, LIMITS.posts_at_once, LIMITS.posts_a_second)
    updates = [at for at, each in slack.gone if each.method == UPDATE]
    assert within(updates, UPDATES_AT_ONCE, PER_MINUTE[UPDATE] / 60)
    kept = [number for number, each in enumerate(given_calls) if each[3] is not Haste.DECORATION]
    gone = [int(each.key) for _, each in slack.gone if each.haste is not Haste.DECORATION]
    assert sorted(gone) == kept


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 2), st.sampled_from(CHANNELS), st.sampled_from([0.0, 0.0, 3.0])), max_size=40))
def test_in_a_channel_those_for_whom_people_wait_go_in_the_order_in_which_they_came(
    given_calls: list[tuple[float, str, float]],
) -> None:
    slack = asyncio.run(
        played([(pause, POST, channel, Haste.PERSON, refused) for pause, channel, refused in given_calls])
    )

    for channel in CHANNELS:
        assert keys(slack, channel) == sorted(keys(slack, channel))


async def test_who_has_to_wait_waits_once() -> None:
    slack = Slack()
    for number in range(12):
        await slack.ask(Asked(key=f"{number:03}"))
    await slack.all_gone()

    assert [each.waits for _, each in slack.gone] == [0] * 4 + [1] * 8
    assert [at - 1_000 for at, _ in slack.gone] == pytest.approx([0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8])


async def test_a_person_overtakes_notices() -> None:
    slack = Slack()
    for number in range(20):
        await slack.ask(Asked(key=f"card {number}", method=UPDATE, haste=Haste.NOTICE))
    first = await slack.ask(Asked(key="approval", method=UPDATE))
    await slack.all_gone()

    assert first == 0  # the last calls of a budget are kept for people
    assert keys(slack, haste=Haste.NOTICE) == [f"card {number}" for number in range(20)]


async def test_people_who_wait_go_before_notices_that_came_earlier() -> None:
    slack = Slack()
    for number in range(4):
        await slack.ask(Asked(key=f"{number}"))
    await slack.ask(Asked(key="notice", haste=Haste.NOTICE))
    await slack.ask(Asked(key="reply"))
    await slack.all_gone()

    assert keys(slack) == ["0", "1", "2", "3", "reply", "notice"]


async def test_a_notice_gets_through_though_people_never_stop_asking() -> None:
    slack = Slack(Limits(posts_at_once=4, until_refused=1))
    await slack.ask(Asked(key="first"), refused_for_s=1)
    await slack.ask(Asked(key="notice", haste=Haste.NOTICE))
    for number in range(int(AGED_S * 2)):
        await slack.ask(Asked(key=f"reply {number}"))
        await slack.pass_time(slack.now + 0.95)

    assert "notice" in keys(slack)


async def test_decorations_are_let_go_and_leave_room_for_people() -> None:
    slack = Slack()
    told = [await slack.ask(Asked(key=f"{n}", method=UPDATE, haste=Haste.DECORATION)) for n in range(30)]

    assert sum(wait == 0 for wait in told) == UPDATES_AT_ONCE - UPDATES_AT_ONCE // 4
    assert slack.waiting == []


async def test_after_a_refusal_nobody_posts_in_that_channel_and_the_refused_goes_first() -> None:
    slack = Slack()
    assert await slack.ask(Asked(key="0"), refused_for_s=2) == 2
    waits = [await slack.ask(Asked(key=f"{number}")) for number in range(1, 5)]
    elsewhere = await slack.ask(Asked(key="other", channel="C2"))
    await slack.all_gone()

    assert waits == pytest.approx([3, 4, 5, 6])
    assert elsewhere == 0
    assert keys(slack) == ["0", "1", "2", "3", "4"]


async def test_after_a_refusal_the_whole_of_any_other_method_rests() -> None:
    slack = Slack()
    await slack.ask(Asked(key="0", method=UPDATE), refused_for_s=2)

    assert await slack.ask(Asked(key="1", method=UPDATE, channel="C2")) > 2
    assert await slack.ask(Asked(key="2", method="users.info")) == 0


async def test_who_is_refused_again_and_again_waits_longer_each_time() -> None:
    slack, waits = Slack(), []
    for _ in range(9):
        waits.append(await slack.ask(Asked(key="0"), refused_for_s=1))
        slack.now += waits[-1]
    await slack.ask(Asked(key="0"))
    slack.now += 60

    assert waits == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert await slack.ask(Asked(key="1"), refused_for_s=1) == 1  # it is forgiven


async def test_a_place_whose_call_never_comes_back_lapses() -> None:
    slack = Slack()
    for number in range(6):
        await slack.ask(Asked(key=f"{number}"))
    slack.waiting = [each for each in slack.waiting if each[2].key != "4"]  # its delivery was cancelled
    await slack.all_gone()

    assert keys(slack) == ["0", "1", "2", "3", "5"]


async def test_a_channel_that_waits_for_itself_holds_up_no_other() -> None:
    slack = Slack()
    for number in range(40):
        await slack.ask(Asked(key=f"{number}"))

    assert await slack.ask(Asked(key="other", channel="C2")) == 0


async def test_all_posts_together_have_a_budget_too() -> None:
    slack = Slack()
    waits = [await slack.ask(Asked(key=f"{number}", channel=f"C{number}")) for number in range(31)]

    assert waits[:30] == [0] * 30
    assert waits[30] == pytest.approx(2)


@pytest.mark.parametrize("method", ["views.open", "auth.test", "chat.stopStream"])
async def test_what_cannot_wait_is_never_held_up(method: str) -> None:
    slack = Slack()

    assert [await slack.ask(Asked(key="same", method=method)) for _ in range(500)] == [0] * 500


@pytest.mark.parametrize("method, a_second", [("users.info", 100 / 60), (UPDATE, 50 / 60), (POST, 1)])
async def test_hardly_anything_is_held_up_until_slack_refuses_it_and_again_after_a_quiet_hour(
    method: str, a_second: float
) -> None:
    slack = Slack(replace(LIMITS, posts_at_once=10, posts_a_minute=300, until_refused=10))
    before = [await slack.ask(Asked(key=f"{number}", method=method)) for number in range(40)]
    await slack.ask(Asked(key="refused", method=method), refused_for_s=2)
    after = [await slack.ask(Asked(key=f"after {number}", method=method)) for number in range(3)]
    await slack.all_gone()
    await slack.pass_time(slack.now + WARY_S)
    later = [await slack.ask(Asked(key=f"later {number}", method=method)) for number in range(40)]

    assert before == later == [0] * 40
    assert after == pytest.approx([2 + (number + 1) / a_second for number in range(3)])


async def test_a_decoration_that_is_refused_holds_no_place() -> None:
    slack = Slack()
    await slack.ask(Asked(key="0", method=UPDATE, haste=Haste.DECORATION), refused_for_s=2)

    assert await slack.ask(Asked(key="1", method=UPDATE)) == pytest.approx(2)


async def test_in_one_channel_one_post_is_under_way_at_a_time() -> None:
    slack, running, most = Slack(Limits()), 0, 0

    async def post(number: int) -> None:
        nonlocal running, most
        async with slack.pacing.turn(POST, channel="C1", key=f"{number}"):
            running += 1
            most = max(most, running)
            await asyncio.sleep(0)
            running -= 1

    await asyncio.gather(*(post(number) for number in range(8)))

    assert most == 1


async def test_what_is_remembered_is_bounded() -> None:
    slack = Slack()
    for number in range(MOST_LINES + 10):
        await slack.ask(Asked(key=f"{number}", channel=f"C{number}"))

    assert len(slack.pacing._lines) <= MOST_LINES


def test_the_tiers_are_those_that_the_workspace_knows() -> None:
    known = {name: METHODS[name].tier for name in PER_MINUTE if METHODS[name].tier}

    assert known == {name: PER_MINUTE[name] for name in known}
    assert len(known) >= len(PER_MINUTE) - 2
    assert min(PER_MINUTE.values()) > RESERVED


def about(type_: str, payload: Any, context_id: str, priority: int = PRIORITY_USER) -> Message:
    return Message(type=type_, sender="test", context_id=context_id, data=fields_of(payload), priority=priority)


async def test_a_settled_card_overtakes_the_redraws_that_came_before_it(socket_rig: Rig) -> None:
    tickets = [await socket_rig.ticket(text=f"help {number}") for number in range(3)]
    request = await socket_rig.approval(tickets[0])
    await socket_rig.deliver(about(APPROVAL_REQUESTED, ApprovalRequested(approval_id=request.id), request.context_id))
    redraws = [about(TICKET_CARD, TicketCard(ticket_id=each.id), each.context_id, PRIORITY_NOTICE) for each in tickets]
    for redraw in redraws:
        await socket_rig.deliver(redraw)
    decided = ApprovalSettled(approval_id=request.id, ticket_id=request.ticket_id, status="approved")
    settled = about(APPROVAL_SETTLED, decided, request.context_id)
    socket_rig.server.faults.add(method=UPDATE, fault=faults.RateLimited(30))
    turns: dict[str, float] = {}
    for message in [*redraws, settled]:
        with pytest.raises(NotYet) as told:
            await socket_rig.deliver(message, redelivered=True)
        turns[message.id] = told.value.wait_s

    first, second, *others = sorted(turns, key=lambda each: turns[each])

    assert (first, second) == (redraws[0].id, settled.id)  # the one that Slack turned away, then what people wait for
    assert others == [redraw.id for redraw in redraws[1:]]
