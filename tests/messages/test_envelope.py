import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.errors import PermanentError
from hermes_bot.messages.message import Chain, Hop, Kind, Message, decode, encode
from hermes_bot.messages.upgrades import STEPS, VERSION, Fields, upgraded

words = st.text(max_size=20)
numbers = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(words, values, max_size=4)
times = st.datetimes(timezones=st.just(UTC))
hops = st.builds(Hop, at=times, agent=words, type=words, outcome=words)
messages = st.builds(
    Message,
    type=words,
    sender=words,
    context_id=words,
    id=words,
    kind=st.sampled_from(Kind),
    recipient=words,
    task_id=words,
    data=objects,
    priority=st.integers(0, 10),
    created_at=times,
    not_before=st.none() | times,
    ttl_s=st.none() | st.floats(0, 1e6),
    hops=st.integers(0, 20),
    processed_by=st.lists(st.tuples(words, words, words), max_size=3).map(tuple),
    context_chain=st.builds(Chain, text=words, hops=st.lists(hops, max_size=3).map(tuple)),
    expects=st.none() | objects,
    reply_to=words,
)
KNOWN = set(Message.__struct_fields__) - {"extra"}
unknown = st.dictionaries(words.filter(lambda name: name not in KNOWN), values, min_size=1, max_size=4)


@given(messages)
def test_a_message_reads_as_it_was_written(message: Message) -> None:
    assert decode(encode(message)) == message


@given(messages, unknown)
def test_unknown_fields_survive_a_round_trip_beside_the_known_ones(message: Message, fields: dict[str, Any]) -> None:
    wire = json.loads(encode(message)) | fields

    read = decode(json.dumps(wire).encode())

    assert read.extra == fields
    assert json.loads(encode(read)) == wire


@given(messages, unknown)
def test_unknown_fields_change_nothing_of_the_known_ones(message: Message, fields: dict[str, Any]) -> None:
    wire = json.loads(encode(message)) | fields

    read = decode(json.dumps(wire).encode())

    assert {name: getattr(read, name) for name in KNOWN} == {name: getattr(message, name) for name in KNOWN}


def test_a_field_named_extra_is_one_that_nobody_knows() -> None:
    raw = b'{"type":"a","sender":"b","context_id":"c","id":"i","trace_id":"t","extra":{"type":"x"}}'

    assert decode(raw).type == "a"
    assert json.loads(encode(decode(raw)))["extra"] == {"type": "x"}


def test_extra_never_overrides_a_known_field() -> None:
    message = Message(type="a", sender="b", context_id="c", extra={"type": "forged", "colour": "red"})

    wire = json.loads(encode(message))
    assert (wire["type"], wire["colour"]) == ("a", "red")


@given(messages)
def test_an_envelope_of_version_0_reads_as_the_present_one(message: Message) -> None:
    old = json.loads(encode(message)) | {"version": 0}
    old["payload"] = old.pop("data", {})
    moment = datetime(2026, 3, 1, 12, tzinfo=UTC)
    del old["created_at"]
    old["timestamp"] = moment.timestamp()

    read = decode(json.dumps(old).encode())

    assert (read.data, read.created_at, read.version, read.extra) == (message.data, moment, VERSION, None)
    assert (read.type, read.task, read.context_chain) == (message.type, message.task, message.context_chain)


@given(messages, st.integers(VERSION + 1, 10**6))
def test_a_newer_version_is_refused_by_its_number(message: Message, version: int) -> None:
    raw = json.dumps(json.loads(encode(message)) | {"version": version, "type": ["not", "as", "it", "was"]}).encode()

    with pytest.raises(PermanentError, match=f"version {version} is newer than {VERSION}"):
        decode(raw)


@pytest.mark.parametrize("version", ["two", -1, 1.5, None, True])
def test_a_version_that_never_was_is_refused(version: object) -> None:
    raw = json.dumps({"type": "a", "sender": "b", "context_id": "c", "version": version}).encode()

    with pytest.raises(PermanentError, match="version"):
        decode(raw)


@pytest.mark.parametrize("timestamp", ["soon", 1e300, None])
def test_a_time_that_is_none_is_refused(timestamp: object) -> None:
    raw = json.dumps({"type": "a", "sender": "b", "context_id": "c", "version": 0, "timestamp": timestamp}).encode()

    with pytest.raises(PermanentError, match="timestamp"):
        decode(raw)


@given(st.binary(max_size=60) | objects.map(lambda fields: json.dumps(fields).encode()))
def test_whatever_is_no_message_is_a_permanent_error(raw: bytes) -> None:
    with pytest.raises(PermanentError):
        decode(raw)


def test_there_is_a_step_up_from_every_version_before_the_present_one() -> None:
    assert sorted(STEPS) == list(range(VERSION))


def test_an_old_version_climbs_every_step_in_turn() -> None:
    def note(step: str) -> Any:
        def climb(fields: Fields) -> Fields:
            return {**fields, "climbed": [*fields.get("climbed", []), step]}

        return climb

    fields = upgraded({"version": 0}, {0: note("0 to 1"), 1: note("1 to 2"), 2: note("2 to 3")})

    assert fields == {"version": 3, "climbed": ["0 to 1", "1 to 2", "2 to 3"]}


def test_what_expects_says_reaches_the_receiver() -> None:
    parent = Message(type="a", sender="b", context_id="c")
    schema = {"type": "object", "required": ["price"]}

    child = parent.child("task.price", {}, expects=schema, reply_to="tasks", ttl_s=5.0, kind=Kind.REQUEST)

    read = decode(encode(child))
    assert (read.expects, read.reply_to, read.ttl_s, read.kind) == (schema, "tasks", 5.0, Kind.REQUEST)
