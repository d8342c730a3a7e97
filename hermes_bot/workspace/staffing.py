"""What changes about people, channels and groups, each with the events that apps are told of it."""

from __future__ import annotations

from dataclasses import replace

from hermes_bot.workspace import wire
from hermes_bot.workspace.parts import Parts
from hermes_bot.workspace.people import Channel, Member, UserGroup
from hermes_bot.workspace.posts import Json, Post


class Staffing(Parts):
    """Acts of the workspace's administrators, and joining and leaving."""

    async def join(self, user: str, channel: str, *, inviter: str = "") -> None:
        """Make a person, or a bot, a member of a channel."""
        where = self.roster.channel(channel)
        if user in where.members:
            return
        where = self.roster.join(where, user)
        self._note(where, user, "channel_join", f"<@{user}> has joined the channel")
        self._moved(where, user, "member_joined_channel", inviter)

    async def leave(self, user: str, channel: str) -> None:
        """Take a person, or a bot, out of a channel; its app is told before it is out."""
        where = self.roster.channel(channel)
        if user not in where.members:
            return
        self._note(where, user, "channel_leave", f"<@{user}> has left the channel")
        self._moved(where, user, "member_left_channel", "")
        self.roster.leave(where, user)

    async def archive(self, channel: str, *, on: bool = True, user: str = "USLACKBOT") -> None:
        """Archive a channel, or take it out of the archive."""
        where = replace(self.roster.channel(channel), archived=on)
        self.roster.put_channel(where)
        kind = ("group" if where.private else "channel") + ("_archive" if on else "_unarchive")
        self.events.tell(where, {"type": kind, "user": user, "event_ts": self.posts.next_ts()}, author=user)

    async def share(self, channel: str, team: str) -> None:
        """Share a channel with another company's team."""
        where = self.roster.channel(channel)
        where = replace(where, shared_with=tuple(dict.fromkeys((*where.shared_with, team))))
        self.roster.put_channel(where)
        event: Json = {"type": "channel_shared", "connected_team_id": team, "event_ts": self.posts.next_ts()}
        self.events.tell(where, event)

    async def change_member(self, member: Member) -> None:
        """Add a person, or put a changed one in the place of the old: deactivated, renamed, a guest by now."""
        known = any(one.id == member.id for one in self.roster.members())
        self.roster.put_member(member)
        for app in self.roster.apps():
            shown = wire.user(member, app, locale=True, email=app.granted("users:read.email"))
            kind = "user_change" if known else "team_join"
            self.events.emit({"type": kind, "user": shown, "event_ts": self.posts.next_ts()}, app=app)

    async def deactivate(self, user: str) -> None:
        """Deactivate a person: they can write no more, and user groups go on listing them."""
        await self.change_member(replace(self.roster.member(user), deactivated=True))

    async def change_group(self, group: UserGroup) -> None:
        """Add a user group, or put a changed one in the place of the old."""
        before = next((one for one in self.roster.groups() if one.id == group.id), None)
        self.roster.put_group(group)
        for app in self.roster.apps():
            shown = wire.group(group, app, users=True)
            kind = "subteam_updated" if before is not None else "subteam_created"
            self.events.emit({"type": kind, "subteam": shown, "event_ts": self.posts.next_ts()}, app=app)
            if before is not None and before.members != group.members:
                self.events.emit(self._members_changed(before, group), app=app)

    def _members_changed(self, before: UserGroup, after: UserGroup) -> Json:
        added = [one for one in after.members if one not in before.members]
        removed = [one for one in before.members if one not in after.members]
        return {
            "type": "subteam_members_changed",
            "subteam_id": after.id,
            "team_id": self.app.team,
            "added_users": added,
            "added_users_count": len(added),
            "removed_users": removed,
            "removed_users_count": len(removed),
            "event_ts": self.posts.next_ts(),
        }

    def _note(self, where: Channel, user: str, subtype: str, text: str) -> None:
        note = Post(channel=where.id, ts=self.posts.next_ts(), user=user, text=text, subtype=subtype)
        self.conversations.post(note)

    def _moved(self, where: Channel, user: str, kind: str, inviter: str) -> None:
        event: Json = {
            "type": kind,
            "user": user,
            "channel_type": "G" if where.private else "C",
            "team": self.app.team,
            "event_ts": self.posts.next_ts(),
        }
        self.events.tell(where, event | ({"inviter": inviter} if inviter else {}), author=user)
