"""Methods about the app itself: who it is, and where its sockets connect."""

from __future__ import annotations

from collections.abc import Mapping

from hermes_bot.workspace.args import Args
from hermes_bot.workspace.methods.method import Method
from hermes_bot.workspace.posts import Json
from hermes_bot.workspace.refusal import Refusal
from hermes_bot.workspace.workspace import Workspace


def _auth_test(workspace: Workspace, _args: Args) -> Json:
    app = workspace.app
    return {
        "url": workspace.outside.base_url() + "/",
        "team": app.team_name,
        "team_id": app.team,
        "user": app.name.lower(),
        "user_id": app.user,
        "bot_id": app.bot,
        "is_enterprise_install": False,
    }


def _connections_open(workspace: Workspace, _args: Args) -> Json:
    return {"url": workspace.outside.socket_url()}


def _team_info(workspace: Workspace, args: Args) -> Json:
    app = workspace.app
    if args.text("team") not in ("", app.team):
        raise Refusal("team_not_found")
    return {"team": {"id": app.team, "name": app.team_name, "domain": app.domain, "email_domain": ""}}


def _bots_info(workspace: Workspace, args: Args) -> Json:
    app = workspace.app
    if args.text("bot") != app.bot:
        raise Refusal("bot_not_found")
    return {"bot": {"id": app.bot, "app_id": app.id, "user_id": app.user, "name": app.name, "deleted": False}}


METHODS: Mapping[str, Method] = {
    "auth.test": Method(_auth_test),
    "apps.connections.open": Method(_connections_open, token_kind="app"),  # noqa: S106 - a kind, not a token
    "team.info": Method(_team_info),
    "bots.info": Method(_bots_info),
}
