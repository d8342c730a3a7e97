"""`doctor` against a live workspace: what it finds when all is well, and one thing at a time when it is not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from hermes_bot import settings
from hermes_bot.app.finding import Finding
from hermes_bot.app.slack_doctor import slack
from hermes_bot.edge.manifest import SCOPES
from hermes_bot.messages.message import utc_now
from hermes_bot.workspace.people import Channel, World, demo_world
from hermes_bot.workspace.server import WorkspaceServer
from tests.scenario.bot_process import environment

CORNER = Channel(id="C0CORNER", name="corner", members=("U0EMMA",))


async def found(
    folder: Path, world: World, *, clock: Callable[[], datetime] = utc_now, **variables: str
) -> dict[str, Finding]:
    """Return what doctor finds, by check."""
    async with WorkspaceServer(world=world) as server:
        loaded = settings.load(None, {**environment(server, folder), **variables})
        return {finding.check: finding async for finding in slack(loaded, clock)}


def problems(findings: dict[str, Finding]) -> dict[str, str]:
    """Return the text of each problem; every one has a remedy."""
    wrong = {name: finding for name, finding in findings.items() if finding.level == "problem"}
    assert all(finding.remedy for finding in wrong.values())
    return {name: finding.text for name, finding in wrong.items()}


def with_scopes(world: World, *scopes: str) -> World:
    """Return the world whose app was granted these scopes alone."""
    return replace(world, app=replace(world.app, scopes=scopes))


def with_ada(world: World, changed: Mapping[str, Any]) -> World:
    """Return the world whose admin is another kind of person."""
    members = tuple(replace(each, **changed) if each.id == "U0ADA" else each for each in world.members)
    return replace(world, members=members)


async def test_a_workspace_that_fits_has_no_problem(tmp_path: Path) -> None:
    findings = await found(tmp_path, with_scopes(demo_world(), *SCOPES))

    assert problems(findings) == {}
    assert {"slack", "slack scopes", "clock", "socket mode", "channel C0HANDOFF", "people"} <= findings.keys()


async def test_each_missing_scope_is_named_with_what_it_is_for(tmp_path: Path) -> None:
    few = [scope for scope in SCOPES if scope not in ("mpim:history", "commands")]

    told = problems(await found(tmp_path, with_scopes(demo_world(), *few)))

    assert told.keys() == {"slack scopes"}
    assert "mpim:history is missing (group direct messages)" in told["slack scopes"]
    assert "commands is missing" in told["slack scopes"]


async def test_a_scope_for_a_reaction_that_nobody_wants_is_not_missed(tmp_path: Path) -> None:
    few = [scope for scope in SCOPES if scope != "reactions:write"]

    assert problems(await found(tmp_path, with_scopes(demo_world(), *few))) == {}
    wanted = await found(tmp_path, with_scopes(demo_world(), *few), HERMES_SLACK__SEEN_REACTION="eyes")
    assert "reactions:write is missing" in problems(wanted)["slack scopes"]


@pytest.mark.parametrize("minutes, level", [(0, "ok"), (2, "note"), (-2, "note"), (6, "problem"), (-6, "problem")])
async def test_a_clock_that_is_off_is_told(tmp_path: Path, minutes: int, level: str) -> None:
    findings = await found(tmp_path, demo_world(), clock=lambda: utc_now() + timedelta(minutes=minutes))

    assert findings["clock"].level == level


async def test_a_token_that_is_refused_names_its_variable_and_is_not_shown(tmp_path: Path) -> None:
    findings = await found(tmp_path, demo_world(), SLACK_BOT_TOKEN="xoxb-somebody-elses")

    assert "SLACK_BOT_TOKEN" in problems(findings)["slack"]
    assert "somebody-elses" not in str(findings)


async def test_a_channel_that_the_bot_is_not_in_says_how_to_invite_it(tmp_path: Path) -> None:
    world = replace(demo_world(), channels=(*demo_world().channels, CORNER))
    findings = await found(tmp_path, world, HERMES_SLACK__SUPPORT_CHANNELS='["C0CORNER"]')

    assert problems(findings) == {"channel C0CORNER": "slack.support_channels: the bot is not in it"}
    assert "/invite" in findings["channel C0CORNER"].remedy


@pytest.mark.parametrize(
    "changed, text",
    [({"deactivated": True}, "deactivated"), ({"guest": True}, "a guest"), ({"team": "T0OTHER"}, "another company")],
)
async def test_somebody_with_a_role_who_may_not_act_is_told(tmp_path: Path, changed: dict[str, Any], text: str) -> None:
    findings = await found(tmp_path, with_ada(demo_world(), changed))

    assert text in problems(findings)["people U0ADA"]


async def test_a_group_that_is_not_there_is_told(tmp_path: Path) -> None:
    findings = await found(tmp_path, demo_world(), HERMES_PEOPLE__OPERATORS='["S0NOBODY"]')

    assert "no_such_subteam" in problems(findings)["people S0NOBODY"]


async def _answering(told: Mapping[str, Any]) -> tuple[web.AppRunner, int]:
    """Return a server that answers as a running bot's `/readyz`, and its port."""
    application = web.Application()

    async def readyz(_request: web.Request) -> web.Response:
        return web.json_response(told)

    application.router.add_get("/readyz", readyz)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    return runner, int(runner.addresses[0][1])


@pytest.mark.parametrize(
    "told, level, words",
    [
        ({"ok": True, "last_event_s": 12.4}, "ok", "12 s ago"),
        ({"ok": True, "last_event_s": None}, "note", "none has come in"),
        ([], "note", "no bot answers"),
    ],
)
async def test_whether_events_come_in_is_asked_of_the_running_bot(
    tmp_path: Path, told: Any, level: str, words: str
) -> None:
    runner, port = await _answering(told)
    try:
        findings = await found(tmp_path, demo_world(), HERMES_HTTP__PORT=str(port))
    finally:
        await runner.cleanup()

    assert findings["events"].level == level
    assert words in findings["events"].text
