"""What `doctor` asks a live workspace: tokens, scopes, clock, channels, people and groups, each with its remedy.

Nothing is changed there. Opening a Socket Mode address is asked for and not used.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any

import aiohttp

from hermes_bot.app.build import secret
from hermes_bot.app.finding import Finding, note, ok, problem
from hermes_bot.edge.channels import channel_ids, shared_outside
from hermes_bot.edge.directory import SlackDirectory
from hermes_bot.edge.http_door import MAX_SKEW_S
from hermes_bot.edge.manifest import SCOPES
from hermes_bot.edge.slack_api import SlackApi, web_client
from hermes_bot.errors import HermesError, PermanentError
from hermes_bot.settings import Mode, Settings
from hermes_bot.settings.slack_access import APP_TOKEN, BOT_TOKEN, variable_of

NOTED_SKEW_S = 60
REACTIONS = "reactions:write"
REMEDY_SCOPES = "hermes-bot manifest prints the app; paste it under App Manifest, then reinstall the app"
REMEDY_START = "start the bot, write to it in Slack, and run this again"
REMEDY_EVENTS = "write to the bot in Slack; if this stays, compare the app with what hermes-bot manifest prints"
READYZ_LIMIT_S = 3.0


async def slack(settings: Settings, clock: Callable[[], datetime]) -> AsyncIterator[Finding]:
    """Yield what is right and wrong between the settings and the workspace."""
    if settings.mode is Mode.WORKSPACE:
        yield ok("slack", "no token: the local workspace is used")
        return
    async with aiohttp.ClientSession() as session:
        access, variable = settings.access, variable_of(settings.access, BOT_TOKEN)
        api = SlackApi(web_client(secret(access.bot_token), access.api_url, session), variable=variable)
        try:
            told, headers = await api.answered("auth.test")
        except HermesError as error:
            yield problem("slack", str(error), f"check {variable} and the way to Slack")
            return
        yield ok("slack", f"{told.get('user')} in {told.get('team')}, {settings.mode.value}")
        for finding in (*_scopes(headers, settings), *_skew(headers, clock())):
            yield finding
        if settings.mode is Mode.SOCKET:
            yield await _socket(settings, session)
        yield await _events(settings, session)
        async for finding in _channels(settings, api):
            yield finding
        async for finding in _people(settings, SlackDirectory(api, clock=clock), str(told.get("team_id") or "")):
            yield finding


def _scopes(headers: Mapping[str, Any], settings: Settings) -> Iterable[Finding]:
    told = next((value for name, value in headers.items() if name.lower() == "x-oauth-scopes"), None)
    if told is None:
        yield note("slack scopes", "Slack does not say which scopes the token has")
        return
    granted = {scope.strip() for scope in str(told).split(",")}
    spare = () if settings.slack.seen_reaction else (REACTIONS,)
    missing = [scope for scope in SCOPES if scope not in granted and scope not in spare]
    if missing:
        text = "; ".join(f"{scope} is missing ({SCOPES[scope]})" for scope in missing)
        yield problem("slack scopes", text, REMEDY_SCOPES)
    else:
        yield ok("slack scopes", f"all {len(granted & SCOPES.keys())}")


def _skew(headers: Mapping[str, Any], now: datetime) -> Iterable[Finding]:
    raw = next((value for name, value in headers.items() if name.lower() == "date"), None)
    try:
        skew_s = abs((now - parsedate_to_datetime(str(raw))).total_seconds())
    except (ValueError, TypeError):
        yield note("clock", "Slack's answer has no time to compare with")
        return
    text = f"{skew_s:.0f} s from Slack's"
    remedy = "set this machine's clock (timedatectl set-ntp true)"
    if skew_s > MAX_SKEW_S:
        yield problem("clock", f"{text}: Slack's requests over HTTP are refused", remedy)
    elif skew_s > NOTED_SKEW_S:
        yield note("clock", text, remedy)
    else:
        yield ok("clock", text)


async def _socket(settings: Settings, session: aiohttp.ClientSession) -> Finding:
    access, variable = settings.access, variable_of(settings.access, APP_TOKEN)
    api = SlackApi(web_client(secret(access.app_token), access.api_url, session), variable=variable)
    try:
        await api.call("apps.connections.open", app_token=secret(access.app_token))
    except HermesError as error:
        return problem("socket mode", str(error), "an app token with the scope connections:write, and Socket Mode on")
    return ok("socket mode", "a connection may be opened")


async def _events(settings: Settings, session: aiohttp.ClientSession) -> Finding:
    """Ask the running bot when it last heard of Slack."""
    host, port = settings.http.host, settings.http.port
    try:
        async with session.get(f"http://{host}:{port}/readyz", timeout=aiohttp.ClientTimeout(READYZ_LIMIT_S)) as answer:
            told = await answer.json()
        age_s = told.get("last_event_s")
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError, AttributeError):
        return note("events", f"no bot answers on {host}:{port}, so nobody knows whether they come in", REMEDY_START)
    if not isinstance(age_s, int | float):
        return note("events", "none has come in since the bot was started", REMEDY_EVENTS)
    return ok("events", f"the last one came in {age_s:.0f} s ago")


async def _channels(settings: Settings, api: SlackApi) -> AsyncIterator[Finding]:
    """Yield one finding for each channel of the settings."""
    wanted = _named(settings)
    try:
        ids = await channel_ids(wanted, api)
    except HermesError as error:
        yield problem("channels", str(error), "use the channel's id, or invite the bot first")
        return
    for name, key in wanted.items():
        yield await _channel(name, ids[name], key, api, staff=key != "slack.support_channels")


async def _channel(name: str, channel: str, key: str, api: SlackApi, *, staff: bool) -> Finding:
    check = f"channel {name}"
    try:
        about = (await api.call("conversations.info", channel=channel)).get("channel") or {}
    except PermanentError as error:
        return problem(check, f"{key}: {error}", "invite the bot there: /invite @Hermes")
    except HermesError as error:
        return problem(check, f"{key}: {error}")
    if about.get("is_archived"):
        return problem(check, f"{key}: archived", "choose another channel, or unarchive it")
    if not about.get("is_member", True):
        return problem(check, f"{key}: the bot is not in it", "invite it there: /invite @Hermes")
    if shared_outside(about) and staff:
        return problem(check, f"{key}: another company reads it as well", "choose a channel of your own people's")
    return ok(check, f"{key}: the bot is in it")


def _named(settings: Settings) -> dict[str, str]:
    """Return each channel that the settings name, with the key that does."""
    approvals = settings.approvals
    cards = (approvals.channel, *(rule.channel for rule in approvals.rules))
    return {
        **dict.fromkeys(settings.slack.support_channels, "slack.support_channels"),
        **{channel: "approvals" for channel in cards if channel not in ("", "thread")},
        **({settings.slack.handoff_channel: "slack.handoff_channel"} if settings.slack.handoff_channel else {}),
    }


async def _people(settings: Settings, directory: SlackDirectory, team: str) -> AsyncIterator[Finding]:
    """Yield what is wrong with people and groups that hold a role, and one line where all is well."""
    named = {
        **dict.fromkeys(settings.people.operators, "people.operators"),
        **dict.fromkeys(settings.people.admins, "people.admins"),
        **dict.fromkeys(settings.handoff.on_call, "handoff.on_call"),
        **dict.fromkeys(settings.approvals.everyone, "approvals"),
    }
    wrong = 0
    for member, key in named.items():
        try:
            text = await (_group if member.startswith("S") else _person)(directory, team, member)
        except HermesError as error:
            text = str(error)
        if text:
            wrong += 1
            yield problem(f"people {member}", f"{key}: {text}", "take the id out, or mend it in Slack")
    if not wrong:
        yield ok("people", f"{len(named)} people and groups with a role")


async def _group(directory: SlackDirectory, team: str, group: str) -> str:
    members = sorted(await directory.group_members(group))
    for member in members:
        if not await _person(directory, team, member):
            return ""
    return "nobody in the group may act" if members else "the group is empty"


async def _person(directory: SlackDirectory, team: str, user: str) -> str:
    person = await directory.person(team, user)
    if person.deactivated:
        return "deactivated"
    if person.bot:
        return "an app, not a person"
    if person.guest:
        return "a guest, and guests hold no role"
    return "of another company" if person.stranger or (team and person.team != team) else ""
