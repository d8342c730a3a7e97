"""The typed data of what people do in Slack beside writing and pressing a card's buttons: commands, shortcuts, Home."""

from __future__ import annotations

import msgspec

COMMAND_GIVEN = "command.given"
SHORTCUT_USED = "shortcut.used"
HOME_OPENED = "home.opened"
PROMPTS_WANTED = "prompts.wanted"
LANGUAGE_CHOSEN = "language.chosen"
PERSON_FORGET = "person.forget"


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """`command.given`: what somebody wrote after `/hermes`; `mentioned` is the first user who is named there.

    `response_url` takes five answers in half an hour.
    """

    text: str
    user: str
    team: str
    channel: str
    mentioned: str = ""
    response_url: str = ""


class Shortcut(msgspec.Struct, frozen=True, kw_only=True):
    """`shortcut.used`: somebody chose a shortcut of a message. `author` wrote it, empty for another bot's."""

    shortcut: str
    user: str
    team: str
    channel: str
    ts: str
    author: str
    author_team: str = ""
    text: str = ""
    thread_ts: str = ""
    files: tuple[str, ...] = ()
    response_url: str = ""


class Home(msgspec.Struct, frozen=True, kw_only=True):
    """`home.opened`: somebody looks at the app's Home, or what stands there has changed."""

    user: str
    team: str


class Prompts(msgspec.Struct, frozen=True, kw_only=True):
    """`prompts.wanted`: somebody opened their conversation with the bot."""

    channel: str
    user: str
    team: str
    thread_ts: str = ""


class LanguageChosen(msgspec.Struct, frozen=True, kw_only=True):
    """`language.chosen`: in which language somebody wants to be answered; empty: in that of their message."""

    user: str
    team: str
    language: str


class PersonForget(msgspec.Struct, frozen=True, kw_only=True):
    """`person.forget`: somebody wants all that is kept of them to be forgotten.

    Its fields have names of their own, or the message itself would count as one of the person's that is in work.
    """

    whom: str
    whose_team: str
    language: str = "en"
