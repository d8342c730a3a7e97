"""What stands in deploy/ fits the program: names, paths, commands, variables, units."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from hermes_bot.cli.run import named
from hermes_bot.settings import load
from hermes_bot.settings.environment import SHORT_NAMES, variable_names
from routing.routes_file import load_table

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
UNITS = ("hermes-bot.service", "hermes-worker@.service")


@pytest.fixture
def compose() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    return content


def text_of(name: str) -> str:
    return (DEPLOY / name).read_text(encoding="utf-8")


def test_compose_runs_the_bot_workers_redis_and_postgresql(compose: dict[str, Any]) -> None:
    services = compose["services"]

    assert set(services) == {"bot", "worker", "redis", "postgres"}
    for service in services.values():
        assert "image" in service
        assert set(service.get("depends_on", {})) <= set(services)
        named_volumes = {volume.split(":")[0] for volume in service["volumes"]}
        assert named_volumes <= set(compose["volumes"])
    assert services["redis"]["command"][1:] == [
        *("--appendonly", "yes"),
        *("--appendfsync", "everysec"),
        *("--maxmemory-policy", "noeviction"),
    ]


def test_compose_sets_only_variables_that_the_bot_reads_and_agrees_with_itself(
    compose: dict[str, Any], tmp_path: Path
) -> None:
    environment = compose["services"]["worker"]["environment"]
    values = {
        name: value.replace("${POSTGRES_PASSWORD:?put it into .env}", "pw") for name, value in environment.items()
    }
    loaded = load(None, values, folder=tmp_path)

    assert set(environment) <= {*variable_names(), *SHORT_NAMES}
    assert loaded.bus.backend == "redis"
    assert loaded.bus.url.split("/")[2].split(":")[0] in compose["services"]
    assert loaded.store_url.rsplit("@", 1)[1].split("/")[0] in compose["services"]


def test_workers_are_given_agents_that_routes_know(compose: dict[str, Any]) -> None:
    (in_unit,) = re.findall(r"^Environment=AGENTS=(.+)$", text_of("hermes-worker@.service"), flags=re.MULTILINE)
    command = compose["services"]["worker"]["command"]
    routed = {route.agent for route in load_table(ROOT / "configs" / "routing.yaml").routes}

    assert command[:2] == ["worker", "--agents"]
    for agents in (command[2], in_unit):
        assert set(named(agents)) - {"entry"} <= routed


def test_the_image_is_made_of_files_that_are_here_and_not_ignored() -> None:
    lines = re.findall(r"^COPY (?!--from)(.+) \S+$", text_of("Dockerfile"), flags=re.MULTILINE)
    copied = [name for line in lines for name in line.split()]
    kept = {line[1:] for line in text_of("Dockerfile.dockerignore").splitlines() if line.startswith("!")}

    assert copied
    assert set(copied) == kept
    assert [name for name in copied if not (ROOT / name).exists()] == []


def test_the_image_does_not_run_as_root() -> None:
    text = text_of("Dockerfile")

    assert re.search(r"^USER hermes$", text, flags=re.MULTILINE)
    assert "useradd --system --uid 10001" in text


@pytest.mark.parametrize("unit", UNITS)
def test_systemd_accepts_the_unit(unit: str, tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    text = text_of(unit)
    assert "/opt/hermes/.venv/bin/hermes-bot" in text
    (tmp_path / unit).write_text(text.replace("/opt/hermes/.venv/bin/hermes-bot", "/bin/true"), encoding="utf-8")
    verified = subprocess.run(
        ["systemd-analyze", "verify", str(tmp_path / unit)], capture_output=True, text=True, timeout=60, check=False
    )

    assert (verified.returncode, verified.stderr) == (0, "")


def test_every_file_of_ours_that_a_command_in_the_readme_names_is_here() -> None:
    commands = re.findall(r"^```\n(.*?)^```$", text_of("README.md"), flags=re.MULTILINE | re.DOTALL)
    files = re.findall(r"\bdeploy/\S+", "\n".join(commands))

    assert {"deploy/compose.yaml", *(f"deploy/{unit}" for unit in UNITS)} <= set(files)
    assert [name for name in files if not (ROOT / name).is_file()] == []
