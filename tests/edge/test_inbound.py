"""Events of Slack's become messages for the bus, or nothing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.edge.channels import ChannelPolicy, Mode
from hermes_bot.edge.inbound import Bot, read_event
from hermes_bot.messages.message import Message, decode, encode
from hermes_bot.messages.payloads import Inbound, read

BOT = Bot(team="T0HERMES", user="U0HERMES", bot="B0HERMES")
POLICY = ChannelPolicy(handoff_channel="C0HANDOFF")
TS = "1700000000.000100"


def body(**event: Any) -> dict[str, Any]:
    shape = {"type": "message", "channel": "C0SUPPORT", "channel_type": "channel", "user": "U0EMMA", "ts": TS}
    return {"type": "event_callback", "team_id": "T0HERMES", "event": shape | {"text": "hello"} | event}


def heard(policy: ChannelPolicy = POLICY, **event: Any) -> Message | None:
    return read_event(body(**event), bot=BOT, policy=policy)


def taken(policy: ChannelPolicy = POLICY, **event: Any) -> tuple[Message, Inbound]:
    message = heard(policy, **event)
    assert message is not None
    return message, read(message, Inbound)


def test_a_channel_message_opens_a_conversation_under_its_own_ts() -> None:
    message, inbound = taken(text="Where is <https://s.example|my order>? a &lt; b")

    assert (message.type, message.sender, message.priority) == ("ticket.created", "slack", 8)
    assert message.task_id == f"slack:T0HERMES:C0SUPPORT:{TS}"
    assert message.context_id == f"T0HERMES:C0SUPPORT:{TS}"
    assert inbound.text == "Where is my order (https://s.example)? a < b"
    assert message.context_chain.text == inbound.text


def test_a_reply_belongs_to_its_thread() -> None:
    message, inbound = taken(thread_ts="1699999999.000001")

    assert message.type == "ticket.replied"
    assert message.context_id == "T0HERMES:C0SUPPORT:1699999999.000001"
    assert (inbound.ts, inbound.thread_ts) == (TS, "1699999999.000001")


def test_the_parent_of_a_thread_is_no_reply() -> None:
    message, inbound = taken(thread_ts=TS)

    assert (message.type, inbound.thread_ts) == ("ticket.created", "")


def test_an_unthreaded_direct_message_belongs_to_the_whole_conversation() -> None:
    message, _ = taken(channel="D0EMMA", channel_type="im")

    assert message.context_id == "T0HERMES:D0EMMA"


def test_mention_and_message_of_one_text_are_one_task() -> None:
    message, _ = taken(text="<@U0HERMES> help")
    mention, inbound = taken(type="app_mention", text="<@U0HERMES> help", channel_type=None)

    assert message.task_id == mention.task_id
    assert inbound.mentioned
    assert inbound.text == "help"


@pytest.mark.parametrize(
    "event",
    [
        {"bot_id": "B0HERMES", "user": "U0HERMES"},
        {"bot_id": "B0OTHER"},
        {"user": "U0HERMES"},
        {"user": "USLACKBOT"},
        {"user": None},
        {"subtype": "bot_message", "user": None, "bot_id": "B1"},
        {"subtype": "message_changed", "hidden": True, "user": None, "message": {"user": "U0EMMA", "text": "x"}},
        {"subtype": "message_deleted", "hidden": True, "deleted_ts": TS},
        {"subtype": "channel_topic"},
        {"subtype": "channel_join"},
        {"subtype": "tombstone", "text": "This message was deleted."},
        {"hidden": True},
        {"type": "reaction_added"},
        {"channel": "C0HANDOFF"},
        {"channel": "C0HANDOFF", "thread_ts": "1699999999.000001"},
        {"channel": None},
        {"ts": 1700000000.0001},
        {"ts": ""},
        {"user": {"id": "U0EMMA"}},
        {"channel": "C0:evil"},
    ],
)
def test_what_no_person_wrote_to_us_starts_nothing(event: dict[str, Any]) -> None:
    assert heard(**event) is None


@pytest.mark.parametrize("subtype", ["file_share", "thread_broadcast", "me_message", None, ""])
def test_ways_to_speak_are_heard(subtype: str | None) -> None:
    assert heard(subtype=subtype) is not None


def test_a_picture_without_words_is_heard_with_its_name() -> None:
    _, inbound = taken(subtype="file_share", text="", files=[{"name": "broken.png"}, {"id": "F1"}, "odd"])

    assert (inbound.text, inbound.files) == ("", ("broken.png", "F1"))


def test_in_shared_channels_the_team_is_the_one_that_the_event_was_sent_to() -> None:
    shared = body(user_team="T0OTHER") | {"team_id": "T0OTHER", "authorizations": [{"team_id": "T0HERMES"}]}

    message = read_event(shared, bot=BOT, policy=POLICY)

    assert message is not None
    inbound = read(message, Inbound)
    assert (inbound.team, inbound.user_team) == ("T0HERMES", "T0OTHER")


@pytest.mark.parametrize(
    "wrapper, team",
    [
        ({"team_id": "T0OTHER"}, "T0HERMES"),
        ({"team_id": "T0OTHER", "context_team_id": "T0HERMES"}, "T0HERMES"),
        ({"authorizations": [{"team_id": None}], "context_team_id": "T0TEAM"}, "T0TEAM"),
        ({"authorizations": [{"team_id": "E0ACME", "enterprise_id": "E0ACME"}]}, "T0HERMES"),
        ({"authorizations": [{"team_id": "T0TEAM"}], "context_team_id": "E0ACME"}, "T0TEAM"),
        ({"team_id": None, "context_team_id": "E0ACME"}, "T0HERMES"),
    ],
)
def test_without_its_authorization_an_event_is_still_never_the_authors_teams(wrapper: Any, team: str) -> None:
    bot = Bot(team="T0HERMES", user="U0HERMES", bot="B0HERMES", enterprise="E0ACME")

    message = read_event(body() | wrapper, bot=bot, policy=POLICY)

    assert message is not None
    assert read(message, Inbound).team == team


@pytest.mark.parametrize("named, meant", [("E0ACME", "T0HERMES"), ("E0OTHER", "E0OTHER"), ("T0SISTER", "T0SISTER")])
def test_our_enterprise_named_as_an_authors_team_is_our_team_and_no_other_is(named: str, meant: str) -> None:
    bot = Bot(team="T0HERMES", user="U0HERMES", bot="B0HERMES", enterprise="E0ACME")

    message = read_event(body(user="W0EMMA", user_team=named), bot=bot, policy=POLICY)

    assert message is not None
    assert read(message, Inbound).user_team == meant


def test_where_the_bot_listens_to_mentions_other_words_are_ignored() -> None:
    policy = ChannelPolicy(modes={"C0SUPPORT": Mode.MENTIONS})

    assert heard(policy) is None
    assert heard(policy, text="<@U0HERMES> hi") is not None


def test_where_the_bot_listens_to_mentions_a_reply_counts_only_in_a_known_conversation() -> None:
    policy = ChannelPolicy(modes={"C0SUPPORT": Mode.MENTIONS})

    _, unaddressed = taken(policy, thread_ts="1699999999.000001")
    _, addressed = taken(policy, thread_ts="1699999999.000001", text="<@U0HERMES> hi")

    assert (unaddressed.known_only, addressed.known_only) == (True, False)


def test_outside_the_support_channels_only_a_mention_is_heard() -> None:
    policy = ChannelPolicy(support_channels=("C0OTHER",))

    assert heard(policy) is None
    assert heard(policy, text="<@U0HERMES> hi") is not None
    assert heard(policy, channel="D0EMMA", channel_type="im") is not None


def test_a_channel_that_is_off_is_not_heard() -> None:
    policy = ChannelPolicy(modes={"C0SUPPORT": Mode.OFF})

    assert heard(policy, text="<@U0HERMES> hi") is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
NAMES = ["type", "subtype", "channel", "channel_type", "user", "ts", "thread_ts", "text", "files", "bot_id", "hidden"]


@given(st.dictionaries(st.sampled_from(NAMES), JSON, max_size=5), JSON, JSON)
def test_mutated_events_never_crash_and_what_comes_out_can_be_stored(
    changes: dict[str, Any], authorizations: Any, team: Any
) -> None:
    mutated = body(**changes) | {"authorizations": authorizations, "team_id": team}

    message = read_event(mutated, bot=BOT, policy=POLICY)

    assert message is None or decode(encode(message)).context_id == message.context_id


@given(st.text(max_size=100))
def test_any_text_of_a_person_is_heard_and_can_be_stored(text: str) -> None:
    message, inbound = taken(text=text)

    assert read(decode(encode(message)), Inbound) == inbound
