"""What differs between two handlings of one message."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.app.differences import differences, hops_of
from hermes_bot.bus.port import Delivery, State
from hermes_bot.messages.message import Message

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


def delivery(id: str, agent: str = "order", state: State = State.DONE, error: str = "", **fields: Any) -> Delivery:
    message = Message(id=id, **{"type": "ticket.order", "sender": "s", "context_id": "c"} | fields)
    return Delivery(message=message, subscription=f"{agent}:{message.type}", agent=agent, state=state, error=error)


def test_the_same_has_no_differences_whatever_the_time() -> None:
    before = [delivery("MSG-1"), delivery("MSG-1-1", "slack", type="reply.ready", hops=1)]

    assert differences(before, [msgspec.structs.replace(each, attempt=2) for each in before]) == []


def test_data_is_compared_value_by_value() -> None:
    before = [delivery("MSG-1", data={"text": "old", "choices": [{"id": "a"}], "gone": 1})]
    after = [delivery("MSG-1", data={"text": "new", "choices": [{"id": "b"}], "come": 2})]

    assert differences(before, after) == [
        'MSG-1 ticket.order text: was "old", is "new"',
        'MSG-1 ticket.order choices[0].id: was "a", is "b"',
        "MSG-1 ticket.order gone: was 1, is nothing",
        "MSG-1 ticket.order come: was nothing, is 2",
    ]


def test_messages_that_are_new_or_missing_and_other_ends_are_told() -> None:
    before = [
        delivery("MSG-1", state=State.DEAD, error="was away"),
        delivery("MSG-1-f1", "tickets", type="ticket.failed"),
    ]
    after = [delivery("MSG-1"), delivery("MSG-1-1", "slack", type="reply.ready")]

    assert differences(before, after) == [
        "MSG-1-f1 ticket.failed: was sent, is not",
        "MSG-1-1 reply.ready: was not sent, is",
        "MSG-1 at order: was dead, is done: was away",
    ]


def test_of_one_message_alone_what_it_sent_counts_and_what_came_of_that_does_not() -> None:
    before = [delivery("MSG-1"), delivery("MSG-1-1", data={"n": 1}), delivery("MSG-1-1-1")]
    after = [delivery("MSG-1"), delivery("MSG-1-1", state=State.DEAD, error="no", data={"n": 2})]

    assert differences(before, after, only="MSG-1") == ["MSG-1-1 ticket.order n: was 1, is 2"]
    assert len(differences(before, after)) == 3


def test_what_the_edge_sends_itself_is_left_out() -> None:
    assert differences([delivery("MSG-1"), delivery("MSG-1-1", type="post.check")], [delivery("MSG-1")]) == []


def test_hops_are_told_in_their_order_with_what_each_sent() -> None:
    found = hops_of(
        [delivery("MSG-1-1", "slack", type="reply.ready", hops=1), delivery("MSG-1"), delivery("MSG-1-2", hops=1)]
    )

    assert [(hop.message_id, hop.outputs) for hop in found] == [
        ("MSG-1", ("reply.ready", "ticket.order")),
        ("MSG-1-1", ()),
        ("MSG-1-2", ()),
    ]


@given(json_values, json_values)
def test_two_values_differ_exactly_when_something_is_told(old: Any, new: Any) -> None:
    told = differences([delivery("MSG-1", data={"v": old})], [delivery("MSG-1", data={"v": new})])

    same = msgspec.json.encode(old, order="sorted") == msgspec.json.encode(new, order="sorted")
    assert bool(told) != same or old == new
