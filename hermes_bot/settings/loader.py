"""`load`: the only place that reads settings. A variable of a key wins over its short name, both over the file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from hermes_bot.settings.approval_settings import check_rules
from hermes_bot.settings.checked import PointAt, problems_of
from hermes_bot.settings.connectors import read_connections
from hermes_bot.settings.dotenv import read_dotenv
from hermes_bot.settings.environment import CONFIG, Override, lay_over, overrides
from hermes_bot.settings.files import DEFAULT_CONFIG, beside, packaged_folder
from hermes_bot.settings.model_access import check_model_access, read_model_access
from hermes_bot.settings.models import FileSettings, Settings
from hermes_bot.settings.problems import Problem, refuse
from hermes_bot.settings.slack_access import check_access, read_access
from hermes_bot.settings.yaml_file import KeyPath, YamlFile, dotted, read_yaml, shown


def load(config: Path | None, environ: Mapping[str, str] | None = None, *, folder: Path | None = None) -> Settings:
    """Return the settings; raise SettingsError that tells everything that is wrong, each with its place and remedy.

    `config` is the file that the user named, None to look where `HERMES_CONFIG` says, then in `configs/`, then in
    the package. `environ` is the process's own where none is given. `folder` is the working directory: relative paths
    and `.env` are found from there.
    """
    given = os.environ if environ is None else environ
    home = (folder or Path.cwd()).absolute()
    variables = {name: value for name, value in {**read_dotenv(home / ".env"), **given}.items() if value}
    path, packaged = _config(config, variables, home)
    file = read_yaml(path)
    problems: list[Problem] = []
    found = overrides(variables, problems)
    data = _merged(file, found, problems)
    point_at = _pointer(file, found)
    settings = _checked(data, point_at, problems)
    if settings is not None:
        problems += check_rules(settings.approvals, point_at)
    access, models = read_access(variables, problems, home), read_model_access(variables)
    if settings is not None and not problems:
        problems += check_access(access, settings, point_at) + check_model_access(models, settings, point_at)
    if settings is None or problems:
        refuse(problems)
    source = f"the files that come with Hermes ({path})" if packaged else shown(path)
    whole = {name: getattr(settings, name) for name in FileSettings.model_fields}
    whole |= _located(settings, found, home=home, config_folder=path.parent)
    connections = read_connections(whole["tools"].connectors, variables)
    return Settings.model_construct(**whole, access=access, models=models, connections=connections, source=source)


def _config(config: Path | None, variables: Mapping[str, str], home: Path) -> tuple[Path, bool]:
    """Return the settings file and whether it is the packaged one."""
    named = config or (Path(variables[CONFIG]).expanduser() if CONFIG in variables else None)
    if named is not None:
        return home / named, False
    if (home / DEFAULT_CONFIG).exists():
        return home / DEFAULT_CONFIG, False
    return packaged_folder() / DEFAULT_CONFIG.name, True


def _merged(file: YamlFile, found: list[Override], problems: list[Problem]) -> dict[str, Any]:
    if file.data is not None and not isinstance(file.data, dict):
        problems.append(file.problem((), "this file must hold `key: value` lines"))
        return {}
    data: dict[str, Any] = file.data or {}
    for override in found:
        lay_over(data, override)
    return data


def _pointer(file: YamlFile, found: list[Override]) -> PointAt:
    """Return what makes a problem of a key point at the variable that set it, or else at its line in the file."""
    variables = {override.path: override.name for override in found}

    def point_at(path: KeyPath, text: str) -> Problem:
        for end in range(len(path), 0, -1):
            if path[:end] in variables:
                return Problem(text=text, place=variables[path[:end]], key=dotted(path))
        within = [name for key, name in variables.items() if path and key[: len(path)] == path]
        if within:  # of a section as a whole: what the environment changed in it
            return Problem(text=text, place=within[0], key=dotted(path))
        return file.problem(path, text)

    return point_at


def _checked(data: dict[str, Any], point_at: PointAt, problems: list[Problem]) -> FileSettings | None:
    try:
        return FileSettings.model_validate(data)
    except ValidationError as error:
        problems += problems_of(FileSettings, error, point_at)
        return None


def _located(settings: FileSettings, found: list[Override], *, home: Path, config_folder: Path) -> dict[str, Any]:
    """Return the sections that hold paths, with absolute ones: a variable's path starts at the working directory."""
    by_variable = {override.path for override in found}

    def file_of(section: str, name: Path, key: str = "file") -> Path:
        return home / name.expanduser() if (section, key) in by_variable else beside(config_folder, name)

    articles = file_of("memory", settings.memory.knowledge, "knowledge")

    return {
        "data": settings.data.model_copy(update={"path": home / settings.data.path.expanduser()}),
        "routing": settings.routing.model_copy(update={"file": file_of("routing", settings.routing.file)}),
        "policies": settings.policies.model_copy(update={"file": file_of("policies", settings.policies.file)}),
        "memory": settings.memory.model_copy(update={"knowledge": articles}),
        "tools": settings.tools.model_copy(
            update={"connectors": file_of("tools", settings.tools.connectors, "connectors")}
        ),
        "agents": settings.agents.model_copy(update={"file": file_of("agents", settings.agents.file)}),
    }
