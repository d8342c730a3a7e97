"""users.* and usergroups.*: who people are, and which groups they form."""

from __future__ import annotations

from collections.abc import Mapping

from hermes_bot.workspace import wire
from hermes_bot.workspace.args import page_of
from hermes_bot.workspace.methods.method import Call, Method, errors, needs
from hermes_bot.workspace.people import Member
from hermes_bot.workspace.posts import Json
from hermes_bot.workspace.refusal import Refusal


def _info(call: Call) -> Json:
    member = call.workspace.roster.member(call.args.required("user"))
    if member.hidden:
        raise Refusal("user_not_visible")
    return {"user": _shown(call, member)}


def _list(call: Call) -> Json:
    seen = [member for member in call.workspace.roster.members() if not member.hidden]
    page, paging = page_of(seen, call.args, default=1000, most=1000)
    return {"members": [_shown(call, member) for member in page], "cache_ts": 0} | paging


def _lookup_by_email(call: Call) -> Json:
    wanted = call.args.required("email").casefold()
    for member in call.workspace.roster.members():
        if member.email.casefold() == wanted and not member.deactivated and not member.stranger:
            return {"user": _shown(call, member)}
    raise Refusal("users_not_found")


def _shown(call: Call, member: Member) -> Json:
    """Return the person; the address stands there for an app that may read addresses."""
    app = call.workspace.roster.app_of(member.id) or call.app
    email = call.app.granted("users:read.email")
    return wire.user(member, app, locale=call.args.flag("include_locale"), email=email)


def _groups(call: Call) -> Json:
    users, disabled = call.args.flag("include_users"), call.args.flag("include_disabled")
    groups = [group for group in call.workspace.roster.groups() if disabled or not group.disabled]
    return {"usergroups": [wire.group(group, call.app, users=users) for group in groups]}


def _group_members(call: Call) -> Json:
    group = call.workspace.roster.group(call.args.required("usergroup"))
    if group.disabled and not call.args.flag("include_disabled"):
        raise Refusal("no_such_subteam")
    return {"users": list(group.members)}


_READ, _GROUPS = needs("users:read"), needs("usergroups:read")
METHODS: Mapping[str, Method] = {
    "users.info": Method(run=_info, errors=errors("user_not_found user_not_visible"), scopes=_READ, tier=100),
    "users.list": Method(run=_list, errors=errors("invalid_cursor limit_required"), scopes=_READ, tier=20),
    "users.lookupByEmail": Method(
        run=_lookup_by_email, errors=errors("users_not_found"), scopes=needs("users:read.email"), tier=50
    ),
    "usergroups.list": Method(run=_groups, scopes=_GROUPS, tier=20),
    "usergroups.users.list": Method(run=_group_members, errors=errors("no_such_subteam"), scopes=_GROUPS, tier=20),
}
