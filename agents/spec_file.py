"""Reads `configs/agents.yaml`; whatever is wrong in it is told with file, line and key, and nothing takes effect."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from pathlib import Path

from agents.spec import AgentsFile, AgentSpec
from hermes_bot.errors import PermanentError
from hermes_bot.settings.checked import checked
from hermes_bot.settings.problems import Problem, did_you_mean, refuse
from hermes_bot.settings.yaml_file import KeyPath, YamlFile, read_yaml
from hermes_bot.tasks.expectation import check_schema

RULED = frozenset({"order", "refund"})
"""Agents with rules of their own, which decide where there is no model."""
BUILT_IN = RULED | {"handoff", "unknown", "entry"}
SERVICES = frozenset({"slack", "tickets", "approvals", "tasks", "requests", "triage", "alarms", "bus", "memory"})

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_TYPE = re.compile(r"[a-z][a-z0-9_-]*(?:\.[a-z0-9_-]+)+")


def read_specs(file: Path) -> tuple[AgentsFile, YamlFile]:
    """Return the file's content and where each key stands; raise SettingsError for what is wrong in itself."""
    written = read_yaml(file)
    return checked(AgentsFile, written), written


def check_specs(specs: AgentsFile, written: YamlFile, *, tools: Collection[str], model: str) -> None:
    """Raise SettingsError where the file names what does not exist; `model` is the name of the model, if any."""
    problems = [
        *(problem for name, spec in specs.agents.items() for problem in _of_agent(name, spec, written, tools, model)),
        *_unknown(specs.tools, tools, ("tools",), written, "tool"),
    ]
    if problems:
        refuse(problems)


def _of_agent(name: str, spec: AgentSpec, written: YamlFile, tools: Collection[str], model: str) -> Iterator[Problem]:
    here: KeyPath = ("agents", name)
    if name in SERVICES or not _NAME.fullmatch(name):
        yield written.problem(here, f"{name!r} is no name for an agent: it is a service's, or not in lower case")
    yield from _unknown(dict.fromkeys(spec.tools), tools, (*here, "tools"), written, "tool", listed=True)
    for at, type_ in enumerate(spec.delegates):
        if not _TYPE.fullmatch(type_):
            yield written.problem((*here, "delegates", at), f"{type_!r} is no message type, such as task.{name}")
    if spec.checked_by and spec.checked_by not in spec.tools:
        text = f"agent {name} cannot call {spec.checked_by!r}: put it among its tools"
        yield written.problem((*here, "checked_by"), text)
    try:
        check_schema(spec.expects)
    except PermanentError as error:
        yield written.problem((*here, "expects"), str(error))
    yield from _of_planner(name, spec, written, model)


def _of_planner(name: str, spec: AgentSpec, written: YamlFile, model: str) -> Iterator[Problem]:
    place: KeyPath = ("agents", name, "planner")
    if name in BUILT_IN - RULED and spec.planner == "model":
        yield written.problem(place, f"agent {name} works by rules alone")
    if name not in BUILT_IN and spec.planner == "rules":
        text = f"agent {name} has no rules: use planner: model"
        near = did_you_mean(name, BUILT_IN)
        yield written.problem(("agents", name), f"{text}{f', or did you mean agent {near!r}?' if near else ''}")
    if name not in BUILT_IN and spec.planner == "model" and not model:
        yield written.problem(place, f"agent {name} needs a model: set model.name in hermes.yaml")


def _unknown(
    named: Collection[str],
    known: Collection[str],
    at: KeyPath,
    written: YamlFile,
    kind: str,
    *,
    listed: bool = False,
) -> Iterator[Problem]:
    """Yield a problem for each name that is not known, with the nearest one that is."""
    for place, name in enumerate(named):
        if name not in known:
            near = did_you_mean(name, known)
            remedy = f"did you mean {near!r}?" if near else f"known are {', '.join(sorted(known))}"
            yield written.problem((*at, place if listed else name), f"there is no {kind} {name!r}; {remedy}")


def schema_text() -> str:
    """Return the JSON Schema of an agents file, for editors, as it is written to a file."""
    made = AgentsFile.model_json_schema()
    made["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    made["title"] = "Hermes agents"
    made["description"] = "What each agent is; see docs/agents.md."
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"
