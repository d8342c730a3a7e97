"""How the page is shown people, apps, conversations and messages: PERSON, BOT, CHANNEL, MESSAGE of the client API."""

from __future__ import annotations

from dataclasses import replace

from hermes_bot.workspace import wire
from hermes_bot.workspace.people import App, Channel, Member
from hermes_bot.workspace.posts import Json, Post
from hermes_bot.workspace.workspace import Workspace


def person(member: Member, workspace: Workspace) -> Json:
    """Return a person whose seat can be taken."""
    return {
        "id": member.id,
        "name": member.name,
        "role": member.role,
        "dm": workspace.open_dm(member.id),
        "guest": member.guest or member.single_channel_guest,
        "stranger": member.stranger,
        "company": member.company,
    }


def bot(app: App) -> Json:
    """Return an app by its bot, with what a person may start of it."""
    return {
        "id": app.user,
        "app": app.id,
        "name": app.name,
        "commands": list(app.commands),
        "shortcuts": [
            {"callback_id": one.callback_id, "name": one.name, "of_message": one.of_message} for one in app.shortcuts
        ],
        "home": app.home_tab,
    }


def channel(found: Channel, user: str, workspace: Workspace) -> Json:
    """Return a conversation; one without a name of its own is named after its other members."""
    others = [one for one in found.members if one != user] or [user]
    names = [workspace.roster.member(one).name for one in others]
    return {
        "id": found.id,
        "name": found.name if found.kind == "channel" else ", ".join(names),
        "kind": found.kind,
        "private": found.private,
        "topic": found.topic,
        "archived": found.archived,
        "shared": bool(found.shared_with),
        "members": list(found.members),
    }


def message(post: Post, user: str, workspace: Workspace, *, deleted: bool = False) -> Json:
    """Return a message as this person sees it: what is being written for another is not yet theirs to read."""
    if post.streaming == "in_progress" and post.recipient and post.recipient != user:
        post = replace(post, text="", blocks=())
    return wire.shown(post, workspace.roster, workspace.posts, deleted=deleted)
