"""How people, channels and messages look on Slack's wire, and how messages look to the page."""

from __future__ import annotations

from hermes_bot.workspace.people import App, Channel, Member, UserGroup
from hermes_bot.workspace.posts import Json, Post, PostStore
from hermes_bot.workspace.rich_text import rich_text
from hermes_bot.workspace.roster import Roster


def channel_type(channel: Channel) -> str:
    """Return the `channel_type` that events carry."""
    kinds = {"dm": "im", "mpim": "mpim"}
    return kinds.get(channel.kind) or ("group" if channel.private else "channel")


def bot_profile(app: App) -> Json:
    """Return the `bot_profile` of the app's own messages."""
    return {"id": app.bot, "deleted": False, "name": app.name, "updated": 0, "app_id": app.id, "team_id": app.team}


def message(post: Post, roster: Roster, *, parent: Post | None = None) -> Json:
    """Return the message as it stands in events: without counters, metadata or channel."""
    team = roster.team_of(post.user)
    wire: Json = {"type": "message", "user": post.user, "ts": post.ts, "text": post.text, "team": team}
    if team != roster.app.team:
        wire |= {"user_team": team, "source_team": team}
    app = roster.app_of(post.user)
    if app is not None and post.bot:
        wire |= {"bot_id": app.bot, "app_id": app.id, "bot_profile": bot_profile(app)}
    if not post.user:
        del wire["user"]
    optional: Json = {
        "bot_id": post.bot_id or wire.get("bot_id"),
        "subtype": post.subtype,
        "client_msg_id": post.client_msg_id,
        "username": post.username,
        "blocks": list(post.blocks) or typed_blocks(post),
        "attachments": list(post.attachments),
        "files": list(post.files),
        "upload": bool(post.files) and not post.bot,
        "streaming_state": post.streaming,
        "hidden": post.tombstone,
        "thread_ts": post.thread_ts,
        "parent_user_id": parent.user if parent is not None else "",
        "edited": {"user": post.edited_by, "ts": post.edited_ts} if post.edited_ts else None,
        "reactions": reactions(post),
    }
    return wire | {key: value for key, value in optional.items() if value}


def typed_blocks(post: Post) -> list[Json]:
    """Return the `rich_text` block that Slack's own client sends with what a person typed."""
    typed = bool(post.client_msg_id) and bool(post.text)
    return [rich_text(post.text, "rt" + post.ts.replace(".", ""))] if typed else []


def stored(post: Post, roster: Roster, posts: PostStore, *, metadata: bool = False) -> Json:
    """Return the message as conversations.history and conversations.replies show it."""
    parent = posts.get(post.channel, post.thread_ts) if post.thread_ts else None
    wire = message(post, roster, parent=parent)
    replies = posts.replies(post.channel, post.ts) if not post.seen_by else []
    if replies:
        users = list(dict.fromkeys(reply.user for reply in replies))
        wire |= {
            "thread_ts": post.ts,
            "reply_count": len(replies),
            "reply_users": users,
            "reply_users_count": len(users),
            "latest_reply": replies[-1].ts,
        }
    if metadata and post.metadata is not None:
        wire["metadata"] = dict(post.metadata)
    return wire


def shown(post: Post, roster: Roster, posts: PostStore, *, deleted: bool = False) -> Json:
    """Return the MESSAGE of the client API."""
    replies = posts.replies(post.channel, post.ts) if not post.seen_by else []
    return {
        "ts": post.ts,
        "user": post.user,
        "bot": post.bot,
        "username": post.username,
        "text": post.text,
        "blocks": list(post.blocks),
        "thread_ts": post.thread_ts or (post.ts if replies else ""),
        "reply_count": len(replies),
        "latest_reply": replies[-1].ts if replies else "",
        "edited": bool(post.edited_ts),
        "deleted": deleted or post.tombstone,
        "reactions": reactions(post),
        "ephemeral": bool(post.seen_by),
        "files": list(post.files),
        "streaming": post.streaming,
        "subtype": post.subtype,
        "broadcast": post.broadcast,
        "attachments": list(post.attachments),
    }


def reactions(post: Post) -> list[Json]:
    """Return the message's reactions."""
    return [{"name": name, "users": list(users), "count": len(users)} for name, users in post.reactions]


def user(member: Member, app: App, *, locale: bool = False, email: bool = True) -> Json:
    """Return the user object of users.info. A stranger's e-mail address is not shown; `app` is the bot's own."""
    team = member.team or app.team
    profile: Json = {"real_name": member.name, "display_name": member.name, "team": team}
    if member.email and not member.stranger and email:
        profile["email"] = member.email
    if member.bot:
        profile |= {"bot_id": app.bot, "api_app_id": app.id}
    restricted = member.guest or member.single_channel_guest
    wire: Json = {
        "id": member.id,
        "team_id": team,
        "name": user_name(member),
        "real_name": member.name,
        "deleted": member.deactivated,
        "is_bot": member.bot,
        "is_admin": member.role == "admin",
        "is_owner": False,
        "is_restricted": restricted,
        "is_ultra_restricted": member.single_channel_guest,
        "is_stranger": member.stranger,
        "is_app_user": False,
        "is_email_confirmed": not member.unconfirmed,
        "tz": "Etc/UTC",
        "updated": 0,
        "profile": profile,
    }
    if app.enterprise and not member.stranger:
        wire["enterprise_user"] = enterprise_user(member, app)
    return wire | ({"locale": member.locale} if locale else {})


def enterprise_user(member: Member, app: App) -> Json:
    """Return who the person is in the enterprise that the team belongs to."""
    return {
        "id": member.id,
        "enterprise_id": app.enterprise,
        "enterprise_name": app.enterprise,
        "is_admin": False,
        "is_owner": False,
        "teams": [member.team or app.team],
    }


def user_name(member: Member) -> str:
    """Return the login name that Slack shows in payloads."""
    return member.email.partition("@")[0] or member.name.lower().replace(" ", ".")


def channel(found: Channel, app: App, *, member_count: bool = False) -> Json:
    """Return the channel object of conversations.info."""
    dm, group_dm = found.kind == "dm", found.kind == "mpim"
    shared = bool(found.shared_with)
    wire: Json = {
        "id": found.id,
        "created": 0,
        "is_channel": not dm and not found.private,
        "is_group": not dm and found.private,
        "is_im": dm,
        "is_mpim": group_dm,
        "is_private": found.private or dm,
        "is_archived": found.archived,
        "is_general": False,
        "is_shared": shared,
        "is_ext_shared": shared,
        "is_org_shared": False,
        "is_pending_ext_shared": False,
        "context_team_id": app.team,
        "shared_team_ids": [app.team, *found.shared_with],
    }
    if shared:
        wire["connected_team_ids"] = list(found.shared_with)
    if dm:
        other = next((one for one in found.members if one != app.user), "")
        wire |= {"user": other, "is_open": True}
    else:
        wire |= {
            "name": found.name,
            "name_normalized": found.name,
            "is_member": app.user in found.members,
            "topic": {"value": found.topic, "creator": "", "last_set": 0},
            "purpose": {"value": "", "creator": "", "last_set": 0},
        }
    return wire | ({"num_members": len(found.members)} if member_count else {})


def group(found: UserGroup, app: App, *, users: bool = False) -> Json:
    """Return the user group object of usergroups.list."""
    wire: Json = {
        "id": found.id,
        "team_id": app.team,
        "is_usergroup": True,
        "name": found.handle,
        "handle": found.handle,
        "is_external": False,
        "date_delete": 1 if found.disabled else 0,
        "user_count": len(found.members),
    }
    return wire | ({"users": list(found.members)} if users else {})
