"""What whoever runs Hermes types, on stores that a bot has written to."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from hermes_bot import settings
from hermes_bot.app.build import build_backend, build_bus, bus_file, opened
from hermes_bot.bus.port import Delivery, Policy
from hermes_bot.cli.words import last, long, pause_of, seconds_of
from hermes_bot.errors import PermanentError
from hermes_bot.messages.message import Message, utc_now
from tests.cli.test_commands import read, told


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command works in an empty folder, with the packaged settings and the light encoder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HERMES_ENCODER__PROFILE", "light")
    monkeypatch.setenv("HERMES_HTTP__PORT", "0")


async def work(*bad: str, good: Sequence[str] = (), later: Sequence[str] = ()) -> None:
    """Let a watched bus handle messages: `bad` die, `good` are done, `later` wait for another day."""

    async def entry(message: Message, _delivery: Delivery) -> Sequence[Message]:
        if message.id in bad:
            raise PermanentError("cannot be done")
        return [message.child("ticket.order")]

    async def order(_message: Message, _delivery: Delivery) -> Sequence[Message]:
        return []

    loaded = settings.load(None, {})
    async with opened(loaded, utc_now) as stores:
        bus = build_bus(loaded, build_backend(loaded, utc_now), stores.watch, utc_now)
        bus.subscribe("work.created", "entry", entry, Policy(max_retries=0))
        bus.subscribe("ticket.order", "order", order)
        await bus.start()
        await stores.watch.start(bus.publish)
        for id in (*bad, *good, *later):
            not_before = utc_now() + timedelta(days=1) if id in later else None
            await bus.publish(Message(id=id, type="work.created", sender="slack", context_id=id, not_before=not_before))
        await bus.drain(20)
        await bus.stop(5)
        await stores.watch.stop()


def test_a_trace_tells_the_tree_and_where_the_message_is(capsys: pytest.CaptureFixture[str]) -> None:
    asyncio.run(work(good=["MSG-1"]))

    shown = told(capsys, "trace", "MSG-1-1")
    assert "MSG-1 work.created" in shown
    assert "└── MSG-1-1 ticket.order" in shown
    assert "order: done" in shown
    assert "Now: everything that followed from it is done." in shown
    assert "2 messages, 2 deliveries, 2 attempts, 0 calls" in shown
    found = read(capsys, "trace", "MSG-1")
    assert (found["done"], found["now"], found["totals"]["messages"]) == (True, [], 2)
    (child,) = found["messages"][0]["children"]
    (delivery,) = child["deliveries"]
    assert (delivery["agent"], delivery["state"], len(delivery["attempts"])) == ("order", "done", 1)


def test_a_trace_of_what_is_dead_or_waits_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    asyncio.run(work("MSG-1", later=["MSG-2"]))

    assert "Now: MSG-1 is dead at entry: hermes-bot dead show MSG-1" in told(capsys, "trace", "MSG-1")
    (waits,) = read(capsys, "trace", "MSG-2")["now"]
    due = f"{datetime.fromisoformat(waits['since']).astimezone():%Y-%m-%d %H:%M:%S}"
    assert f"Now: MSG-2 waits in the queue of entry, until {due}" in told(capsys, "trace", "MSG-2")
    assert "nothing is known of MSG-3" in told(capsys, "trace", "MSG-3", code=1)


def test_messages_are_listed_by_state_type_agent_and_age(capsys: pytest.CaptureFixture[str]) -> None:
    asyncio.run(work("MSG-1", good=["MSG-2"], later=["MSG-3"]))

    def ids(*options: str) -> set[str]:
        return {each["message_id"] for each in read(capsys, "messages", "list", *options)}

    assert ids() == {"MSG-1", "MSG-2", "MSG-2-1", "MSG-3"}
    assert ids("--state", "open") == {"MSG-3"}
    assert ids("--state", "dead") == {"MSG-1"}
    assert ids("--type", "ticket.order") == ids("--agent", "order") == {"MSG-2-1"}
    assert ids("--older-than", "1h") == set()
    assert "MSG-3" in told(capsys, "messages", "list", "--state", "open")
    assert "no length of time" in told(capsys, "messages", "list", "--older-than", "soon", code=2)


def test_dead_letters_are_replayed_and_dropped_by_the_lot(capsys: pytest.CaptureFixture[str]) -> None:
    asyncio.run(work("MSG-1", "MSG-2", "MSG-3"))

    assert read(capsys, "dead", "replay", "--all", "--older-than", "1h") == []
    assert read(capsys, "dead", "replay", "--all", "--agent", "order") == []
    dropped = read(capsys, "dead", "drop", "MSG-1", "MSG-2")
    assert [each["message_id"] for each in dropped] == ["MSG-1", "MSG-2"]
    replayed = read(capsys, "dead", "replay", "--all", "--state", "dead", "--type", "work.created", "--rate", "100/s")
    assert [each["message_id"] for each in replayed] == ["MSG-3"]
    assert "no dead deliveries" in told(capsys, "dead", "list")


@pytest.mark.parametrize("options", [[], ["MSG-1", "--all"], ["--all", "--rate", "fast"]])
def test_whom_a_lot_concerns_must_be_said(capsys: pytest.CaptureFixture[str], options: list[str]) -> None:
    asyncio.run(work("MSG-1"))

    told(capsys, "dead", "drop", *options, code=2)
    assert len(read(capsys, "dead", "list")) == 1


def test_a_dead_letter_is_shown_with_its_cause_its_chain_and_what_was_asked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asyncio.run(work("MSG-1"))

    (shown,) = read(capsys, "dead", "show", "MSG-1")
    assert shown["error"] == "PermanentError: cannot be done"
    assert shown["hops"] == []
    assert "cannot be done" in told(capsys, "dead", "show", "MSG-1")


def test_a_pause_is_kept_told_and_ended(capsys: pytest.CaptureFixture[str]) -> None:
    asyncio.run(work(good=["MSG-1"], later=["MSG-2"]))

    assert "Paused" in told(capsys, "pause")
    assert read(capsys, "pause") == {"paused": True, "changed": False}
    assert "The bus is paused" in told(capsys, "trace", "MSG-2")
    assert "nothing is executed" in told(capsys, "doctor")
    assert read(capsys, "resume") == {"paused": False, "changed": True}
    assert "not paused" in told(capsys, "resume")


def levels(capsys: pytest.CaptureFixture[str], *, code: int) -> dict[str, str]:
    found = read(capsys, "doctor") if code == 0 else json.loads(told(capsys, "doctor", "--json", code=code))
    assert found["ok"] == (code == 0)
    assert all(each["remedy"] for each in found["findings"] if each["level"] == "problem")
    return {each["check"]: each["level"] for each in found["findings"]}


def test_the_doctor_of_an_empty_folder_finds_nothing_wrong_and_makes_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert "problem" not in levels(capsys, code=0).values()
    assert list(tmp_path.iterdir()) == []


def test_the_doctor_of_a_bot_that_has_run_is_content(capsys: pytest.CaptureFixture[str]) -> None:
    asyncio.run(work(good=["MSG-1"]))

    found = levels(capsys, code=0)
    assert {check: found[check] for check in ("store", "bus", "stuck messages", "dead letters", "slack")} == {
        "store": "ok",
        "bus": "ok",
        "stuck messages": "ok",
        "dead letters": "ok",
        "slack": "ok",
    }


def test_the_doctor_finds_dead_letters_and_stuck_messages(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(work("MSG-1", later=["MSG-2"]))
    with sqlite3.connect(bus_file(settings.load(None, {}))) as bus:
        undelayed = "CAST(json_remove(CAST(body AS TEXT), '$.not_before') AS BLOB)"
        bus.execute(f"UPDATE deliveries SET body = {undelayed}")  # noqa: S608 - a constant
    bus.close()
    monkeypatch.setenv("HERMES_BUS__STALE_AFTER_S", "0.001")

    found = levels(capsys, code=1)
    assert (found["stuck messages"], found["dead letters"]) == ("problem", "problem")
    assert "MSG-2 for entry" in told(capsys, "doctor", code=1)


def test_the_doctor_finds_that_the_order_book_is_not_there(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HERMES_ORDERS__URL", f"sqlite:///{tmp_path / 'book.db'}")

    assert levels(capsys, code=1)["orders"] == "problem"
    assert "book.db does not exist" in told(capsys, "doctor", code=1)
    told(capsys, "tickets", "list", code=2)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "check, variable, value",
    [
        ("store", "HERMES_DATABASE_URL", "nothing://127.0.0.1:1/hermes"),
        ("orders", "HERMES_ORDERS__URL", "nothing://127.0.0.1:1/shop"),
        ("orders", "HERMES_ORDERS__URL", "garbage"),
        ("routes", "HERMES_ROUTING__FILE", "nowhere.yaml"),
    ],
)
def test_the_doctor_says_what_to_do_about_what_cannot_be_opened(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, check: str, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)

    assert levels(capsys, code=1)[check] == "problem"


def test_the_doctor_finds_a_wrong_setting(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERMES_BUS__MAX_QUEUE_SIZE", "many")

    assert levels(capsys, code=1) == {"settings": "problem"}


def test_the_doctor_finds_a_damaged_bus_and_a_store_of_a_newer_hermes(capsys: pytest.CaptureFixture[str]) -> None:
    asyncio.run(work(good=["MSG-1"]))
    loaded = settings.load(None, {})
    with sqlite3.connect(loaded.data.path / "hermes.db") as store:
        store.execute("UPDATE alembic_version SET version_num = '9999'")
    store.close()
    bus_file(loaded).write_bytes(b"SQLite format 3\0" + b"x" * 5000)

    found = json.loads(told(capsys, "doctor", "--json", code=1))
    bad = {each["check"] for each in found["findings"] if each["level"] == "problem"}
    assert bad == {"store", "bus"}


@given(st.floats(0.001, 1e6), st.sampled_from(["s", "m", "h", "d"]))
def test_a_length_of_time_is_read_in_its_unit(number: float, unit: str) -> None:
    text = f"{number:.3f}"

    assert seconds_of(f"{text}{unit}") == float(text) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[unit]


@pytest.mark.parametrize("rate, pause_s", [("", 0), ("10/s", 0.1), ("30/m", 2), ("5/h", 720)])
def test_a_rate_is_a_pause_between_two(rate: str, pause_s: float) -> None:
    assert pause_of(rate) == pytest.approx(pause_s)


@pytest.mark.parametrize("text", ["fast", "10", "0/s", "10/x", "-1/s", "/s"])
def test_what_is_no_rate_is_wrong_use(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="is no rate"):
        pause_of(text)


def test_long_times_are_told_in_two_units() -> None:
    assert [long(seconds) for seconds in (0, 59, 125, 3 * 3600, 97_200)] == [
        "0 s",
        "59 s",
        "2 min 5 s",
        "3 h",
        "1 d 3 h",
    ]


def test_a_time_to_come_is_told_as_one() -> None:
    now = datetime(2026, 11, 30, 12, tzinfo=UTC)

    assert last(now, now - timedelta(minutes=5)) == "5 min"
    assert last(now, now + timedelta(hours=23, minutes=5)) == "in 23 h 5 min"


def test_the_times_told_are_of_today(capsys: pytest.CaptureFixture[str]) -> None:
    asyncio.run(work(good=["MSG-1"]))

    (root,) = read(capsys, "trace", "MSG-1")["messages"]
    created = datetime.fromisoformat(root["created_at"])
    assert abs(datetime.now(UTC) - created) < timedelta(minutes=5)
