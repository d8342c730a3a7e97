from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

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


def test_every_event_that_is_subscribed_has_the_scope_that_slack_asks_for(manifest: dict[str, Any]) -> None:
    needed = {
        "app_mention": "app_mentions:read",
        "message.channels": "channels:history",
        "message.groups": "groups:history",
        "message.im": "im:history",
        "message.mpim": "mpim:history",
    }

    scopes = set(manifest["oauth_config"]["scopes"]["bot"])
    assert {needed[event] for event in manifest["settings"]["event_subscriptions"]["bot_events"]} <= scopes


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
