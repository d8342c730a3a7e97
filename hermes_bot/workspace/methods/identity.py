"""Methods about the app itself: who it is, and where its sockets connect."""

from __future__ import annotations

from collections.abc import Mapping

from hermes_bot.workspace.methods.method import Call, Method, errors, needs
from hermes_bot.workspace.posts import Json
from hermes_bot.workspace.refusal import Refusal


def _api_test(call: Call) -> Json:
    if call.args.text("error"):
        raise Refusal(call.args.text("error"))
    return {"args": call.args.all()}


def _auth_test(call: Call) -> Json:
    app = call.app
    about: Json = {
        "url": call.workspace.outside.base_url() + "/",
        "team": app.team_name,
        "team_id": app.team,
        "user": app.name.lower(),
        "user_id": app.user,
        "bot_id": app.bot,
        "is_enterprise_install": app.org_wide,
    }
    return about | ({"enterprise_id": app.enterprise} if app.enterprise else {})


def _connections_open(call: Call) -> Json:
    return {"url": call.workspace.outside.socket_url(call.app)}


def _team_info(call: Call) -> Json:
    app = call.app
    if call.args.text("team") not in ("", app.team):
        raise Refusal("team_not_found")
    team: Json = {"id": app.team, "name": app.team_name, "domain": app.domain, "email_domain": "", "icon": {}}
    if app.enterprise:
        team |= {"enterprise_id": app.enterprise, "enterprise_name": app.enterprise}
    return {"team": team}


def _bots_info(call: Call) -> Json:
    found = next((app for app in call.workspace.roster.apps() if app.bot == call.args.text("bot")), None)
    if found is None:
        raise Refusal("bot_not_found")
    shown: Json = {"id": found.bot, "app_id": found.id, "user_id": found.user, "name": found.name, "deleted": False}
    return {"bot": shown | {"updated": 0, "icons": {}}}


METHODS: Mapping[str, Method] = {
    "api.test": Method(run=_api_test, token_kind="none"),  # noqa: S106 - a kind, not a token
    "auth.test": Method(run=_auth_test),
    "apps.connections.open": Method(
        run=_connections_open,
        errors=errors("forbidden_team"),
        token_kind="app",  # noqa: S106 - the same
        tier=50,
    ),
    "team.info": Method(run=_team_info, errors=errors("team_not_found"), scopes=needs("team:read"), tier=50),
    "bots.info": Method(run=_bots_info, errors=errors("bot_not_found"), scopes=needs("users:read"), tier=50),
}
