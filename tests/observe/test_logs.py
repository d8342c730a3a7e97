from __future__ import annotations

import asyncio
import io
import json
import logging
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hermes_bot.errors import SettingsError
from hermes_bot.observe import bound, configure, log_hop
from hermes_bot.observe.hops import hop_line

Start = Callable[..., io.StringIO]
LOG = logging.getLogger("hermes_bot.tests")


@pytest.fixture
def start() -> Iterator[Start]:
    """Configures logging and returns the console; undone at the end."""
    undo = []

    def begin(*, debug: bool = False, colour: bool = False, file: Path | None = None) -> io.StringIO:
        stream = io.StringIO()
        undo.append(configure(stream=stream, debug=debug, colour=colour, file=file, secrets=["local-signing-secret"]))
        return stream

    yield begin
    for each in undo:
        each()


def fail(text: str) -> None:
    raise ValueError(text)


def hop(outputs: list[str], *, outcome: str = "done") -> None:
    log_hop(
        message_id="MSG-1",
        trace_id="t1",
        type="ticket.created",
        agent="entry",
        outputs=outputs,
        duration_ms=12.3,
        outcome=outcome,
    )


def test_the_file_holds_one_json_object_a_line_with_the_common_keys(start: Start, tmp_path: Path) -> None:
    start(file=tmp_path / "logs" / "hermes.log")

    LOG.info("ticket opened", extra={"ticket_id": "T1", "message_id": "MSG-1", "route": "order", "trace_id": ""})

    line = json.loads((tmp_path / "logs" / "hermes.log").read_text(encoding="utf-8"))
    assert list(line) == ["at", "level", "logger", "event", "message_id", "ticket_id", "route"]
    assert line["event"] == "ticket opened"
    assert line["at"].endswith("+00:00")


def test_an_exception_is_whole_in_the_file_and_one_line_on_the_console(start: Start, tmp_path: Path) -> None:
    console = start(file=tmp_path / "hermes.log")

    try:
        fail("cannot use xoxb-12345678")
    except ValueError:
        LOG.exception("it failed")

    line = json.loads((tmp_path / "hermes.log").read_text(encoding="utf-8"))
    assert "Traceback" in line["traceback"]
    assert len(console.getvalue().splitlines()) == 1
    assert "ValueError: cannot use xoxb-***" in console.getvalue()
    assert "12345678" not in console.getvalue() + str(line)


def test_with_debug_the_console_shows_the_traceback(start: Start) -> None:
    console = start(debug=True)

    try:
        fail("why")
    except ValueError:
        LOG.exception("it failed")

    assert "Traceback" in console.getvalue()


def test_secrets_are_hidden_in_event_arguments_and_fields(start: Start, tmp_path: Path) -> None:
    console = start(file=tmp_path / "hermes.log")

    LOG.warning("signed with %s", "local-signing-secret", extra={"url": "redis://u:hunter22@h", "app_token": "x"})

    for told in (console.getvalue(), (tmp_path / "hermes.log").read_text(encoding="utf-8")):
        assert "local-signing-secret" not in told
        assert "hunter22" not in told


def test_bound_fields_are_on_every_record_inside_also_in_tasks(start: Start) -> None:
    console = start()

    async def inside() -> None:
        LOG.info("in a task")

    async def outside() -> None:
        with bound(message_id="MSG-9", agent="order"):
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(inside(), name="inside")
        LOG.info("after it")

    asyncio.run(outside())

    first, second = console.getvalue().splitlines()
    assert first.endswith("in a task  message_id=MSG-9  agent=order")
    assert second.endswith("after it")


def test_a_piped_console_is_plain_and_a_terminal_coloured(start: Start) -> None:
    plain = start()
    LOG.warning("careful")
    coloured = start(colour=True)
    LOG.warning("careful")

    assert "\x1b[" not in plain.getvalue().splitlines()[0]
    assert "\x1b[33m" in coloured.getvalue()


@pytest.mark.parametrize(
    "outputs, outcome, line",
    [
        (["ticket.order"], "done", "MSG-1 ticket.created → entry → ticket.order  12 ms"),
        ([], "done", "MSG-1 ticket.created → entry → (terminal)  12 ms"),
        (["a.b", "c.d"], "done", "MSG-1 ticket.created → entry → a.b, c.d  12 ms"),
        ([], "retrying", "MSG-1 ticket.created → entry → (retrying, attempt 1)  12 ms"),
    ],
)
def test_with_debug_a_hop_is_one_line(start: Start, outputs: list[str], outcome: str, line: str) -> None:
    console = start(debug=True)

    hop(outputs, outcome=outcome)

    assert console.getvalue() == line + "\n"


def test_without_debug_hops_are_in_the_file_only(start: Start, tmp_path: Path) -> None:
    console = start(file=tmp_path / "hermes.log")

    hop(["ticket.order"])

    line = json.loads((tmp_path / "hermes.log").read_text(encoding="utf-8"))
    assert console.getvalue() == ""
    assert (line["message_id"], line["agent"], line["outputs"]) == ("MSG-1", "entry", ["ticket.order"])


@pytest.mark.parametrize("took, told", [(0.42, "0.4 ms"), (99.6, "100 ms"), (1234.0, "1.2 s")])
def test_a_duration_is_told_in_a_unit_that_fits(took: float, told: str) -> None:
    assert hop_line({"message_id": "M", "type": "t", "agent": "a", "outputs": [], "duration_ms": took}).endswith(told)


def test_libraries_are_heard_from_warning_on(start: Start) -> None:
    console = start()

    logging.getLogger("slack_bolt").info("chatter")
    logging.getLogger("slack_bolt").warning("trouble")

    assert "chatter" not in console.getvalue()
    assert "trouble" in console.getvalue()


def test_a_log_file_that_cannot_be_written_is_a_settings_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")

    with pytest.raises(SettingsError, match="cannot be written"):
        configure(stream=sys.stderr, file=tmp_path / "file" / "hermes.log")
