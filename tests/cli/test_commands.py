"""The commands as a person calls them, on stores that a bot has written to."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from hermes_bot import settings
from hermes_bot.app.build import bus_file, opened
from hermes_bot.bus.bus import Bus
from hermes_bot.bus.port import Delivery, Policy, State
from hermes_bot.bus.sqlite import SqliteBackend
from hermes_bot.cli.main import main
from hermes_bot.errors import PermanentError
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import Inbound

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
INBOUND = Inbound(team="T1", channel="C1", channel_type="channel", ts="1.1", user="U1", text="Where is it?")


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command works in an empty folder, with the packaged settings and the light encoder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HERMES_ENCODER__PROFILE", "light")


def told(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    """Return what the command printed to stdout, once it ended as expected."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main([*arguments])
    out = capsys.readouterr()
    assert (ended.value.code or 0) == code, out.err
    return out.out or out.err


def read(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    return json.loads(told(capsys, *arguments, "--json"))


async def open_a_ticket() -> None:
    async with opened(settings.load(None, {}), lambda: NOW) as stores:
        await stores.tickets.locate(INBOUND, context_id="T1:C1:1.1", message_id="MSG-1", language="en")


async def solve_it_and_open_another() -> None:
    async with opened(settings.load(None, {}), lambda: NOW) as stores:
        answered = {"status": "solved", "first_response_at": NOW + timedelta(seconds=75)}
        await stores.tickets.change("T-1", {"status": "working"})
        await stores.tickets.change("T-1", answered)
        await stores.tickets.locate(INBOUND, context_id="T1:C1:2.2", message_id="MSG-2", language="en")


async def leave_a_dead_letter() -> None:
    async def refuse(_message: Message, _delivery: Delivery) -> list[Message]:
        raise PermanentError("cannot be done")

    loaded = settings.load(None, {})
    loaded.data.path.mkdir(exist_ok=True)
    bus = Bus(SqliteBackend(bus_file(loaded), synchronous="NORMAL", clock=lambda: NOW), clock=lambda: NOW)
    bus.subscribe("ticket.created", "entry", refuse, Policy(max_retries=0))
    await bus.start()
    await bus.publish(Message(id="MSG-1", type="ticket.created", sender="slack", context_id="T1:C1:1.1"))
    await bus.drain(10)
    await bus.stop(1)


def test_tickets_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert "no tickets" in told(capsys, "tickets", "list")
    asyncio.run(open_a_ticket())

    (ticket,) = read(capsys, "tickets", "list")
    assert (ticket["requester"], ticket["status"], ticket["subject"]) == ("U1", "new", "Where is it?")
    assert read(capsys, "tickets", "list", "--status", "solved") == []
    assert ticket["id"] in told(capsys, "tickets", "list")


def test_tickets_of_a_status_are_found_however_many_are_newer(capsys: pytest.CaptureFixture[str]) -> None:
    asyncio.run(open_a_ticket())
    asyncio.run(solve_it_and_open_another())

    (ticket,) = read(capsys, "tickets", "list", "--status", "solved", "--limit", "1")
    assert ticket["id"] == "T-1"
    assert "1 min 15 s" in told(capsys, "tickets", "show", "T-1")


def test_approvals_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert read(capsys, "approvals", "list", "--waiting") == []
    assert "no approvals" in told(capsys, "approvals", "list")


def test_tools_are_listed_with_their_level_and_agents(capsys: pytest.CaptureFixture[str]) -> None:
    tools = {tool["name"]: tool for tool in read(capsys, "tools", "list")}

    assert tools["issue_refund"]["level"] == "L2"
    assert tools["issue_refund"]["agents"] == ["refund"]
    assert set(tools["find_order"]) == {"name", "level", "agents", "description"}


def test_a_dead_letter_is_listed_shown_replayed_and_dropped(capsys: pytest.CaptureFixture[str]) -> None:
    asyncio.run(leave_a_dead_letter())

    (dead,) = read(capsys, "dead", "list")
    assert (dead["message_id"], dead["agent"], dead["state"]) == ("MSG-1", "entry", State.DEAD)
    assert "cannot be done" in told(capsys, "dead", "show", "MSG-1")
    assert read(capsys, "dead", "list", "--state", "expired") == []
    replayed = {"message_id": "MSG-1", "subscription": "entry:ticket.created", "replayed": True}
    assert read(capsys, "dead", "replay", "MSG-1") == [replayed]
    assert "has no dead delivery" in told(capsys, "dead", "drop", "MSG-1", code=1)


def test_a_dead_letter_that_is_dropped_is_gone(capsys: pytest.CaptureFixture[str]) -> None:
    asyncio.run(leave_a_dead_letter())

    assert "dropped entry:ticket.created" in told(capsys, "dead", "drop", "MSG-1")
    assert "no dead deliveries" in told(capsys, "dead", "list")


def test_without_a_bus_the_dead_commands_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert "has the bot run with this data.path?" in told(capsys, "dead", "list", code=1)


def test_routes_are_explained_and_measured(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rows = [("Where is my parcel, order 10023?", "order"), ("I want my money back", "refund")]
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(json.dumps({"text": text, "label": label}) for text, label in rows), encoding="utf-8")

    explained = read(capsys, "routes", "explain", "Where is my parcel, order 10023?")
    measured = read(capsys, "routes", "eval", str(file))

    assert explained["type"] == "ticket.order"
    assert {"accuracy", "n", "per_class", "confusion", "latency_ms"} <= set(measured)
    assert measured["n"] == 2
    assert {"p50", "p99"} <= set(measured["latency_ms"])
