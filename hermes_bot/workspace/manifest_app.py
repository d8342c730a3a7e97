"""An app as its manifest describes it: with those scopes, events, commands, shortcuts and surfaces, and no others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hermes_bot.workspace.http_delivery import RequestUrls
from hermes_bot.workspace.people import App, Shortcut


def app_of_manifest(manifest: Mapping[str, Any], app: App | None = None) -> App:
    """Return `app` (the default one, where none is given) as Slack would install it from the manifest."""
    features, home = _in(manifest, "features"), _in(manifest, "features", "app_home")
    commands = [one for one in _list(features, "slash_commands") if "command" in one]
    return replace(
        app or App(),
        name=str(_in(manifest, "features", "bot_user").get("display_name") or (app or App()).name),
        scopes=tuple(_list(_in(manifest, "oauth_config", "scopes"), "bot")),
        events=tuple(_list(_in(manifest, "settings", "event_subscriptions"), "bot_events")),
        commands=tuple(one["command"] for one in commands),
        escaped_commands=tuple(one["command"] for one in commands if one.get("should_escape")),
        shortcuts=tuple(
            Shortcut(callback_id=one["callback_id"], name=one["name"], of_message=one.get("type") == "message")
            for one in _list(features, "shortcuts")
        ),
        agent=bool(features.get("agent_view") or features.get("assistant_view")),
        home_tab=bool(home.get("home_tab_enabled")),
        messages_tab=bool(home.get("messages_tab_enabled")),
        declared=True,
    )


def urls_of_manifest(manifest: Mapping[str, Any]) -> RequestUrls | None:
    """Return where the app wants to be reached, None with Socket Mode or without an address for events."""
    settings = _in(manifest, "settings")
    events = str(_in(settings, "event_subscriptions").get("request_url") or "")
    if settings.get("socket_mode_enabled") or not events:
        return None
    commands = [str(one.get("url") or "") for one in _list(_in(manifest, "features"), "slash_commands")]
    interactions = str(_in(settings, "interactivity").get("request_url") or "")
    return RequestUrls(events, interactions, next(iter(filter(None, commands)), ""))


def _in(mapping: Mapping[str, Any], *path: str) -> Mapping[str, Any]:
    for key in path:
        found = mapping.get(key)
        mapping = found if isinstance(found, Mapping) else {}
    return mapping


def _list(mapping: Mapping[str, Any], key: str) -> Sequence[Any]:
    found = mapping.get(key)
    return found if isinstance(found, list) else []
