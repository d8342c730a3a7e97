"""What in a `people.yaml` is well formed and still cannot be so in Slack."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from hermes_bot.settings.problems import Problem, refuse
from hermes_bot.settings.yaml_file import KeyPath, YamlFile
from hermes_bot.workspace.people import Channel, Member

_CHANNEL_NAME = re.compile(r"#?[\w-]{1,80}")


class Named(Protocol):
    """What is written under a name."""

    @property
    def name(self) -> str:
        """The name."""
        ...


class Bot(Protocol):
    """A bot as it is written in the file."""

    @property
    def commands(self) -> Sequence[str]:
        """Its slash commands."""
        ...

    @property
    def events_url(self) -> str:
        """Where it wants to hear of events, "" for Socket Mode."""
        ...

    @property
    def interactions_url(self) -> str:
        """Where it wants to hear of clicks."""
        ...

    @property
    def commands_url(self) -> str:
        """Where it wants to hear of commands."""
        ...


def refuse_any(problems: Iterable[Problem]) -> None:
    """Raise SettingsError when there is a problem."""
    found = list(problems)
    if found:
        refuse(found)


def wrong_channels(file: YamlFile, channels: Sequence[Named]) -> Iterator[Problem]:
    """Yield a problem for each channel whose name Slack would not take, or that another has already."""
    seen: set[str] = set()
    for number, channel in enumerate(channels):
        place: KeyPath = ("channels", number, "name")
        name = channel.name
        if not _CHANNEL_NAME.fullmatch(name) or name != name.lower():
            rule = "lower case, without blanks, dots or other signs than - and _, 80 characters at most"
            yield file.problem(place, f"a channel cannot be called {name!r}: {rule}")
        if name.removeprefix("#") in seen:
            yield file.problem(place, f"there are two channels {name!r}; give each a name of its own")
        seen.add(name.removeprefix("#"))


def wrong_bots(file: YamlFile, bots: Sequence[Bot]) -> Iterator[Problem]:
    """Yield a problem for each command without its slash and each address that is none."""
    for number, bot in enumerate(bots):
        for at, command in enumerate(bot.commands):
            if not command.startswith("/"):
                place: KeyPath = ("apps", number, "commands", at)
                yield file.problem(place, f"a command begins with a slash: write /{command} in the place of {command}")
        addresses = {"events_url": bot.events_url, "interactions_url": bot.interactions_url}
        for key, address in (addresses | {"commands_url": bot.commands_url}).items():
            if address and not re.match(r"https?://[^/\s]", address):
                yield file.problem(
                    ("apps", number, key), f"{address!r} is no address; it begins with http:// or https://"
                )


def crowded_guests(file: YamlFile, people: Sequence[Member], channels: Iterable[Channel]) -> Iterator[Problem]:
    """Yield a problem for each single-channel guest who is in several channels."""
    rooms = Counter(member for channel in channels for member in channel.members)
    for number, person in enumerate(people):
        if person.single_channel_guest and rooms[person.id] > 1:
            text = f"{person.name} is a guest of one channel and is a member of {rooms[person.id]}; write guest: multi"
            yield file.problem(("people", number, "guest"), text)
