"""The people, channels and groups of a running workspace, and who may see what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hermes_bot.workspace.people import App, Channel, Member, UserGroup, World, dm_of
from hermes_bot.workspace.refusal import Refusal


class Roster:
    """Look-ups raise Slack's refusal for what is not there. Tests change people and channels with `put_…`.

    `changed` is called after each change of people or channels.
    """

    def __init__(self, world: World, changed: Callable[[], None]) -> None:
        self._changed = changed
        self.app: App = world.app
        bot = Member(id=world.app.user, name=world.app.name, bot=True, role="bot")
        self._members = {member.id: member for member in (bot, *world.members)}
        self._channels = {channel.id: channel for channel in world.channels}
        self._groups = {group.id: group for group in world.groups}

    def members(self) -> list[Member]:
        """Return everybody, the bot first."""
        return list(self._members.values())

    def channels(self) -> list[Channel]:
        """Return every conversation."""
        return list(self._channels.values())

    def groups(self) -> list[UserGroup]:
        """Return every user group."""
        return list(self._groups.values())

    def member(self, user: str) -> Member:
        """Return the person or bot with this id."""
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

    def visible_to_bot(self, reference: str) -> Channel:
        """Return the conversation unless it is hidden from the bot, because it is private and the bot is not in it."""
        channel = self.channel(reference)
        if channel.private and self.app.user not in channel.members:
            raise Refusal("channel_not_found")
        return channel

    def joined_by_bot(self, reference: str) -> Channel:
        """Return the conversation when the bot is a member of it."""
        channel = self.visible_to_bot(reference)
        if self.app.user not in channel.members:
            raise Refusal("not_in_channel")
        return channel

    def joined_by(self, user: str, reference: str) -> Channel:
        """Return the conversation when this person is a member of it."""
        member = self.member(user)
        channel = self.channel(reference)
        if member.id not in channel.members:
            raise Refusal("not_in_channel")
        return channel

    def open_dm(self, user: str) -> tuple[Channel, bool]:
        """Return the DM of a person with the bot, and whether it was there before."""
        person = self.member(user)
        if person.deactivated or person.bot:
            raise Refusal("user_disabled" if person.deactivated else "invalid_user_combination")
        dm = dm_of(person.id, self.app)
        known = self._channels.get(dm.id)
        if known is None:
            self.put_channel(dm)
        return known or dm, known is not None

    def join(self, channel: Channel, user: str) -> Channel:
        """Return the channel with the person as a member."""
        if user not in channel.members:
            channel = replace(channel, members=(*channel.members, user))
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
