"""The settings of a bot that talks to a local workspace of its own."""

from __future__ import annotations

from pydantic import SecretStr

from hermes_bot.edge.manifest import manifest
from hermes_bot.settings import Settings, SlackAccess
from hermes_bot.workspace.people import App, Shortcut, World, demo_world
from hermes_bot.workspace.server import WorkspaceServer


def own_world() -> World:
    """Return the demo's people and channels, with the commands and shortcuts that the manifest would give the app."""
    features = manifest()["features"]
    shortcuts = [
        Shortcut(callback_id=one["callback_id"], name=one["name"], of_message=one["type"] == "message")
        for one in features["shortcuts"]
    ]
    commands = tuple(one["command"] for one in features["slash_commands"])
    escaped = tuple(one["command"] for one in features["slash_commands"] if one["should_escape"])
    return demo_world(App(commands=commands, escaped_commands=escaped, shortcuts=tuple(shortcuts)))


def in_workspace(settings: Settings, server: WorkspaceServer) -> Settings:
    """Return the settings with the local workspace's tokens, and its people where the settings name none."""
    app = server.world.app
    access = SlackAccess(bot_token=SecretStr(app.bot_token), app_token=SecretStr(app.app_token), api_url=server.api_url)
    people = settings.people
    approvers = settings.approvals.approvers or ("S0APPROVERS",)
    return settings.model_copy(
        update={
            "access": access,
            "people": people.model_copy(
                update={"operators": people.operators or ("S0OPERATORS",), "admins": people.admins or ("U0ADA",)}
            ),
            "approvals": settings.approvals.model_copy(update={"approvers": approvers}),
            "slack": settings.slack.model_copy(
                update={"handoff_channel": settings.slack.handoff_channel or "C0HANDOFF"}
            ),
        }
    )
