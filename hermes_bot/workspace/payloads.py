"""What all payloads of interactivity begin with: who pressed, in which team, for which app."""

from __future__ import annotations

from hermes_bot.workspace import wire
from hermes_bot.workspace.people import App, Channel
from hermes_bot.workspace.posts import Json
from hermes_bot.workspace.roster import Roster
from hermes_bot.workspace.triggers import Triggers

TOKEN = "local-verification-token"  # noqa: S105 - Slack's deprecated verification token; it opens nothing


class Payloads:
    """Builds the heads; each with a trigger id of its own."""

    def __init__(self, roster: Roster, triggers: Triggers) -> None:
        self._roster = roster
        self._triggers = triggers

    def head(self, kind: str, user: str, app: App) -> Json:
        """Return the fields that every payload of this kind has. An app of the whole enterprise is told no team."""
        member = self._roster.member(user)
        name = wire.user_name(member)
        enterprise = {"id": app.enterprise, "name": app.enterprise} if app.enterprise else None
        return {
            "type": kind,
            "user": {"id": user, "username": name, "name": name, "team_id": self._roster.team_of(user)},
            "api_app_id": app.id,
            "token": TOKEN,
            "team": None if app.org_wide else {"id": app.team, "domain": app.domain},
            "enterprise": enterprise,
            "is_enterprise_install": app.org_wide,
            "trigger_id": self._triggers.give(user, app.id),
        }

    def command(self, user: str, app: App, channel: Channel, command: str, text: str, response_url: str) -> Json:
        """Return the payload of a slash command."""
        member = self._roster.member(user)
        enterprise: Json = {"enterprise_id": app.enterprise, "enterprise_name": app.enterprise}
        return {
            "token": TOKEN,
            "team_id": self._roster.team_of(user) if channel.shared_with else app.team,
            "team_domain": app.domain,
            "channel_id": channel.id,
            "channel_name": named(channel),
            "user_id": user,
            "user_name": wire.user_name(member),
            "command": command,
            "text": text,
            "api_app_id": app.id,
            "is_enterprise_install": str(app.org_wide).lower(),
            "response_url": response_url,
            "trigger_id": self._triggers.give(user, app.id),
            **(enterprise if app.enterprise else {}),
        }


def named(channel: Channel) -> str:
    """Return the name under which payloads know a conversation."""
    return "directmessage" if channel.kind == "dm" else "privategroup" if channel.private else channel.name
