"""Replies stand in Slack exactly once, in the right place, seen by the right people, whatever Slack does."""

from __future__ import annotations

from typing import Any

import pytest

from hermes_bot.edge.slack_errors import OutcomeUnknown, TokenRefused
from hermes_bot.errors import NotYet, PermanentError, SlackRefused
from hermes_bot.messages.payloads import POST_CHECK, Audience, Choice, Reply
from hermes_bot.workspace.faults import ApiError, RateLimited, ReplyLost, ServerError
from tests.edge.rig import Rig, buttons, owner_only, reply_message, reply_to

POST = "chat.postMessage"


@pytest.fixture
def rig(socket_rig: Rig) -> Rig:
    return socket_rig


def texts(messages: list[dict[str, Any]]) -> list[str]:
    return [message["text"] for message in messages]


async def test_a_reply_stands_in_its_thread_escaped_once(rig: Rig) -> None:
    ticket = await rig.ticket()

    await rig.deliver(reply_to(ticket, "<!channel> Q&A: it is *here*"))

    (reply,) = rig.thread("C0SUPPORT", ticket.thread_ts)
    assert reply["text"] == "&lt;!channel&gt; Q&amp;A: it is *here*"
    assert reply["blocks"][0]["text"]["text"] == reply["text"]


async def test_a_post_carries_its_key_ticket_and_what_it_answers(rig: Rig) -> None:
    ticket = await rig.ticket()
    message = reply_to(ticket, "hello")

    await rig.deliver(message)

    (reply,) = rig.thread("C0SUPPORT", ticket.thread_ts)
    payload = reply["metadata"]["event_payload"]
    assert payload == {"key": f"reply:{message.id}", "ticket": ticket.id, "in_reply_to": ticket.thread_ts}


async def test_fields_and_choices_are_shown(rig: Rig) -> None:
    ticket = await rig.ticket()
    choices = (Choice(id="1001", label="Order 1001"), Choice(id="1002", label="Order 1002"))

    await rig.deliver(reply_to(ticket, "Which one?", choices=choices, fields=(("State", "shipped"),)))

    (reply,) = rig.thread("C0SUPPORT", ticket.thread_ts)
    assert buttons(reply) == ["Order 1001", "Order 1002"]
    assert "State: shipped" in reply["text"]


async def test_forty_thousand_characters_arrive_whole_and_in_order(rig: Rig) -> None:
    ticket = await rig.ticket()
    words = [f"word{number}" for number in range(4_800)]
    text = " ".join(words)
    assert len(text) > 40_000

    await rig.deliver(reply_to(ticket, text))

    assert " ".join(texts(rig.thread("C0SUPPORT", ticket.thread_ts))).split() == words


@pytest.mark.parametrize("header, wait_s", [(7.0, 7.0), (None, 1.0)])
async def test_a_rate_limit_is_handed_to_the_bus_with_its_wait(rig: Rig, header: float | None, wait_s: float) -> None:
    ticket = await rig.ticket()
    message = reply_to(ticket, "hello")
    rig.server.faults.add(method=POST, fault=RateLimited(header))

    with pytest.raises(NotYet) as raised:
        await rig.deliver(message)
    rig.skipped_s += raised.value.wait_s
    outputs = await rig.deliver(message, redelivered=True)

    assert raised.value.wait_s == wait_s
    assert texts(rig.thread("C0SUPPORT", ticket.thread_ts)) == ["hello"]
    assert [each.type for each in outputs] == ["ticket.answered"]  # nothing was posted before: no copy to look for


@pytest.mark.parametrize("fault", [ReplyLost(), ServerError(502)])
async def test_a_lost_answer_leads_to_exactly_one_post(rig: Rig, fault: Any) -> None:
    ticket = await rig.ticket()
    message = reply_to(ticket, "hello")
    rig.server.faults.add(method=POST, fault=fault)

    with pytest.raises(OutcomeUnknown):
        await rig.deliver(message)
    await rig.deliver(message, attempt=2)

    assert texts(rig.thread("C0SUPPORT", ticket.thread_ts)) == ["hello"]
    post = await rig.posts.find(f"reply:{message.id}")
    assert post is not None
    assert post.ts == rig.thread("C0SUPPORT", ticket.thread_ts)[0]["ts"]


async def test_a_handler_that_was_killed_after_the_post_finds_it_again(rig: Rig) -> None:
    ticket = await rig.ticket()
    message = reply_to(ticket, "hello")

    await rig.deliver(message)
    await rig.deliver(message, redelivered=True)

    assert texts(rig.thread("C0SUPPORT", ticket.thread_ts)) == ["hello"]


@pytest.mark.parametrize("direct", [False, True])
async def test_a_copy_that_turns_up_later_is_deleted(rig: Rig, direct: bool) -> None:
    ticket = await rig.ticket(channel="D0EMMA" if direct else "C0SUPPORT")
    message = reply_to(ticket, "hello")
    check, _answered = await rig.deliver(message, attempt=2)
    metadata = {"event_type": "hermes_post", "event_payload": {"key": f"reply:{message.id}"}}
    thread_ts = ticket.thread_ts or None
    await rig.api.call(POST, channel=ticket.channel, thread_ts=thread_ts, text="hello", metadata=metadata)

    await rig.deliver(check)

    bots = [one for one in rig.server.workspace.messages(ticket.channel, ticket.thread_ts) if one.get("bot_id")]
    kept = await rig.posts.find(f"reply:{message.id}")
    assert check.type == POST_CHECK
    assert check.not_before is not None
    assert check.context_id != message.context_id
    assert kept is not None
    assert [one["ts"] for one in bots] == [kept.ts]


async def test_several_posts_of_one_long_reply_are_each_sent_once(rig: Rig) -> None:
    ticket = await rig.ticket()
    message = reply_to(ticket, "word " * 4_000)
    rig.server.faults.add(method=POST, fault=ReplyLost())

    await rig.delivered(message)

    replies = rig.thread("C0SUPPORT", ticket.thread_ts)
    assert "".join(texts(replies)).replace(" ", "") == "word" * 4_000


async def test_owners_details_go_to_their_direct_messages(rig: Rig) -> None:
    ticket = await rig.ticket()

    await rig.deliver(owner_only(ticket, "Your address is …"))

    assert rig.thread("C0SUPPORT", ticket.thread_ts) == []
    assert texts(rig.root("D0EMMA")) == ["Your address is …"]


async def test_an_ephemeral_is_seen_by_one_person_in_the_thread(rig: Rig) -> None:
    ticket = await rig.ticket()

    await rig.deliver(owner_only(ticket, "Only for you", Audience.EPHEMERAL))

    (seen,) = rig.server.workspace.ephemerals("U0EMMA")
    assert (seen["text"], seen["thread_ts"]) == ("Only for you", ticket.thread_ts)
    assert rig.thread("C0SUPPORT", ticket.thread_ts) == []


@pytest.mark.parametrize("again", [{"attempt": 2}, {"redelivered": True}])
async def test_an_ephemeral_is_never_repeated(rig: Rig, again: dict[str, Any]) -> None:
    ticket = await rig.ticket()
    message = owner_only(ticket, "Only for you", Audience.EPHEMERAL)

    await rig.deliver(message, **again)

    assert rig.server.workspace.ephemerals("U0EMMA") == []


async def test_an_ephemeral_whose_answer_is_lost_is_left_at_that(rig: Rig) -> None:
    ticket = await rig.ticket()
    rig.server.faults.add(method="chat.postEphemeral", fault=ReplyLost())

    outputs = await rig.deliver(owner_only(ticket, "Only for you", Audience.EPHEMERAL))

    assert outputs == []
    assert len(rig.server.workspace.ephemerals("U0EMMA")) == 1


async def test_an_ephemeral_that_was_turned_away_is_sent_later(rig: Rig) -> None:
    ticket = await rig.ticket()
    rig.server.faults.add(method="chat.postEphemeral", fault=RateLimited())

    await rig.delivered(owner_only(ticket, "Only for you", Audience.EPHEMERAL))

    assert len(rig.server.workspace.ephemerals("U0EMMA")) == 1


async def test_who_is_not_in_the_channel_is_told_directly(rig: Rig) -> None:
    reply = Reply(
        ticket_id="", channel="C0HANDOFF", thread_ts="", text="Not you", audience=Audience.EPHEMERAL, user="U0EMMA"
    )

    await rig.deliver(reply_message(reply))

    assert texts(rig.root("D0EMMA")) == ["Not you"]


async def test_a_reply_for_nobody_is_a_permanent_error(rig: Rig) -> None:
    reply = Reply(ticket_id="", channel="C0SUPPORT", thread_ts="", text="x", audience=Audience.OWNER)

    with pytest.raises(PermanentError):
        await rig.deliver(reply_message(reply))


@pytest.mark.parametrize("error", ["is_archived", "not_in_channel", "channel_not_found"])
async def test_a_refused_post_is_not_tried_again(rig: Rig, error: str) -> None:
    ticket = await rig.ticket()
    rig.server.faults.add(method=POST, fault=ApiError(error))

    with pytest.raises(SlackRefused) as raised:
        await rig.deliver(reply_to(ticket, "hello"))

    assert raised.value.error == error


async def test_refused_blocks_are_sent_as_plain_text(rig: Rig) -> None:
    ticket = await rig.ticket()
    rig.server.faults.add(method=POST, fault=ApiError("invalid_blocks"))

    await rig.deliver(reply_to(ticket, "hello", choices=(Choice(id="1", label="One"),)))

    (reply,) = rig.thread("C0SUPPORT", ticket.thread_ts)
    assert (reply["text"], buttons(reply)) == ("hello", [])


@pytest.mark.parametrize("fault", [None, ReplyLost(), ApiError("cannot_reply_to_message")])
async def test_a_reply_whose_parent_is_gone_is_taken_back_and_reaches_the_customer_alone(
    rig: Rig, fault: ReplyLost | ApiError | None
) -> None:
    ticket = await rig.ticket()
    await rig.server.workspace.delete("U0EMMA", "C0SUPPORT", ticket.thread_ts)
    if fault is not None:
        rig.server.faults.add(method=POST, fault=fault)
    message = reply_to(ticket, "hello")

    await rig.delivered(message)
    await rig.deliver(message, redelivered=True)

    assert texts(rig.root("C0SUPPORT")) == []
    assert texts(rig.root("D0EMMA")) == ["hello"]


@pytest.mark.parametrize("error", ["user_disabled", "cannot_dm_bot", "missing_scope"])
async def test_what_is_for_the_owner_alone_is_shown_to_them_in_the_thread_where_no_direct_message_is_possible(
    rig: Rig, error: str
) -> None:
    ticket = await rig.ticket()
    rig.server.faults.add(method="conversations.open", fault=ApiError(error))

    await rig.delivered(owner_only(ticket, "for you"))

    assert texts(rig.root("D0EMMA")) == []
    (told,) = rig.server.workspace.ephemerals("U0EMMA")
    assert (told["channel"], told["text"]) == ("C0SUPPORT", "for you")
    assert "for you" not in texts(rig.root("C0SUPPORT"))


async def test_a_token_that_is_revoked_while_running_keeps_the_delivery(rig: Rig) -> None:
    ticket = await rig.ticket()
    message = reply_to(ticket, "hello")
    token = rig.server.world.app.bot_token
    rig.server.tokens.revoke(token)

    with pytest.raises(TokenRefused):
        await rig.deliver(message)
    without = rig.edge.ready()
    rig.server.tokens.restore(token)
    await rig.deliver(message, attempt=2)

    assert without == (False, "Slack refused the bot token: token_revoked. Check SLACK_BOT_TOKEN.")
    assert rig.edge.ready() == (True, "")
    assert texts(rig.thread("C0SUPPORT", ticket.thread_ts)) == ["hello"]
