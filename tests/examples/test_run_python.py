"""run_python: what passes and what does not, what is kept from code, and that nothing of it stays behind."""

from __future__ import annotations

import hashlib
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from hermes_bot.app.agents_file import tools_in
from hermes_bot.tools.arguments import Arguments
from hermes_bot.tools.outcome import Invalid
from hermes_bot.tools.registry import Level, ToolRefusal
from tests.examples.kit import EXAMPLES
from tests.examples.urls_code import CHECK, DRAFT, FINISHED

FOLDER = EXAMPLES / "pipeline"
(TOOL,) = tools_in(FOLDER / "tools.py")


async def run(code: str, check: str) -> dict[str, Any]:
    return await TOOL.function(code=code, check=check)


def can_shut_in() -> bool:
    script = f"import runpy; print(runpy.run_path({str(FOLDER / 'shut_in.py')!r})['apart']())"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    return told.stdout.strip() == "True"


shut_in = pytest.mark.skipif(not can_shut_in(), reason="this system gives a process no network of its own")


async def test_code_that_holds_its_check_passes_and_is_named_by_its_digest() -> None:
    told = await run(FINISHED, CHECK)

    assert told["passed"], told
    assert told["checked"] == hashlib.sha256(FINISHED.strip().encode()).hexdigest()


@pytest.mark.parametrize(
    "code, check, output",
    [
        (DRAFT, CHECK, "AttributeError"),
        ("def f(): return 2", "assert f() == 1", "AssertionError"),
        ("def f(:", "assert f() == 1", "SyntaxError"),
        ("import sys\ndef f(): sys.exit(0)", "f()\nassert False", ""),
        ("def f(): return bytearray(10**10)", "assert f()", "MemoryError"),
        ("def f(): open('x', 'w').write('a' * 10**8)", "f()\nassert True", "File too large"),
    ],
)
async def test_what_does_not_hold_its_check_does_not_pass(code: str, check: str, output: str) -> None:
    told = await run(code, check)

    assert not told["passed"]
    assert not told["checked"]
    assert output in told["output"]


@pytest.mark.parametrize("check", ["f()", "assert True", "print(f())\nprint('assert')"])
async def test_a_check_that_asserts_nothing_about_the_code_is_refused(check: str) -> None:
    with pytest.raises(ToolRefusal, match="check_asserts_nothing"):
        await run("def f(): return 1", check)


async def test_code_that_never_ends_is_stopped() -> None:
    told = await run("def f():\n    while True: pass", "assert f()")

    assert (told["passed"], told["ended"]) == (False, "stopped: it took too long")


async def test_code_begins_in_an_empty_folder_without_our_environment_and_our_packages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-secret")
    code = (
        "import os\ndef seen(): return os.listdir('.'), 'SLACK_BOT_TOKEN' in os.environ\ndef ours(): import hermes_bot"
    )
    check = "assert seen() == ([], False)\ntry: ours()\nexcept ImportError: pass\nelse: assert False"

    assert (await run(code, check))["passed"]


@shut_in
async def test_code_reaches_no_server_of_this_machine() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = ("127.0.0.1", server.getsockname()[1])
        code = f"import socket\ndef reach(): socket.create_connection({address!r}, timeout=2)"
        told = await run(code, "try: reach()\nexcept OSError: pass\nelse: assert False")

    assert told["passed"], told
    assert told["network"] == "none"


@shut_in
async def test_code_looks_into_no_process_outside_and_stops_none() -> None:
    code = f"""
import os
def look(): open('/proc/{os.getpid()}/environ').read()
def stop(): os.kill({os.getpid()}, 0)
"""
    check = """
for each in (look, stop):
    try: each()
    except (PermissionError, ProcessLookupError): pass
    else: assert False, each
"""

    told = await run(code, check)

    assert told["passed"], told


@shut_in
async def test_no_process_that_code_started_stays_behind() -> None:
    marker = "left-behind-by-the-test"
    sleeper = ["-c", "import time; time.sleep(600)", marker]
    code = f"""
import os, sys
def leave():
    if os.fork() == 0:
        os.setsid()
        os.execv(sys.executable, [sys.executable, *{sleeper!r}])
"""

    told = await run(code, "assert leave() is None")

    assert told["passed"], told
    assert not [each for each in psutil.process_iter(["cmdline"]) if marker in (each.info["cmdline"] or ())]


async def test_nothing_is_left_in_the_folder_for_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    assert (await run("def f(): return open('x', 'w').write('1')", "assert f() == 1"))["passed"]
    assert os.listdir(tmp_path) == []  # noqa: PTH208 - asked from a coroutine


async def test_it_waits_for_a_person_unless_a_file_says_otherwise_and_the_card_shows_all_of_it() -> None:
    assert TOOL.level is Level.L2
    assert TOOL.describe is not None
    card = await TOOL.describe(code="CODE", check="CHECK")

    assert card.shown == (("Code", "CODE"), ("Check", "CHECK"))


@pytest.mark.parametrize("code", [FINISHED, "x = '＃１００２３'\n", "a = \"12.50 EUR\"\nb = 'null'\n", "{'a': 1}"])
def test_code_reaches_it_as_it_was_written(code: str) -> None:
    arguments: Arguments = TOOL.arguments
    read = arguments.read({"code": code, "check": CHECK})

    assert not isinstance(read, Invalid)
    assert (read["code"], read["check"]) == (code, CHECK)
