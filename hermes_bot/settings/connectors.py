"""`configs/connectors.yaml`: other systems whose operations become tools, and where each key stands.

Secrets come from the environment: the file names the variable, and its value is looked up here once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, SecretStr, model_validator

from hermes_bot.settings.checked import checked
from hermes_bot.settings.problems import refuse
from hermes_bot.settings.section import Count, Seconds, Section, Words
from hermes_bot.settings.yaml_file import KeyPath, YamlFile, read_yaml

LevelName = Literal["L0", "L1", "L2", "L3"]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9]*(_[a-z0-9]+)*$", max_length=40)]
Variable = Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]*$")]

_PASSWORD = re.compile(r"://[^/@]*:[^/@]+@|[?&](?:password|sslpassword)=")


class ParameterSpec(Section):
    """`parameters.<name>`: one bound parameter; one that is not required is NULL where it is left out."""

    type: Literal["text", "integer", "number", "boolean", "date", "time", "money", "order_number"] = "text"
    description: str = ""
    required: bool = True
    options: Words = ()
    minimum: float | None = None
    maximum: float | None = None
    max_length: Count = 200


class ColumnSpec(Section):
    """`columns.<key>`: the column of the result that stands under this key; `cents` makes whole cents of an amount."""

    column: str
    unit: Literal["", "cents"] = ""


class OperationSpec(Section):
    """`operations.<name>`: one statement with bound parameters. `docs/tools.md` tells what each key means."""

    description: Annotated[str, Field(min_length=1)]
    level: LevelName
    statement: Annotated[str, Field(min_length=1)]
    about: Literal["customer", "anyone"] = "customer"
    parameters: dict[Name, ParameterSpec] = Field(default_factory=dict)
    columns: dict[str, str | ColumnSpec] = Field(default_factory=dict)
    row_limit: Annotated[int, Field(ge=1, le=1_000)] = 20
    changes: Annotated[int, Field(ge=1, le=100_000)] = 1
    title: str = ""
    timeout_s: Seconds | None = None


class SqlSpec(Section):
    """`sql.<name>`: a database and what may be done with it; `url_from` names a variable of the environment."""

    url: str = ""
    url_from: Variable | Literal[""] = ""
    timeout_s: Seconds = 5.0
    operations: Annotated[dict[Name, OperationSpec], Field(min_length=1)]

    @model_validator(mode="after")
    def _one_address_without_a_password(self) -> SqlSpec:
        if bool(self.url) == bool(self.url_from):
            raise ValueError("give url, or url_from with the name of a variable of the environment")
        if _PASSWORD.search(self.url):
            raise ValueError("url holds a password; put the whole address into the environment and name it in url_from")
        return self


class McpSpec(Section):
    """`mcp.<name>`: an MCP server, started as a `command` or reached at a `url`; no `tools` = all that it has."""

    command: Words = ()
    url: str = ""
    folder: str = ""
    env: dict[Variable, str] = Field(default_factory=dict)
    env_from: dict[Variable, Variable] = Field(default_factory=dict)
    headers_from: dict[str, Variable] = Field(default_factory=dict)
    tools: Words = ()
    levels: dict[str, LevelName] = Field(default_factory=dict)
    trust_annotations: bool = True
    timeout_s: Seconds = 30.0
    connect_timeout_s: Seconds = 10.0

    @model_validator(mode="after")
    def _one_way_to_it(self) -> McpSpec:
        if bool(self.command) == bool(self.url):
            raise ValueError("give command (a list) for a server to start, or url for one that runs")
        if self.url and not re.match(r"https?://", self.url):
            raise ValueError("url must begin with http:// or https://")
        if self.url and (self.env or self.env_from or self.folder):
            raise ValueError("env, env_from and folder belong to a server that is started with command")
        if self.command and self.headers_from:
            raise ValueError("headers_from belongs to a server with a url")
        return self


class ConnectorsFile(Section):
    """Every key that `configs/connectors.yaml` may hold."""

    sql: dict[Name, SqlSpec] = Field(default_factory=dict)
    mcp: dict[Name, McpSpec] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Connections:
    """What the file says. `secrets` are the values of the variables that it names."""

    specs: ConnectorsFile = field(default_factory=ConnectorsFile)
    file: YamlFile = field(default_factory=lambda: YamlFile(name="", data=None))
    folder: Path = Path()
    secrets: Mapping[str, SecretStr] = field(default_factory=dict, repr=False)

    def secret(self, variable: str) -> str:
        """Return the value of a variable that the file names."""
        return self.secrets[variable].get_secret_value()


def read_connections(path: Path, variables: Mapping[str, str]) -> Connections:
    """Return what the file says; raise SettingsError with file, line and key of everything that is wrong in it."""
    file = read_yaml(path)
    specs = checked(ConnectorsFile, file)
    named = list(_named(specs))
    problems = [
        file.problem(place, f"the variable {variable} is not set; it is to hold what is secret here")
        for place, variable in named
        if not variables.get(variable)
    ]
    for name in specs.sql.keys() & specs.mcp.keys():
        line = file.line(("sql", name))
        problems.append(file.problem(("mcp", name), f"mcp.{name}: sql.{name} on line {line} has the same name"))
    if problems:
        refuse(problems)
    secrets = {variable: SecretStr(variables[variable]) for _, variable in named}
    return Connections(specs=specs, file=file, folder=path.absolute().parent, secrets=secrets)


def _named(specs: ConnectorsFile) -> Iterator[tuple[KeyPath, str]]:
    """Return every variable that the file names, and where."""
    for name, database in specs.sql.items():
        if database.url_from:
            yield ("sql", name, "url_from"), database.url_from
    for name, server in specs.mcp.items():
        for key in ("env_from", "headers_from"):
            given: Mapping[str, Any] = getattr(server, key)
            for inner, variable in given.items():
                yield ("mcp", name, key, inner), str(variable)
