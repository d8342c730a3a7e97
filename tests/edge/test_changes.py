"""Edits, deletions and Stop become messages for the bus; what nobody did becomes nothing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.edge.changes import read_change
from hermes_bot.edge.channels import ChannelPolicy
from hermes_bot.edge.inbound import Bot, read_event
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import read
from hermes_bot.messages.ticket_payloads import Deleted, Edited, Stopped

BOT = Bot(team="T0HERMES", user="U0HERMES", bot="B0HERMES")
POLICY = ChannelPolicy(handoff_channel="C0HANDOFF")
TS, EDIT_TS = "1700000000.000100", "1700000010.000200"
BEFORE = {"type": "message", "user": "U0EMMA", "ts": TS, "text": "where is ordr A1001"}
AFTER = BEFORE | {"text": "where is order A1001 &amp; A1002", "edited": {"user": "U0EMMA", "ts": EDIT_TS}}
GONE = {"type": "message", "subtype": "tombstone", "user": "USLACKBOT", "ts": TS, "text": "This message was deleted."}


def told(channel: str = "C0SUPPORT", **event: Any) -> Message | None:
    shape = {"type": "message", "channel": channel, "hidden": True, "event_ts": EDIT_TS}
    body = {"type": "event_callback", "team_id": "T0HERMES", "event": shape | event}
    assert read_event(body, bot=BOT, policy=POLICY) is None
    return read_change(body, bot=BOT, policy=POLICY)


def changed(message: dict[str, Any] = AFTER, previous: dict[str, Any] | None = None, **event: Any) -> Message | None:
    before = BEFORE if previous is None else previous
    return told(subtype="message_changed", message=message, previous_message=before, **event)


def test_an_edit_has_the_context_of_its_message_and_both_texts() -> None:
    message = changed()

    assert message is not None
    edited = read(message, Edited)
    assert (message.type, message.context_id) == ("ticket.edited", f"T0HERMES:C0SUPPORT:{TS}")
    assert message.task_id == f"slack:T0HERMES:C0SUPPORT:{TS}:edited:{EDIT_TS}"
    assert (edited.ts, edited.user, edited.channel_type) == (TS, "U0EMMA", "channel")
    assert (edited.text, edited.previous) == ("where is order A1001 & A1002", "where is ordr A1001")


def test_an_edited_reply_belongs_to_its_thread_and_a_direct_message_to_the_conversation() -> None:
    reply = changed(AFTER | {"thread_ts": "1699999999.000001"})
    direct = changed(channel="D0EMMA", channel_type="im")

    assert reply is not None
    assert direct is not None
    assert reply.context_id == "T0HERMES:C0SUPPORT:1699999999.000001"
    assert direct.context_id == "T0HERMES:D0EMMA"


CALLED = AFTER | {"text": "<@U0HERMES> where is order A1001"}
MENTIONS = ChannelPolicy(support_channels=("C0OTHER",))


def test_an_edit_that_calls_the_bot_is_one_task_in_both_of_its_events() -> None:
    shape = {"channel": "C0SUPPORT", "event_ts": EDIT_TS}
    event = shape | {"type": "message", "subtype": "message_changed", "message": CALLED, "previous_message": BEFORE}
    mention = shape | CALLED | {"type": "app_mention"}

    found = [read_change({"team_id": "T0HERMES", "event": each}, bot=BOT, policy=MENTIONS) for each in (event, mention)]

    assert read_event({"team_id": "T0HERMES", "event": mention}, bot=BOT, policy=MENTIONS) is None
    assert {each.task_id for each in found if each} == {f"slack:T0HERMES:C0SUPPORT:{TS}:edited:{EDIT_TS}"}
    assert [read(each, Edited).mentioned for each in found if each] == [True, True]


def test_whom_a_forwarded_message_mentions_is_not_called_by_an_edit() -> None:
    forwarded = {"attachments": [{"is_share": True, "text": "<@U0HERMES> refund A1001"}]}
    shape = {"type": "message", "subtype": "message_changed", "channel": "C0SUPPORT", "event_ts": EDIT_TS}
    event = shape | {"message": AFTER | forwarded, "previous_message": BEFORE}

    message = read_change({"team_id": "T0HERMES", "event": event}, bot=BOT, policy=MENTIONS)

    assert message is not None
    assert not read(message, Edited).mentioned


def test_where_the_bot_hears_everything_an_edit_that_calls_it_is_an_edit() -> None:
    message = changed(CALLED)

    assert message is not None
    assert not read(message, Edited).mentioned


@pytest.mark.parametrize(
    "event",
    [
        {"message": BEFORE | {"attachments": [{"title": "unfurled"}]}},
        {"message": BEFORE | {"reply_count": 3, "thread_ts": TS}},
        {"message": AFTER | {"bot_id": "B0HERMES", "user": "U0HERMES"}},
        {"message": AFTER | {"bot_id": "B0OTHER"}},
        {"message": AFTER | {"user": "U0HERMES"}},
        {"message": AFTER | {"edited": {"user": "U0SOMEBODY", "ts": EDIT_TS}}},
        {"message": AFTER | {"user": None}},
        {"message": None, "previous": {}},
        {"message": {"text": 7, "user": "U0EMMA", "ts": TS}, "previous": {}},
        {"channel": "C0HANDOFF"},
    ],
)
def test_what_no_person_changed_is_nothing(event: dict[str, Any]) -> None:
    assert changed(**event) is None


def test_a_deletion_and_the_tombstone_of_a_parent_are_one_task() -> None:
    plain = told(subtype="message_deleted", deleted_ts=TS, previous_message=BEFORE)
    tombstone = changed(GONE | {"thread_ts": TS}, BEFORE | {"thread_ts": TS})

    assert plain is not None
    assert tombstone is not None
    assert plain.type == tombstone.type == "ticket.deleted"
    assert plain.task_id == tombstone.task_id
    assert plain.context_id == tombstone.context_id == f"T0HERMES:C0SUPPORT:{TS}"
    assert read(tombstone, Deleted) == read(plain, Deleted)
    assert "This message was deleted" not in str(tombstone.data)


def test_our_own_deleted_posts_are_nobodys() -> None:
    own = {"bot_id": "B0HERMES", "user": "U0HERMES", "ts": TS, "text": "an answer"}

    assert told(subtype="message_deleted", deleted_ts=TS, previous_message=own) is None
    assert changed(GONE, own) is None


def test_stop_names_the_conversation_and_has_a_context_of_its_own() -> None:
    message = told(type="agent_session_stopped", thread_ts=TS, user="U0EMMA")

    assert message is not None
    assert message.type == "agent.stopped"
    assert read(message, Stopped).conversation == f"T0HERMES:C0SUPPORT:{TS}"
    assert message.context_id == f"stop:T0HERMES:C0SUPPORT:{TS}"


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from(["message", "previous_message", "channel", "deleted_ts", "thread_ts", "user", "event_ts"])


@given(
    st.dictionaries(FIELDS, anything, max_size=4),
    st.sampled_from(["message_changed", "message_deleted", "tombstone", ""]),
    st.sampled_from(["message", "agent_session_stopped", "app_mention"]),
)
def test_no_shape_of_an_event_is_an_error(event: dict[str, Any], subtype: str, type_: str) -> None:
    shape = {"type": type_, "subtype": subtype, "channel": "C0SUPPORT", "message": AFTER, "previous_message": BEFORE}

    read_change({"event": shape | event}, bot=BOT, policy=POLICY)
