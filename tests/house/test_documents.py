from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import typer
import yaml

from hermes_bot.cli.main import app
from hermes_bot.settings.agent_limits import AGENT_NAMES
from hermes_bot.settings.environment import CONFIG, SHORT_NAMES, leaves
from hermes_bot.settings.models import FileSettings
from hermes_bot.settings.slack_access import API_URL, APP_TOKEN, BOT_TOKEN, SIGNING_SECRET

ROOT = Path(__file__).parents[2]
VARIABLES = {API_URL, APP_TOKEN, BOT_TOKEN, SIGNING_SECRET, CONFIG, *SHORT_NAMES}


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def commands(program: typer.Typer, path: str = "") -> Iterator[str]:
    for command in program.registered_commands:
        name = command.name or (command.callback.__name__ if command.callback else "")
        yield f"{path} {name}".strip()
    for group in program.registered_groups:
        if group.typer_instance is not None:
            yield from commands(group.typer_instance, f"{path} {group.name}".strip())


def default_of(key: str) -> object:
    """Return the key's default as YAML would read it."""
    value: object = FileSettings()
    for name in key.split("."):
        value = getattr(value, name)
    return list(value) if isinstance(value, tuple) else str(value) if isinstance(value, Path) else value


def test_the_document_tells_every_key_and_no_other() -> None:
    documented = set(re.findall(r"^\| `([a-z_.]+)` \|", text_of("docs/configuration.md"), flags=re.MULTILINE))

    known = {".".join(str(part) for part in path) for path in leaves()}
    of_agents = {key for key in known if key.split(".")[1] in AGENT_NAMES and key.startswith("agents.")}
    assert documented == known - of_agents


def test_the_document_tells_each_default() -> None:
    rows = re.findall(r"^\| `([a-z_.]+)` \| `([^`]*)` \|", text_of("docs/configuration.md"), flags=re.MULTILINE)

    told = {key: yaml.safe_load(value) for key, value in rows}
    assert told == {key: default_of(key) for key in told}


def test_the_document_tells_every_variable() -> None:
    documented = set(re.findall(r"^\| `([A-Z_]+)` \|", text_of("docs/configuration.md"), flags=re.MULTILINE))

    assert documented == VARIABLES


def test_the_example_of_env_names_only_what_is_read() -> None:
    named = set(re.findall(r"^([A-Z_]+)=", text_of(".env.example"), flags=re.MULTILINE))

    assert named >= VARIABLES - {API_URL}
    assert {name for name in named if "__" in name} == {"HERMES_APPROVALS__APPROVERS", "HERMES_SLACK__HANDOFF_CHANNEL"}


def test_the_document_tells_every_command_and_no_other() -> None:
    documented = re.findall(r"^\| `([a-z ]+)(?: [A-Z]+)*` \|", text_of("docs/commands.md"), flags=re.MULTILINE)

    assert sorted(documented) == sorted(commands(app))


def test_the_layers_in_contributing_are_those_that_are_checked() -> None:
    block = re.search(r"```\n(hermes_bot\.cli .*?)```", text_of("CONTRIBUTING.md"), flags=re.DOTALL)
    contracts = tomllib.loads(text_of("pyproject.toml"))["tool"]["importlinter"]["contracts"]

    told = [re.split(r" {2,}", line)[0] for line in block[1].splitlines()] if block else []
    assert told == next(each["layers"] for each in contracts if each["type"] == "layers")
