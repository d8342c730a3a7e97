"""reactions.*: the bot's emoji on messages."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hermes_bot.workspace import wire
from hermes_bot.workspace.args import Args
from hermes_bot.workspace.methods.method import Method
from hermes_bot.workspace.posts import Json, Post
from hermes_bot.workspace.refusal import Refusal
from hermes_bot.workspace.workspace import Workspace

_NAME = re.compile(r"[a-z0-9_+'\-]+(?:::skin-tone-[2-6])?")
_TIME = re.compile(r"\d{1,12}\.\d{6}")


def _add(workspace: Workspace, args: Args) -> Json:
    post = _item(workspace, args)
    if workspace.roster.channel(post.channel).archived:
        raise Refusal("is_archived")
    workspace.conversations.react(post, workspace.app.user, _name(args))
    return {}


def _remove(workspace: Workspace, args: Args) -> Json:
    workspace.conversations.unreact(_item(workspace, args), workspace.app.user, _name(args))
    return {}


def _get(workspace: Workspace, args: Args) -> Json:
    post = _item(workspace, args)
    shown = wire.stored(post, workspace.roster, workspace.posts)
    return {"type": "message", "channel": post.channel, "message": shown}


def _item(workspace: Workspace, args: Args) -> Post:
    if not args.text("channel") or not args.text("timestamp"):
        raise Refusal("no_item_specified")
    channel = workspace.roster.joined_by_bot(args.text("channel"))
    if not _TIME.fullmatch(args.text("timestamp")):
        raise Refusal("bad_timestamp")
    post = workspace.posts.get(channel.id, args.text("timestamp"))
    if post is None:
        raise Refusal("message_not_found")
    return post


def _name(args: Args) -> str:
    name = args.required("name").strip(":")
    if not _NAME.fullmatch(name):
        raise Refusal("invalid_name")
    return name


METHODS: Mapping[str, Method] = {
    "reactions.add": Method(_add),
    "reactions.remove": Method(_remove),
    "reactions.get": Method(_get),
}
