"""Everything that the workspace answers is something that Slack answers: its methods, errors and scopes."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from hermes_bot.workspace.args import Args
from hermes_bot.workspace.methods.method import EVERY_METHOD, Call
from hermes_bot.workspace.server import WorkspaceServer
from hermes_bot.workspace.web_api import METHODS, UndeclaredError

NEWER = {"agents.sessions.setStatus", "agents.sessions.rename", "blocks.validate"}


@pytest.fixture(scope="module")
def documented(shared_dir: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((shared_dir / "data/slack/methods.json").read_text())
    return content


@pytest.fixture(scope="module")
def wire_words(shared_dir: Path) -> set[str]:
    """Every word of the notes on Slack's wire, which name errors that the method list lacks."""
    return set(re.findall(r"[a-z_]+", (shared_dir / "WIRE.md").read_text()))


@pytest.mark.shared
def test_every_method_is_one_of_slacks(documented: dict[str, Any], wire_words: set[str]) -> None:
    unknown = set(METHODS) - set(documented["methods"])

    assert unknown == NEWER
    assert {"agents", "sessions", "rename", "validate"} <= wire_words


@pytest.mark.shared
@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_error_of_a_method_is_documented(name: str, documented: dict[str, Any], wire_words: set[str]) -> None:
    allowed = set(documented["common_errors"]) | wire_words
    allowed |= set(documented["methods"].get(name, {"errors": ()})["errors"])

    assert METHODS[name].errors | EVERY_METHOD <= allowed


@pytest.mark.shared
@pytest.mark.parametrize("name", sorted(set(METHODS) - NEWER))
async def test_a_method_wants_a_scope_that_slack_wants(
    name: str, documented: dict[str, Any], workspace: WorkspaceServer
) -> None:
    args = Args({"channel": "C0SUPPORT", "types": "im,mpim", "users": "U0EMMA"})
    wanted = METHODS[name].scopes(Call(workspace.workspace, args, workspace.world.app))
    known = {scope["name"] for scope in documented["methods"][name]["scopes"].get("bot", [])}

    assert set(wanted) <= known
    assert bool(wanted) == bool(known)


@pytest.mark.shared
@pytest.mark.parametrize("name", sorted(set(METHODS) - NEWER))
def test_a_method_is_as_slow_as_slack_has_it(name: str, documented: dict[str, Any]) -> None:
    label = documented["methods"][name]["rate_limit"]["label"]
    calls = re.search(r"(\d+)\+ per minute", label)

    assert METHODS[name].tier in (0, int(calls[1]) if calls else 0)


async def test_an_error_that_a_method_does_not_declare_is_our_own_failure(
    workspace: WorkspaceServer,
    client: AsyncWebClient,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr("hermes_bot.workspace.methods.method.Method.check_scopes", _refuse_oddly)

    with pytest.raises(SlackApiError) as failed:
        await client.auth_test()

    assert failed.value.response.status_code == 500
    assert any(UndeclaredError.__name__ in str(record.exc_info) for record in caplog.records)


def _refuse_oddly(*_args: object) -> None:
    from hermes_bot.workspace.refusal import Refusal

    raise Refusal("no_such_error_anywhere")
