"""Alarms reach the handoff channel of a real local workspace, once."""

from __future__ import annotations

import pytest

from hermes_bot.bus.port import Delivery
from hermes_bot.edge.alarms import AlarmPosts
from hermes_bot.edge.poster import Poster
from hermes_bot.errors import PermanentError
from hermes_bot.messages.message import Message, utc_now
from hermes_bot.messages.payloads import ALARM_RAISED, AlarmRaised, fields_of
from tests.edge.rig import Rig


def alarm(text: str = "3 of 41 attempts failed") -> Message:
    body = AlarmRaised(subject="reply.ready", text=text, reference="MSG-01A")
    return Message(
        type=ALARM_RAISED, sender="alarms", context_id="hermes:alarms", task_id="alarm:1", data=fields_of(body)
    )


async def test_an_alarm_is_posted_in_the_handoff_channel_once_and_says_how_to_look(rig: Rig) -> None:
    message = alarm()
    await rig.delivered(message)
    await rig.deliver(message, redelivered=True)

    posts = rig.server.workspace.posts.roots("C0HANDOFF")
    (post,) = [post for post in posts if "reply.ready" in post.text]
    assert "3 of 41 attempts failed" in post.text
    assert "hermes-bot trace MSG-01A" in post.text


async def test_what_an_error_says_is_shown_as_it_is_and_calls_nobody(rig: Rig) -> None:
    await rig.delivered(alarm("<!channel> & <@U0EMMA>"))

    (post,) = [post for post in rig.server.workspace.posts.roots("C0HANDOFF") if "reply.ready" in post.text]
    assert "&lt;!channel&gt; &amp; &lt;@U0EMMA&gt;" in post.text


async def test_without_a_channel_an_alarm_is_a_dead_letter_that_names_the_setting(rig: Rig) -> None:
    posts = AlarmPosts(Poster(rig.api, rig.posts, clock=utc_now), handoff_channel="")
    message = alarm()
    delivery = Delivery(message=message, subscription="slack:alarm.raised", agent="slack")

    with pytest.raises(PermanentError, match=r"slack\.handoff_channel"):
        await posts.on_raised(message, delivery)
