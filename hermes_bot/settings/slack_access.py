"""Reads Slack's tokens from the environment, or from files that it names, and refuses what is half of a set-up."""

from __future__ import annotations

import errno
import ipaddress
import os
import re
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import SecretStr

from hermes_bot.settings.checked import PointAt
from hermes_bot.settings.models import FileSettings, SlackAccess
from hermes_bot.settings.problems import Problem
from hermes_bot.settings.yaml_file import KeyPath, dotted

BOT_TOKEN = "SLACK_BOT_TOKEN"  # noqa: S105  # the name of a variable, not a secret
APP_TOKEN = "SLACK_APP_TOKEN"  # noqa: S105  # the name of a variable, not a secret
SIGNING_SECRET = "SLACK_SIGNING_SECRET"  # noqa: S105  # the name of a variable, not a secret
API_URL = "SLACK_API_URL"
SECRETS = (BOT_TOKEN, APP_TOKEN, SIGNING_SECRET)
FILE = "_FILE"
LONGEST_SECRET = 10_000
PERSON = re.compile(r"[USW][A-Z0-9]+")


def read_access(variables: Mapping[str, str], problems: list[Problem], home: Path | None = None) -> SlackAccess:
    """Return what the variables give; halves and mistaken tokens are added to `problems`.

    `SLACK_BOT_TOKEN_FILE` and the like name a file that holds the token, relative to `home`.
    """
    before = len(problems)
    files = _named_files(variables, problems, home or Path())
    variables = {**variables, **{name: _content(name, path, problems) for name, path in files.items()}}
    if len(problems) > before:
        return SlackAccess()
    bot, app = variables.get(BOT_TOKEN, ""), variables.get(APP_TOKEN, "")
    secret, api_url = variables.get(SIGNING_SECRET, ""), variables.get(API_URL, "")
    if bot and not (app or secret):
        _add(problems, BOT_TOKEN, f"is set, but neither {APP_TOKEN} (Socket Mode) nor {SIGNING_SECRET} (HTTP); set one")
    for name in (name for name in (APP_TOKEN, SIGNING_SECRET, API_URL) if variables.get(name) and not bot):
        _add(problems, name, f"is set, but {BOT_TOKEN} is missing; set it, or unset both to use the local workspace")
    if bot and not bot.startswith("xoxb-"):
        _refuse_kind(problems, BOT_TOKEN, files, "xoxb-", "OAuth & Permissions")
    if app and not app.startswith("xapp-"):
        _refuse_kind(problems, APP_TOKEN, files, "xapp-", "App-Level Tokens")
    if api_url and urlsplit(api_url).scheme not in {"http", "https"}:
        _add(problems, API_URL, "must be an http:// or https:// address")
    return SlackAccess(
        bot_token=SecretStr(bot) if bot else None,
        app_token=SecretStr(app) if app else None,
        signing_secret=SecretStr(secret) if secret else None,
        api_url=api_url,
        files=files,
    )


def renewed(access: SlackAccess, name: str) -> str:
    """Return what the file of a secret holds by now; empty where it is not given as a file, or has none to read."""
    path = access.files.get(name)
    return "" if path is None else _content(name, path, [])


def variable_of(access: SlackAccess, name: str) -> str:
    """Return the variable to look at for a secret: its own, or the one that names its file."""
    return f"{name}{FILE}" if name in access.files else name


def _named_files(variables: Mapping[str, str], problems: list[Problem], home: Path) -> dict[str, Path]:
    """Return the files that secrets stand in, by the name of the secret's variable."""
    named = {name: variables[f"{name}{FILE}"] for name in SECRETS if variables.get(f"{name}{FILE}")}
    for name in named:
        if variables.get(name):
            _add(problems, f"{name}{FILE}", f"is set, and so is {name}; unset one of them")
    return {name: home / os.path.expanduser(path) for name, path in named.items()}  # noqa: PTH111 - Path's raises


def _refuse_kind(problems: list[Problem], name: str, files: Mapping[str, Path], start: str, place: str) -> None:
    """Add that a token is of another kind, by what a person would change: the variable, or the file it names."""
    told = f"must start with {start}; it stands under “{place}” in your Slack app"
    if name in files:
        _add(problems, f"{name}{FILE}", f"names {files[name]}, which holds another kind of token: it {told}")
    else:
        _add(problems, name, told)


def _content(name: str, path: Path, problems: list[Problem]) -> str:
    """Return the secret that stands in the file; what is wrong with it is added to `problems`, never its words."""
    remedy = f"mount or write it there, or set {name}"
    try:
        found = _words(path).strip()
    except OSError as error:
        _add(problems, f"{name}{FILE}", f"names {path}, which cannot be read ({error.strerror}); {remedy}")
        return ""
    except UnicodeDecodeError:
        _add(problems, f"{name}{FILE}", f"names {path}, which is no text; {remedy}")
        return ""
    if len(found.split()) != 1 or not (found.isascii() and found.isprintable()):
        _add(problems, f"{name}{FILE}", f"names {path}, which must hold the secret and nothing else; {remedy}")
        return ""
    return found


def _words(path: Path) -> str:
    """Return the text of a file of a secret's size; a pipe or a device would never end."""
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it is no ordinary file")
    if found.st_size > LONGEST_SECRET:
        raise OSError(errno.EFBIG, "it is too large for a secret")
    return path.read_text(encoding="utf-8")


def check_access(access: SlackAccess, settings: FileSettings, point_at: PointAt) -> list[Problem]:
    """Return what is missing or refused once a Slack token is there."""
    if access.bot_token is None:
        return []
    problems = []
    if not settings.approvals.approvers:
        text = "approvals.approvers is empty; with a Slack token it must name who may approve"
        problems.append(point_at(("approvals", "approvers"), text))
    if not settings.slack.handoff_channel:
        text = "slack.handoff_channel is empty; with a Slack token it must name the channel where people take over"
        problems.append(point_at(("slack", "handoff_channel"), text))
    problems += _strangers(settings, point_at)
    if settings.bus.backend == "memory" and not on_loopback(access.api_url):
        text = "bus.backend memory would lose messages at a crash; with a Slack token it must be sqlite or redis"
        problems.append(point_at(("bus", "backend"), text))
    return problems


def _strangers(settings: FileSettings, point_at: PointAt) -> list[Problem]:
    """Return where a name stands instead of an id: Slack knows nobody by it, so nobody could do what it allows."""
    people, approvals = settings.people, settings.approvals
    given: dict[KeyPath, Sequence[str]] = {
        ("people", "operators"): people.operators,
        ("people", "admins"): people.admins,
        ("approvals", "approvers"): approvals.approvers,
    }
    for number, rule in enumerate(approvals.rules):
        given["approvals", "rules", number, "approvers"] = rule.approvers
    return [
        point_at(path, f"{dotted(path)} holds {word!r}, which is no id of a user (U…) or of a user group (S…)")
        for path, words in given.items()
        for word in words
        if not PERSON.fullmatch(word)
    ]


def on_loopback(url: str) -> bool:
    """Return whether the address can only be this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _add(problems: list[Problem], key: str, text: str) -> None:
    problems.append(Problem(text=f"{key} {text}", key=key))
