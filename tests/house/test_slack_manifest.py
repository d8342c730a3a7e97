from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from hermes_bot.edge.manifest import EVENTS, as_yaml
from hermes_bot.edge.manifest import manifest as app_manifest

MANIFEST = Path(__file__).parents[2] / "deploy" / "slack-manifest.yaml"


@pytest.fixture
def manifest() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(MANIFEST.read_text(encoding="utf-8"))
    return content


@pytest.mark.shared
def test_the_app_manifest_satisfies_slacks_schema(manifest: dict[str, Any], shared_dir: Path) -> None:
    schema = json.loads((shared_dir / "data" / "slack" / "manifest.schema.json").read_text(encoding="utf-8"))

    jsonschema.Draft7Validator(schema).validate(manifest)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft7Validator(schema).validate(manifest | {"settings": {"socket_mode": True}})


def test_the_file_is_what_the_command_prints() -> None:
    assert MANIFEST.read_text(encoding="utf-8") == as_yaml(app_manifest())


@pytest.mark.shared
def test_with_an_address_it_is_for_http_and_satisfies_slacks_schema_too(shared_dir: Path) -> None:
    schema = json.loads((shared_dir / "data" / "slack" / "manifest.schema.json").read_text(encoding="utf-8"))
    content = app_manifest("https://hermes.example.com/")

    jsonschema.Draft7Validator(schema).validate(content)
    assert content["settings"]["event_subscriptions"]["request_url"] == "https://hermes.example.com/slack/events"
    assert not content["settings"]["socket_mode_enabled"]


def test_every_event_that_is_subscribed_has_the_scope_that_slack_asks_for(manifest: dict[str, Any]) -> None:
    scopes = set(manifest["oauth_config"]["scopes"]["bot"])

    assert {scope for scope in EVENTS.values() if scope} <= scopes
    assert manifest["settings"]["event_subscriptions"]["bot_events"] == sorted(EVENTS)


@pytest.mark.shared
def test_every_method_that_the_edge_calls_is_covered_by_a_scope(manifest: dict[str, Any], shared_dir: Path) -> None:
    methods = json.loads((shared_dir / "data" / "slack" / "methods.json").read_text(encoding="utf-8"))["methods"]
    edge = MANIFEST.parents[1] / "hermes_bot" / "edge"
    source = "\n".join(path.read_text(encoding="utf-8") for path in sorted(edge.rglob("*.py")))
    called = {name for name in re.findall(r'"([a-z]+(?:\.[a-zA-Z]+)+)"', source) if name in methods}

    scopes = set(manifest["oauth_config"]["scopes"]["bot"])
    asked = {name: {scope["name"] for scope in methods[name]["scopes"].get("bot", [])} for name in called}
    uncovered = {name for name, any_of in asked.items() if any_of and not any_of & scopes}
    assert len(called) > 5
    assert uncovered == set()
