"""reactions.*: the bot's emoji on messages."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hermes_bot.workspace import wire
from hermes_bot.workspace.args import Args
from hermes_bot.workspace.methods.method import Call, Method, errors, needs
from hermes_bot.workspace.posts import Json, Post
from hermes_bot.workspace.refusal import Refusal

_NAME = re.compile(r"[a-z0-9_+'\-]+(?:::skin-tone-[2-6])?")
_TIME = re.compile(r"\d{1,12}\.\d{6}")


def _add(call: Call) -> Json:
    post = _item(call)
    if call.workspace.roster.channel(post.channel).archived:
        raise Refusal("is_archived")
    call.workspace.conversations.react(post, call.app.user, _name(call.args))
    return {}


def _remove(call: Call) -> Json:
    call.workspace.conversations.unreact(_item(call), call.app.user, _name(call.args))
    return {}


def _get(call: Call) -> Json:
    post = _item(call)
    shown = wire.stored(post, call.workspace.roster, call.workspace.posts)
    return {"type": "message", "channel": post.channel, "message": shown}


def _item(call: Call) -> Post:
    args = call.args
    if not args.text("channel") or not args.text("timestamp"):
        raise Refusal("no_item_specified")
    channel = call.workspace.roster.joined_by_app(call.app, args.text("channel"))
    if not _TIME.fullmatch(args.text("timestamp")):
        raise Refusal("bad_timestamp")
    post = call.workspace.posts.get(channel.id, args.text("timestamp"))
    if post is None:
        raise Refusal("message_not_found")
    return post


def _name(args: Args) -> str:
    name = args.required("name").strip(":")
    if not _NAME.fullmatch(name):
        raise Refusal("invalid_name")
    return name


_ITEM = errors("channel_not_found not_in_channel message_not_found bad_timestamp no_item_specified")
_WRITE = needs("reactions:write")
METHODS: Mapping[str, Method] = {
    "reactions.add": Method(
        run=_add, errors=_ITEM | {"already_reacted", "invalid_name", "is_archived"}, scopes=_WRITE, tier=50
    ),
    "reactions.remove": Method(run=_remove, errors=_ITEM | {"no_reaction", "invalid_name"}, scopes=_WRITE, tier=20),
    "reactions.get": Method(run=_get, errors=_ITEM, scopes=needs("reactions:read"), tier=50),
}
