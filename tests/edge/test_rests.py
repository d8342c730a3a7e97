"""Where Slack wants nothing to be posted for a while, nobody overtakes the post that it turned away."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from hermes_bot.edge.rests import Rests
from hermes_bot.errors import TransientError
from hermes_bot.workspace.faults import RateLimited
from tests.edge.rig import Rig, reply_to

NOW = datetime(2026, 5, 4, tzinfo=UTC)


def test_all_but_the_one_that_was_turned_away_wait_until_the_time_is_over() -> None:
    now = [NOW]
    rests = Rests(lambda: now[0])
    rests.turned_away("C1", "first", 2.0)
    with pytest.raises(TransientError) as waits:
        rests.check("C1", "second")

    assert waits.value.retry_after_s == 2.0
    rests.check("C1", "first")
    rests.check("C2", "second")
    now[0] += timedelta(seconds=2)
    rests.check("C1", "second")


def test_a_post_that_slack_takes_ends_the_wait() -> None:
    rests = Rests(lambda: NOW)
    rests.turned_away("C1", "first", 60.0)
    rests.posted("C1")

    rests.check("C1", "second")


async def test_posts_of_one_channel_keep_their_order_through_a_rate_limit(socket_rig: Rig) -> None:
    rig = socket_rig
    first, second = await rig.ticket(text="one"), await rig.ticket(text="two")
    rig.server.faults.add(method="chat.postMessage", fault=RateLimited(60))
    answers = [reply_to(ticket, "answer") for ticket in (first, second)]
    for answer in answers:
        with pytest.raises(TransientError) as waits:
            await rig.deliver(answer)
        assert waits.value.retry_after_s is not None
        assert waits.value.retry_after_s > 50

    assert rig.thread("C0SUPPORT", second.thread_ts) == []
    for answer in answers:
        await rig.deliver(answer, attempt=2)
    assert len(rig.thread("C0SUPPORT", second.thread_ts)) == 1
