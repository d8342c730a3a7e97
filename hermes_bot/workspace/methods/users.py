"""users.* and usergroups.*: who people are, and which groups they form."""

from __future__ import annotations

from collections.abc import Mapping

from hermes_bot.workspace import wire
from hermes_bot.workspace.args import Args, page_of
from hermes_bot.workspace.methods.method import Method
from hermes_bot.workspace.posts import Json
from hermes_bot.workspace.refusal import Refusal
from hermes_bot.workspace.workspace import Workspace


def _info(workspace: Workspace, args: Args) -> Json:
    member = workspace.roster.member(args.required("user"))
    return {"user": wire.user(member, workspace.app, locale=args.flag("include_locale"))}


def _list(workspace: Workspace, args: Args) -> Json:
    page, paging = page_of(workspace.roster.members(), args, default=1000, most=1000)
    locale = args.flag("include_locale")
    return {"members": [wire.user(member, workspace.app, locale=locale) for member in page]} | paging


def _lookup_by_email(workspace: Workspace, args: Args) -> Json:
    wanted = args.required("email").casefold()
    for member in workspace.roster.members():
        if member.email.casefold() == wanted and not member.deactivated and not member.stranger:
            return {"user": wire.user(member, workspace.app)}
    raise Refusal("users_not_found")


def _groups(workspace: Workspace, args: Args) -> Json:
    users = args.flag("include_users")
    return {"usergroups": [wire.group(group, workspace.app, users=users) for group in workspace.roster.groups()]}


def _group_members(workspace: Workspace, args: Args) -> Json:
    return {"users": list(workspace.roster.group(args.required("usergroup")).members)}


METHODS: Mapping[str, Method] = {
    "users.info": Method(_info),
    "users.list": Method(_list),
    "users.lookupByEmail": Method(_lookup_by_email),
    "usergroups.list": Method(_groups),
    "usergroups.users.list": Method(_group_members),
}
