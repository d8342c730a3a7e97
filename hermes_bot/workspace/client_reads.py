"""What the page reads: people, conversations, messages, views and files, as each person may see them."""

from __future__ import annotations

from aiohttp import web

from hermes_bot.workspace import client_shown as shown
from hermes_bot.workspace.refusal import Refusal
from hermes_bot.workspace.workspace import Workspace

_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_MOST_MISSED = 200
_INERT = {"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; sandbox"}


class ClientReads:
    """The GET half of the client API."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def people(self, _request: web.Request) -> web.StreamResponse:
        """Return everybody whose seat can be taken, the bots, the team and the groups."""
        app, roster = self._workspace.app, self._workspace.roster
        seats = [one for one in roster.members() if not one.bot and not one.deactivated]
        groups = [{"id": one.id, "handle": one.handle, "members": list(one.members)} for one in roster.groups()]
        bots = [shown.bot(one) for one in roster.apps()]
        return web.json_response(
            {
                "team": {"id": app.team, "name": app.team_name},
                "bot": bots[0],
                "bots": bots,
                "people": [shown.person(one, self._workspace) for one in seats],
                "groups": groups,
            }
        )

    async def state(self, request: web.Request) -> web.StreamResponse:
        """Return the person's conversations."""
        user = self._user(request)
        mine = [one for one in self._workspace.roster.channels() if user in one.members]
        return web.json_response({"channels": [shown.channel(one, user, self._workspace) for one in mine]})

    async def messages(self, request: web.Request) -> web.StreamResponse:
        """Return a conversation or a thread, and what agents say of their work in it."""
        user, thread_ts = request.query.get("user", ""), request.query.get("thread_ts", "")
        channel = self._workspace.roster.joined_by(user, request.query.get("channel", ""))
        posts = self._workspace.posts
        said = self._workspace.thread(channel.id, thread_ts) if thread_ts else posts.roots(channel.id)
        own = [post for post in posts.ephemerals(user, channel.id) if post.thread_ts == thread_ts]
        merged = sorted([*said, *own], key=lambda post: post.ts)
        sessions = [session.shown() for session in self._workspace.sessions.in_channel(channel.id)]
        return web.json_response(
            {"messages": [shown.message(post, user, self._workspace) for post in merged], "sessions": sessions}
        )

    async def missed(self, request: web.Request) -> web.StreamResponse:
        """Return what others wrote that the person has not read yet."""
        user = self._user(request)
        mine = {one.id for one in self._workspace.roster.channels() if user in one.members}
        last = self._workspace.read_marks.missed(user, mine)[-_MOST_MISSED:]
        told = [{"channel": post.channel, "message": shown.message(post, user, self._workspace)} for post in last]
        return web.json_response({"missed": told})

    async def views(self, request: web.Request) -> web.StreamResponse:
        """Return the person's open views, and the app's home where it published one."""
        user = self._user(request)
        return web.json_response({"views": self._workspace.modals(user), "home": self._workspace.homes.of(user)})

    async def file(self, request: web.Request) -> web.StreamResponse:
        """Return a file of a conversation that the person is in; only pictures are shown, the rest is to be saved."""
        user = self._user(request)
        file = self._workspace.files.get(request.query.get("id", ""))
        places = [self._workspace.roster.channel(place) for place in file.shared_in]
        if not file.ready or not any(user in place.members for place in places):
            raise Refusal("file_not_found")
        headers = dict(_INERT)
        kind = file.mimetype if file.mimetype in _PICTURES else "application/octet-stream"
        if kind not in _PICTURES:
            headers["Content-Disposition"] = "attachment"
        return web.Response(body=file.content, content_type=kind, headers=headers)

    def _user(self, request: web.Request) -> str:
        return self._workspace.roster.member(request.query.get("user", "")).id
