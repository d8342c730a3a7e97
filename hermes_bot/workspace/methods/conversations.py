"""conversations.*: which there are, who is in them, and opening a DM."""

from __future__ import annotations

from collections.abc import Mapping

from hermes_bot.workspace import wire
from hermes_bot.workspace.args import Args, page_of
from hermes_bot.workspace.methods.method import Method
from hermes_bot.workspace.people import Channel
from hermes_bot.workspace.posts import Json
from hermes_bot.workspace.refusal import Refusal
from hermes_bot.workspace.workspace import Workspace

_TYPES = {"public_channel", "private_channel", "im", "mpim"}


def _info(workspace: Workspace, args: Args) -> Json:
    channel = workspace.roster.visible_to_bot(args.required("channel"))
    return {"channel": wire.channel(channel, workspace.app, member_count=args.flag("include_num_members"))}


def _list(workspace: Workspace, args: Args) -> Json:
    wanted = {kind.strip() for kind in (args.text("types") or "public_channel").split(",")}
    if not wanted <= _TYPES:
        raise Refusal("invalid_types")
    found = [
        channel
        for channel in workspace.roster.channels()
        if _type(channel) in wanted
        and (not channel.private or workspace.app.user in channel.members)
        and not (channel.archived and args.flag("exclude_archived"))
    ]
    page, paging = page_of(found, args, default=100, most=1000)
    return {"channels": [wire.channel(channel, workspace.app, member_count=True) for channel in page]} | paging


def _members(workspace: Workspace, args: Args) -> Json:
    channel = workspace.roster.visible_to_bot(args.required("channel"))
    page, paging = page_of(channel.members, args, default=100, most=1000)
    return {"members": page} | paging


def _open(workspace: Workspace, args: Args) -> Json:
    if args.text("channel"):
        channel, known = workspace.roster.visible_to_bot(args.text("channel")), True
        if channel.kind != "dm":
            raise Refusal("method_not_supported_for_channel_type")
    else:
        users = [user.strip() for user in args.text("users").split(",") if user.strip()]
        if not users:
            raise Refusal("users_list_not_supplied")
        if len(users) > 1:
            raise Refusal("invalid_user_combination")  # conversations of several people are not part of this workspace
        channel, known = workspace.roster.open_dm(users[0])
    short: Json = {"id": channel.id}
    shown = wire.channel(channel, workspace.app) if args.flag("return_im") else short
    return {"channel": shown} | ({"already_open": True, "no_op": True} if known else {})


def _join(workspace: Workspace, args: Args) -> Json:
    channel = workspace.roster.visible_to_bot(args.required("channel"))
    if channel.kind == "dm" or channel.private:
        raise Refusal("method_not_supported_for_channel_type")
    if channel.archived:
        raise Refusal("is_archived")
    already = workspace.app.user in channel.members
    channel = workspace.roster.join(channel, workspace.app.user)
    warning: Json = {"warning": "already_in_channel", "response_metadata": {"warnings": ["already_in_channel"]}}
    return {"channel": wire.channel(channel, workspace.app)} | (warning if already else {})


def _type(channel: Channel) -> str:
    return "im" if channel.kind == "dm" else "private_channel" if channel.private else "public_channel"


METHODS: Mapping[str, Method] = {
    "conversations.info": Method(_info),
    "conversations.list": Method(_list),
    "conversations.members": Method(_members),
    "conversations.open": Method(_open),
    "conversations.join": Method(_join),
}
