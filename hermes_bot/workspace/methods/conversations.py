"""conversations.*: which there are, who is in them, opening, joining and leaving."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from hermes_bot.workspace import wire
from hermes_bot.workspace.args import page_of
from hermes_bot.workspace.methods.method import Call, Method, by_channel, errors, kind_of, needs
from hermes_bot.workspace.people import Channel
from hermes_bot.workspace.posts import Json
from hermes_bot.workspace.refusal import Refusal

_TYPES = {"public_channel": "channels", "private_channel": "groups", "im": "im", "mpim": "mpim"}
_MOST_IN_GROUP_DM = 8


def _info(call: Call) -> Json:
    channel = call.visible()
    return {"channel": wire.channel(channel, call.app, member_count=call.args.flag("include_num_members"))}


def _list(call: Call) -> Json:
    found = [
        channel
        for channel in call.workspace.roster.channels()
        if not channel.private or call.app.user in channel.members
    ]
    return _listed(call, found)


def _of_user(call: Call) -> Json:
    """Return the conversations of the bot, or those of a person that the bot is in as well."""
    user = call.args.text("user") or call.app.user
    found = [
        channel
        for channel in call.workspace.roster.channels()
        if user in channel.members and (not channel.private or call.app.user in channel.members)
    ]
    return _listed(call, found)


def _listed(call: Call, channels: list[Channel]) -> Json:
    kinds = {_TYPES[kind] for kind in _wanted(call)}
    hidden = call.args.flag("exclude_archived")
    found = [one for one in channels if kind_of(one) in kinds and not (one.archived and hidden)]
    page, paging = page_of(found, call.args, default=100, most=1000, wrong="invalid_limit")
    return {"channels": [wire.channel(channel, call.app, member_count=True) for channel in page]} | paging


def _wanted(call: Call) -> list[str]:
    kinds = [kind.strip() for kind in (call.args.text("types") or "public_channel").split(",")]
    if not set(kinds) <= set(_TYPES):
        raise Refusal("invalid_types")
    return kinds


def _list_scopes(call: Call) -> Collection[str]:
    return [f"{_TYPES[kind]}:read" for kind in _wanted(call)]


def _members(call: Call) -> Json:
    page, paging = page_of(call.visible().members, call.args, default=100, most=1000, wrong="invalid_limit")
    return {"members": page} | paging


def _open(call: Call) -> Json:
    roster, args = call.workspace.roster, call.args
    users = _users(call)
    if args.text("channel"):
        channel, known = roster.visible_to(call.app, args.text("channel")), True
        if channel.kind not in ("dm", "mpim"):
            raise Refusal("method_not_supported_for_channel_type")
    elif not users:
        raise Refusal("users_list_not_supplied")
    elif len(users) == 1:
        channel, known = roster.open_dm(users[0], call.app)
    elif len(users) > _MOST_IN_GROUP_DM:
        raise Refusal("too_many_users")
    else:
        channel, known = roster.open_group_dm(users, call.app)
    short: Json = {"id": channel.id}
    shown = wire.channel(channel, call.app) if args.flag("return_im") else short
    return {"channel": shown} | ({"already_open": True, "no_op": True} if known else {})


def _users(call: Call) -> list[str]:
    named = [user.strip() for user in call.args.text("users").split(",") if user.strip()]
    return list(dict.fromkeys(named))


def _open_scopes(call: Call) -> Collection[str]:
    return ("mpim:write",) if len(_users(call)) > 1 else ("im:write",)


def _join(call: Call) -> Json:
    channel = call.visible()
    if kind_of(channel) != "channels":
        raise Refusal("method_not_supported_for_channel_type")
    if channel.archived:
        raise Refusal("is_archived")
    already = call.app.user in channel.members
    channel = call.workspace.roster.join(channel, call.app.user)
    warning: Json = {"warning": "already_in_channel", "response_metadata": {"warnings": ["already_in_channel"]}}
    return {"channel": wire.channel(channel, call.app)} | (warning if already else {})


def _leave(call: Call) -> Json:
    channel = call.visible()
    if channel.kind != "channel":
        raise Refusal("method_not_supported_for_channel_type")
    if channel.archived:
        raise Refusal("is_archived")
    if call.app.user not in channel.members:
        return {"not_in_channel": True}
    call.workspace.roster.leave(channel, call.app.user)
    return {}


_PAGED = errors("invalid_cursor invalid_limit")
METHODS: Mapping[str, Method] = {
    "conversations.info": Method(run=_info, errors=errors("channel_not_found"), scopes=by_channel("read"), tier=50),
    "conversations.list": Method(run=_list, errors=_PAGED | {"invalid_types"}, scopes=_list_scopes, tier=20),
    "users.conversations": Method(run=_of_user, errors=_PAGED | {"invalid_types"}, scopes=_list_scopes, tier=50),
    "conversations.members": Method(
        run=_members, errors=_PAGED | {"channel_not_found"}, scopes=by_channel("read"), tier=100
    ),
    "conversations.open": Method(
        run=_open,
        errors=errors(
            "channel_not_found invalid_user_combination method_not_supported_for_channel_type too_many_users "
            "user_disabled user_not_found users_list_not_supplied"
        ),
        scopes=_open_scopes,
        tier=50,
    ),
    "conversations.join": Method(
        run=_join,
        errors=errors("channel_not_found is_archived method_not_supported_for_channel_type"),
        scopes=needs("channels:join"),
        tier=50,
    ),
    "conversations.leave": Method(
        run=_leave,
        errors=errors("channel_not_found is_archived method_not_supported_for_channel_type"),
        scopes=lambda call: (f"{'groups:write' if call.visible().private else 'channels:manage'}",),
        tier=50,
    ),
}
