"""The Slack app that this code needs: its scopes, events, command and shortcuts, as an app manifest.

The shape is Slack's (https://docs.slack.dev/reference/app-manifest). `doctor` holds a live workspace against the same
tables, and tests hold the tables against what the edge calls and listens to.
"""

from __future__ import annotations

from collections.abc import Mapping
from io import StringIO
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedSeq

COMMAND = "/hermes"
SHORTCUT_TICKET = "hermes:make_ticket"
SHORTCUT_EXPLAIN = "hermes:explain"

SCOPES: Mapping[str, str] = {
    "app_mentions:read": "mentions in channels",
    "assistant:write": "prompts to start with, in the agent view",
    "channels:history": "messages in public channels that it is in",
    "channels:read": "their names and members",
    "chat:write": "answers, cards",
    "commands": "the command and the shortcuts",
    "files:read": "names, sizes and links of files that customers send",
    "groups:history": "messages in private channels that it is in",
    "groups:read": "their names and members",
    "im:history": "direct messages",
    "im:read": "who they are with",
    "im:write": "private details go to their owner alone",
    "mpim:history": "group direct messages",
    "mpim:read": "who they are with",
    "reactions:write": "the mark on a message in work, where slack.seen_reaction names one",
    "usergroups:read": "groups as approvers and operators",
    "users:read": "names, and who is a guest or was deactivated",
    "users:read.email": "a customer is known by the address of their profile",
}
"""Each bot scope, and what it is for."""

EVENTS: Mapping[str, str] = {
    "agent_session_stopped": "chat:write",
    "app_home_opened": "",
    "app_mention": "app_mentions:read",
    "message.channels": "channels:history",
    "message.groups": "groups:history",
    "message.im": "im:history",
    "message.mpim": "mpim:history",
}
"""Each event that is listened to, and the scope that Slack asks for it; empty where none is needed."""

PROMPTS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "en": (
        ("Where is my order?", "Where is my order?"),
        ("I want a refund", "I want a refund"),
        ("Talk to a person", "I want to talk to a person"),
    ),
    "zh": (
        ("我的订单到哪了？", "我的订单到哪了？"),
        ("我要退款", "我要退款"),
        ("转人工客服", "我想找人工客服"),
    ),
}
"""What a person may start with, title and message, by language; four at most."""

_HEAD = (
    'The Slack app for Hermes: "Create New App", "From a manifest", paste this. See README.md beside this file.\n'
    "Written by `hermes-bot manifest` from what the code uses; change that, not this."
)


def manifest(url: str = "") -> dict[str, Any]:
    """Return the app manifest: for Socket Mode, or for HTTP where `url` is the address that leads to Hermes."""
    base = url.rstrip("/")
    command = {"command": COMMAND, "description": "Ask Hermes", "usage_hint": "help", "should_escape": True}
    events: dict[str, Any] = {"bot_events": sorted(EVENTS)}
    interactivity: dict[str, Any] = {"is_enabled": True}
    if base:
        command["url"] = f"{base}/slack/commands"
        events = {"request_url": f"{base}/slack/events", **events}
        interactivity["request_url"] = f"{base}/slack/interactions"
    return {
        "display_information": {
            "name": "Hermes",
            "description": "Answers customers, asks before it acts, and hands over to people.",
            "background_color": "#1f2a44",
        },
        "features": {
            "agent_view": {
                "agent_description": "Answers questions on orders and refunds, and fetches a person where one is due.",
                "suggested_prompts": prompts(*PROMPTS["en"], PROMPTS["zh"][0]),  # the same for everybody
            },
            "app_home": {
                "home_tab_enabled": True,
                "messages_tab_enabled": True,
                "messages_tab_read_only_enabled": False,
            },
            "bot_user": {"display_name": "Hermes", "always_online": True},
            "shortcuts": _shortcuts(),
            "slash_commands": [command],
        },
        "oauth_config": {"scopes": {"bot": sorted(SCOPES)}},
        "settings": {
            "event_subscriptions": events,
            "interactivity": interactivity,
            "org_deploy_enabled": False,
            "socket_mode_enabled": not base,
            "token_rotation_enabled": False,
        },
    }


def prompts(*pairs: tuple[str, str]) -> list[dict[str, str]]:
    """Return titles and messages as Slack takes them."""
    return [{"title": title, "message": message} for title, message in pairs]


def as_yaml(content: Mapping[str, Any]) -> str:
    """Return the manifest as YAML, with what each scope is for beside it."""
    scopes = CommentedSeq(content["oauth_config"]["scopes"]["bot"])
    for number, scope in enumerate(scopes):
        scopes.yaml_add_eol_comment(SCOPES[scope], number)
    writer = YAML()
    writer.indent(mapping=2, sequence=4, offset=2)
    writer.width = 120
    out = StringIO()
    writer.dump({**content, "oauth_config": {"scopes": {"bot": scopes}}}, out)
    head = "".join(f"# {line}\n" for line in _HEAD.splitlines())
    return head + out.getvalue()


def _shortcuts() -> list[dict[str, str]]:
    return [
        {
            "name": "Make a ticket",
            "type": "message",
            "callback_id": SHORTCUT_TICKET,
            "description": "Have Hermes take care of this message",
        },
        {
            "name": "Explain",
            "type": "message",
            "callback_id": SHORTCUT_EXPLAIN,
            "description": "Which agent would get this message, and why",
        },
    ]
