"""The scripts behind `make`, run with programs that only note how they were called."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder that is the whole PATH: what a script needs, and nothing of this machine beside it."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name in ("bash", "dirname", "env"):
        (folder / name).symlink_to(str(shutil.which(name)))
    return folder


def program(folder: Path, name: str, body: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)


def run(script: str, programs: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    command = [str(ROOT / "deploy" / script)]
    return subprocess.run(
        command, env={"PATH": str(programs), **environ}, capture_output=True, text=True, timeout=60, check=False
    )


def test_as_root_on_debian_missing_packages_are_installed(programs: Path, tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    program(programs, "id", "echo 0")
    program(programs, "apt-get", f'echo "$@" >> {calls}')

    ended = run("system-packages.sh", programs)

    update, install = calls.read_text(encoding="utf-8").splitlines()
    assert ended.returncode == 0, ended.stderr
    assert update.startswith("update")
    assert install.startswith("install --yes")
    assert "redis-server" in install
    assert "chromium" in install
    assert "npm" in install


def test_without_root_the_one_line_that_installs_them_is_printed(programs: Path) -> None:
    program(programs, "id", "echo 1000")
    program(programs, "apt-get", "exit 99")

    ended = run("system-packages.sh", programs)

    assert ended.returncode == 1
    lines = [line for line in ended.stderr.splitlines() if "sudo apt-get install --yes" in line]
    assert len(lines) == 1
    assert "redis-server" in lines[0]


def test_on_another_system_what_is_missing_is_named(programs: Path) -> None:
    ended = run("system-packages.sh", programs)

    assert ended.returncode == 1
    assert "The tests need: redis-server" in ended.stderr


def test_when_nothing_is_missing_nothing_is_done(programs: Path) -> None:
    for name in ("redis-server", "postgres", "chromium", "node", "npm"):
        program(programs, name, "exit 0")
    program(programs, "id", "echo 0")
    program(programs, "apt-get", "exit 99")

    ended = run("system-packages.sh", programs)

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_without_root_nobody_is_asked_for_node(programs: Path) -> None:
    for name in ("redis-server", "postgres", "chromium"):
        program(programs, name, "exit 0")
    program(programs, "id", "echo 1000")
    program(programs, "apt-get", "exit 99")

    ended = run("system-packages.sh", programs)

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_without_npm_the_javascript_client_is_left_out(programs: Path) -> None:
    ended = run("js-client.sh", programs)

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


@pytest.mark.parametrize("body", [None, "exit 1"])
def test_without_a_python_that_is_new_enough_one_sentence_says_so(
    programs: Path, tmp_path: Path, body: str | None
) -> None:
    if body is not None:
        program(programs, "python3", body)

    ended = run("venv.sh", programs, HERMES_VENV=str(tmp_path / "venv"))

    assert ended.returncode == 1
    assert ended.stderr.startswith("Hermes needs Python 3.11 or newer")
    assert not (tmp_path / "venv").exists()


def test_make_alone_lists_what_can_be_made() -> None:
    told = subprocess.run(
        ["make", "--no-print-directory"],
        cwd=ROOT,
        env=os.environ | {"MAKEFLAGS": ""},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    made = {line.split()[1] for line in told.stdout.splitlines()}
    assert {"run", "test", "check", "bench", "help"} <= made
