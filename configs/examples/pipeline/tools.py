"""The tool of this example: runs code with a check of it, shut in as far as the system allows; README.md says how far.

It stands here and not among Hermes' own tools: whoever does not name this file has no tool that runs code.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import hashlib
import os
import secrets
import signal
import sys
import tempfile
from pathlib import Path
from typing import IO, Annotated, Any

from pydantic import Field, StringConstraints

from hermes_bot.tools.outcome import Preview
from hermes_bot.tools.registry import Level, ToolRefusal, tool

SECONDS, CLOCK_S = 5, 20  # of computing, and by the clock
MEGABYTES = 512
SHOWN = 1_500  # characters of what it printed: the last, where errors stand
LAUNCHER = Path(__file__).with_name("shut_in.py")

Code = Annotated[
    str,
    StringConstraints(min_length=1, max_length=20_000),
    Field(description="The whole code, without its check; the standard library alone is there."),
]
Check = Annotated[
    str,
    StringConstraints(min_length=1, max_length=20_000),
    Field(
        description="Statements that run after the code: they use what it defines and `assert` what must hold. There"
        " is no network; http.server on 127.0.0.1 works."
    ),
]


async def shown(code: str, check: str) -> Preview:
    """Return what the card says where a person must allow it."""
    return Preview(title="Run Python code on this machine", shown=(("Code", code), ("Check", check)))


@tool(level=Level.L2, describe=shown, timeout_s=CLOCK_S + 10, repeatable=True)
async def run_python(code: Code, check: Check) -> dict[str, Any]:
    """Run Python code and then a check of it, in an empty folder, with limits of time and memory and without network.

    `passed` is true where all of it ran to its end and no assertion failed; it says nothing of what the check does
    not try. `output` is the end of what was printed, errors included.
    """
    if not tries(code, check):
        raise ToolRefusal("check_asserts_nothing_about_the_code")
    end_mark = secrets.token_hex(8)
    made = tempfile.TemporaryDirectory(prefix="hermes-run-", ignore_cleanup_errors=True)
    with made as folder, tempfile.TemporaryFile() as output:
        program, empty = _laid_out(Path(folder), f"{code}\n\n{check}\n\nprint({end_mark!r})\n")
        ended = await _run(program, empty, output)
        told = _end_of(output)
    apart, text = told[:1] == "+", told[1:].rstrip()
    passed = ended == 0 and text.endswith(end_mark)
    return {
        "passed": passed,
        "ended": "by itself" if ended == 0 else "stopped: it took too long" if ended is None else f"with {ended}",
        "output": text.removesuffix(end_mark).strip()[-SHOWN:],
        "network": "none" if apart else "open: this system allows no other",
        "checked": hashlib.sha256(code.strip().encode()).hexdigest() if passed else "",
    }


def tries(code: str, check: str) -> bool:
    """Return whether the check asserts anything and names something that the code defines; what cannot be read runs."""
    try:
        asked, given = ast.parse(check), ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True  # Python itself says what is wrong
    defined = {
        node.name for node in given.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }
    defined |= {node.id for node in ast.walk(given) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    used = {node.id for node in ast.walk(asked) if isinstance(node, ast.Name)}
    return bool(defined & used) and any(isinstance(node, ast.Assert) for node in ast.walk(asked))


def _laid_out(folder: Path, text: str) -> tuple[Path, Path]:
    """Return where the program stands, and the empty folder beside it."""
    program, empty = folder / "program.py", folder / "empty"
    empty.mkdir()
    program.write_text(text, encoding="utf-8")
    return program, empty


async def _run(program: Path, folder: Path, output: IO[bytes]) -> int | None:
    """Return how the program ended, None where it was stopped; nothing that it started in its group stays behind."""
    python = [sys.executable, "-I", "-S", "-B", "-X", "utf8"]
    process = await asyncio.create_subprocess_exec(
        *python, str(LAUNCHER), str(SECONDS), str(MEGABYTES), *python, str(program),
        cwd=folder, env={"LANG": "C.UTF-8"}, stdin=asyncio.subprocess.DEVNULL, stdout=output, stderr=output,
        start_new_session=True,
    )  # fmt: skip
    try:
        async with asyncio.timeout(CLOCK_S):
            code = await process.wait()
    except TimeoutError:
        return None
    finally:
        _kill(process.pid)
        await process.wait()
    return None if code in (128 + signal.SIGXCPU, 128 + signal.SIGKILL, -signal.SIGXCPU, -signal.SIGKILL) else code


def _kill(group: int) -> None:
    with contextlib.suppress(ProcessLookupError):  # all of it has ended
        os.killpg(group, signal.SIGKILL)


def _end_of(output: IO[bytes]) -> str:
    output.seek(0)
    return output.read().decode("utf-8", "replace")
