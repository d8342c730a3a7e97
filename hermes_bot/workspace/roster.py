"""The people, channels and groups of a running workspace, and who may see what."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace

from hermes_bot.workspace.people import App, Channel, Member, UserGroup, World, dm_of
from hermes_bot.workspace.refusal import Refusal

SLACKBOT = Member(id="USLACKBOT", name="Slackbot")
"""The author of tombstones: whoever looks it up finds it, and it says that it is no bot, as in Slack."""


class Roster:
    """Look-ups raise Slack's refusal for what is not there. Tests change people and channels with `put_…`.

    `changed` is called after each change of people or channels.
    """

    def __init__(self, world: World, changed: Callable[[], None]) -> None:
        self._changed = changed
        self.app: App = world.app
        self._apps = {app.user: app for app in (world.app, *world.more_apps)}
        bots = [Member(id=app.user, name=app.name, bot=True, role="bot") for app in self._apps.values()]
        self._members = {member.id: member for member in (*bots, *world.members)}
        self._channels = {channel.id: channel for channel in world.channels}
        self._groups = {group.id: group for group in world.groups}

    def apps(self) -> list[App]:
        """Return every app, the one that the workspace is for first."""
        return list(self._apps.values())

    def app_of(self, user: str) -> App | None:
        """Return the app whose bot user this is, None for people."""
        return self._apps.get(user)

    def app_with(self, app_id: str) -> App:
        """Return the app with this id."""
        found = next((app for app in self._apps.values() if app.id == app_id), None)
        if found is None:
            raise Refusal("app_not_found")
        return found

    def members(self) -> list[Member]:
        """Return everybody, the bots first."""
        return list(self._members.values())

    def channels(self) -> list[Channel]:
        """Return every conversation."""
        return list(self._channels.values())

    def groups(self) -> list[UserGroup]:
        """Return every user group."""
        return list(self._groups.values())

    def member(self, user: str) -> Member:
        """Return the person or bot with this id."""
        if user == SLACKBOT.id:
            return SLACKBOT
        if user not in self._members:
            raise Refusal("user_not_found")
        return self._members[user]

    def team_of(self, user: str) -> str:
        """Return the team of a message's author: another one's for a stranger, else our own."""
        member = self._members.get(user)
        return (member.team if member is not None else "") or self.app.team

    def channel(self, reference: str) -> Channel:
        """Return the conversation with this id, or the channel with this name (`#name` or `name`)."""
        found = self._channels.get(reference)
        if found is None:
            name = reference.removeprefix("#")
            found = next((one for one in self._channels.values() if one.kind == "channel" and one.name == name), None)
        if found is None or not reference:
            raise Refusal("channel_not_found")
        return found

    def group(self, group: str) -> UserGroup:
        """Return the user group with this id."""
        if group not in self._groups:
            raise Refusal("no_such_subteam")
        return self._groups[group]

    def visible_to(self, app: App, reference: str) -> Channel:
        """Return the conversation unless it is hidden from the app, because it is private and its bot is not in it."""
        channel = self.channel(reference)
        if channel.private and app.user not in channel.members:
            raise Refusal("channel_not_found")
        return channel

    def joined_by_app(self, app: App, reference: str) -> Channel:
        """Return the conversation when the app's bot is a member of it."""
        channel = self.visible_to(app, reference)
        if app.user not in channel.members:
            raise Refusal("not_in_channel")
        return channel

    def joined_by(self, user: str, reference: str) -> Channel:
        """Return the conversation when this person is a member of it."""
        member = self.member(user)
        channel = self.channel(reference)
        if member.id not in channel.members:
            raise Refusal("not_in_channel")
        return channel

    def open_dm(self, user: str, app: App | None = None) -> tuple[Channel, bool]:
        """Return the DM of a person with an app (the first, where none is named), and whether it was there before."""
        person, app = self.member(user), app or self.app
        if person.deactivated or person.bot:
            raise Refusal("user_disabled" if person.deactivated else "invalid_user_combination")
        dm = dm_of(person.id, app, first=app is self.app)
        known = self._channels.get(dm.id)
        if known is None:
            self.put_channel(dm)
        return known or dm, known is not None

    def open_group_dm(self, users: Sequence[str], app: App) -> tuple[Channel, bool]:
        """Return the conversation of these people and the app, and whether it was there before."""
        members = tuple(sorted({*users, app.user}))
        if any(self.member(user).deactivated for user in members):
            raise Refusal("user_disabled")
        known = next((one for one in self._channels.values() if one.kind == "mpim" and one.members == members), None)
        if known is not None:
            return known, True
        id_ = "G" + hashlib.sha256("+".join(members).encode()).hexdigest()[:10].upper()
        name = "mpdm-" + "--".join(self.member(user).name.lower().replace(" ", ".") for user in members) + "-1"
        group_dm = Channel(id=id_, name=name, kind="mpim", private=True, members=members)
        self.put_channel(group_dm)
        return group_dm, False

    def join(self, channel: Channel, user: str) -> Channel:
        """Return the channel with the person as a member."""
        if user not in channel.members:
            channel = replace(channel, members=(*channel.members, user))
            self.put_channel(channel)
        return channel

    def leave(self, channel: Channel, user: str) -> Channel:
        """Return the channel without the person."""
        channel = replace(channel, members=tuple(one for one in channel.members if one != user))
        self.put_channel(channel)
        return channel

    def put_member(self, member: Member) -> None:
        """Add a person, or put a changed one in the place of the old."""
        self._members[member.id] = member
        self._changed()

    def put_channel(self, channel: Channel) -> None:
        """Add a channel, or put a changed one in the place of the old."""
        self._channels[channel.id] = channel
        self._changed()

    def put_group(self, group: UserGroup) -> None:
        """Add a user group, or put a changed one in the place of the old."""
        self._groups[group.id] = group
        self._changed()
