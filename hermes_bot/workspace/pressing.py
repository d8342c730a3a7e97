"""What people press in a workspace: buttons, forms, commands, shortcuts, tabs, Stop."""

from __future__ import annotations

from typing import Any

from hermes_bot.workspace.filled_in import Values
from hermes_bot.workspace.interactions import Outcome
from hermes_bot.workspace.parts import Parts
from hermes_bot.workspace.posts import Json
from hermes_bot.workspace.refusal import Refusal


class Pressing(Parts):
    """Acts of people that the app is asked about at once; the outcome is what the person sees of its answer."""

    async def click(
        self,
        user: str,
        channel: str,
        ts: str,
        action_id: str,
        block_id: str = "",
        *,
        value: Any = None,
        values: Values | None = None,
    ) -> Outcome:
        """Click an element of a message or ephemeral; `value` is for selects, and for which feedback button it was."""
        where = self.roster.joined_by(user, channel)
        return await self.interactions.click(user, where, ts, action_id, block_id, value=value, values=values or {})

    async def click_in_view(
        self,
        user: str,
        view_id: str,
        action_id: str,
        block_id: str = "",
        *,
        value: Any = None,
        values: Values | None = None,
    ) -> Outcome:
        """Click an element of an open modal, or of an app's home, filled in as far as `values` says."""
        return await self.interactions.click_in_view(
            user, view_id, action_id, block_id, value=value, values=values or {}
        )

    async def suggest(
        self, user: str, action_id: str, typed: str, *, channel: str = "", ts: str = "", view_id: str = ""
    ) -> list[Json]:
        """Return what an app offers for a text typed into one of its selects, of a message or of a view."""
        where = None if view_id else self.roster.joined_by(user, channel)
        return await self.interactions.suggest(user, where, view_id or ts, action_id, "", typed)

    async def submit(self, user: str, view_id: str, values: Values) -> Outcome:
        """Send a modal, filled in as `{block_id: {action_id: value}}`."""
        return await self.interactions.submit(user, view_id, values)

    async def close_view(self, user: str, view_id: str) -> Outcome:
        """Close a modal."""
        return await self.interactions.close(user, view_id)

    async def command(self, user: str, channel: str, command: str, text: str = "") -> Outcome:
        """Send a slash command from a conversation."""
        return await self.pressed.command(user, self.roster.joined_by(user, channel), command, text, self.typed)

    async def shortcut(self, user: str, callback_id: str, channel: str = "", ts: str = "") -> Outcome:
        """Use a shortcut of a message, or one of the workspace where none is named."""
        post = self.message(self.roster.joined_by(user, channel).id, ts) if ts else None
        return await self.pressed.shortcut(user, callback_id, post)

    async def open_home(self, user: str, tab: str = "home", app_id: str = "") -> str:
        """Open an app's "home" or "messages" tab; return the channel of the person's DM with it."""
        return self.homes.open(user, tab, self.roster.app_with(app_id) if app_id else None)

    async def stop(self, user: str, channel: str, thread_ts: str) -> list[str]:
        """Press Stop beside an agent's work; return the ts of the streaming messages that Slack ended with it.

        The session's status stays as it is: the app moves it when it hears of this.
        """
        where = self.roster.joined_by(user, channel)
        session = self.sessions.of(where.id, thread_ts)
        streaming = self.streams.running(where.id, thread_ts)
        if not streaming and (session is None or session.status != "processing"):
            raise Refusal("not_processing")
        app = session.app if session is not None else self.roster.app_of(streaming[0].user)
        stopped = self.streams.stop_by_user(where.id, thread_ts)
        event: Json = {
            "type": "agent_session_stopped",
            "user": user,
            "thread_ts": thread_ts,
            "streaming_message_ts": stopped,
            "event_ts": self.posts.next_ts(),
        }
        self.events.tell(where, event, author=user, only=app)
        return stopped

    async def rename_session(self, user: str, channel: str, thread_ts: str, title: str) -> None:
        """Give an agent's session another title."""
        where = self.roster.joined_by(user, channel)
        session = self.sessions.of(where.id, thread_ts)
        if session is None:
            raise Refusal("session_not_found")
        before = {"previous_title": session.title} if session.title else {}
        self.sessions.rename(session, title)
        event = {"type": "agent_session_title_changed", "user": user, "thread_ts": thread_ts, "title": title, **before}
        event |= {"team_id": session.app.team, "event_ts": self.posts.next_ts()}
        self.events.tell(where, event, author=user, only=session.app)
