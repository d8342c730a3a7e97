"""What the page reads: people, conversations, messages and open views, as each person may see them."""

from __future__ import annotations

from aiohttp import web

from hermes_bot.workspace import wire
from hermes_bot.workspace.people import Channel
from hermes_bot.workspace.posts import Json
from hermes_bot.workspace.workspace import Workspace


class ClientReads:
    """The GET half of the client API."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def people(self, _request: web.Request) -> web.StreamResponse:
        """Return everybody whose seat can be taken, the bot, the team and the groups."""
        app = self._workspace.app
        people = [
            {"id": one.id, "name": one.name, "role": one.role, "dm": self._workspace.open_dm(one.id)}
            for one in self._workspace.roster.members()
            if not one.bot and not one.deactivated
        ]
        groups = [
            {"id": group.id, "handle": group.handle, "members": list(group.members)}
            for group in self._workspace.roster.groups()
        ]
        team, bot = {"id": app.team, "name": app.team_name}, {"id": app.user, "name": app.name}
        return web.json_response({"team": team, "bot": bot, "people": people, "groups": groups})

    async def state(self, request: web.Request) -> web.StreamResponse:
        """Return the person's conversations."""
        user = self._workspace.roster.member(request.query.get("user", "")).id
        mine = [one for one in self._workspace.roster.channels() if user in one.members]
        return web.json_response({"channels": [self._shown_channel(one, user) for one in mine]})

    def _shown_channel(self, channel: Channel, user: str) -> Json:
        other = next((one for one in channel.members if one != user), user)
        name = channel.name if channel.kind == "channel" else self._workspace.roster.member(other).name
        return {
            "id": channel.id,
            "name": name,
            "kind": channel.kind,
            "private": channel.private,
            "topic": channel.topic,
            "archived": channel.archived,
            "members": list(channel.members),
        }

    async def messages(self, request: web.Request) -> web.StreamResponse:
        """Return a conversation or a thread."""
        user, thread_ts = request.query.get("user", ""), request.query.get("thread_ts", "")
        channel = self._workspace.roster.joined_by(user, request.query.get("channel", ""))
        posts = self._workspace.posts
        said = self._workspace.thread(channel.id, thread_ts) if thread_ts else posts.roots(channel.id)
        own = [post for post in posts.ephemerals(user, channel.id) if post.thread_ts == thread_ts]
        merged = sorted([*said, *own], key=lambda post: post.ts)
        return web.json_response({"messages": [wire.shown(post, self._workspace.roster, posts) for post in merged]})

    async def views(self, request: web.Request) -> web.StreamResponse:
        """Return the person's open views."""
        user = self._workspace.roster.member(request.query.get("user", "")).id
        return web.json_response({"views": self._workspace.modals(user)})
