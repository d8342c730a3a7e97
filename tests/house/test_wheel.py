"""The built wheel, installed into an environment of its own and run from an empty directory."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import sysconfig
import urllib.request
import zipfile
from importlib.metadata import Distribution, distributions
from pathlib import Path

import pytest

from tests.ports import free_port

ROOT = Path(__file__).parents[2]
START_LIMIT_S = 120


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--wheel-dir", str(folder), str(ROOT)], check=True, timeout=120)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel; its other packages are those of the environment that runs the tests."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True, timeout=60)
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install", "--quiet", "--no-index"]
    subprocess.run([*pip, "--no-deps", str(wheel)], check=True, timeout=60)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "others.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return folder


def clean_environ() -> dict[str, str]:
    ours = ("HERMES_", "SLACK_", "PYTHON", "COV")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}


def tops(distribution: Distribution) -> set[str]:
    return {file.parts[0] for file in distribution.files or () if file.suffix == ".py" and len(file.parts) > 1}


def test_the_wheel_holds_our_three_packages_and_the_settings_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()

    assert {name.split("/")[0] for name in names} == {"hermes_bot", "agents", "routing", names[-1].split("/")[0]}
    assert {"hermes_bot/configs/hermes.yaml", "hermes_bot/configs/routing.yaml"} <= set(names)
    assert {"hermes_bot/configs/policies.yaml", "hermes_bot/configs/knowledge/returns.md"} <= set(names)
    examples = {name.split("/")[3] for name in names if name.startswith("hermes_bot/configs/examples/")}
    assert examples == {"triage", "pipeline", "weekly_report"}
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
    assert any(name.startswith("hermes_bot/workspace/page/") for name in names)


def test_no_other_distribution_owns_our_names(environment: Path) -> None:
    paths = [str(path) for path in environment.glob("lib/python*/site-packages")] + [sysconfig.get_path("purelib")]
    owners = {  # of the development environment too, in which we are installed a second time
        distribution.metadata["Name"]
        for distribution in distributions(path=paths)
        if tops(distribution) & {"hermes_bot", "agents", "routing"}
    }

    assert owners == {"hermes-bot"}


def test_the_program_of_the_wheel_tells_its_version(environment: Path, tmp_path: Path) -> None:
    program = [str(environment / "bin" / "hermes-bot"), "version"]
    told = subprocess.run(
        program, cwd=tmp_path, env=clean_environ(), capture_output=True, text=True, timeout=60, check=True
    )

    assert told.stdout.startswith("hermes-bot ")
    assert told.stderr == ""


async def test_from_an_empty_directory_it_runs_to_a_healthy_page_on_the_packaged_settings(
    environment: Path, tmp_path: Path
) -> None:
    page, http = free_port(), free_port()
    options = ["run", "--json", "--port", str(http), "--workspace-port", str(page)]
    process = await asyncio.create_subprocess_exec(
        str(environment / "bin" / "hermes-bot"),
        *options,
        cwd=tmp_path,
        env=clean_environ() | {"HERMES_ENCODER__PROFILE": "light"},
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(START_LIMIT_S):
            started = json.loads(await process.stdout.readline())
        answered = await asyncio.to_thread(urllib.request.urlopen, f"http://127.0.0.1:{page}/", timeout=10)
        healthy = await asyncio.to_thread(urllib.request.urlopen, f"http://127.0.0.1:{http}/healthz", timeout=10)
        with answered, healthy:
            html = answered.read().decode()
    finally:
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(30):
            code = await process.wait()

    assert started["event"] == "started"
    assert started["page"] == f"http://127.0.0.1:{page}"
    assert started["settings"].startswith("the files that come with Hermes")
    assert str(environment) in started["settings"]
    assert started["data"] == str(tmp_path / "data")
    assert "<html" in html
    assert code == 0
