"""Who and what a local workspace holds at its start: people, channels, user groups and the app, as plain values.

A world is a value, so that a test builds its own with three hundred customers as easily as the demo's five people.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A person (or bot) of the workspace. `team` is empty for our own team, another id for a stranger.

    `guest` may be in several channels, `single_channel_guest` in one (`is_restricted` and `is_ultra_restricted`).
    `unconfirmed`: they have not yet shown that the address is theirs. `hidden`: the app may not see who they are.
    `company` is what the page calls the team of a stranger.
    """

    id: str
    name: str
    email: str = ""
    role: str = "member"
    locale: str = "en-US"
    team: str = ""
    bot: bool = False
    deactivated: bool = False
    guest: bool = False
    single_channel_guest: bool = False
    hidden: bool = False
    stranger: bool = False
    unconfirmed: bool = False
    company: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """A conversation: `kind` is "channel", "dm" or "mpim"; a DM's members are one person and a bot.

    `shared_with` names the other companies' teams of a shared channel (Slack Connect).
    """

    id: str
    name: str = ""
    kind: str = "channel"
    private: bool = False
    archived: bool = False
    topic: str = ""
    members: tuple[str, ...] = ()
    shared_with: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UserGroup:
    """A user group, mentioned as `<!subteam^S…>`; it may list people who are deactivated by now."""

    id: str
    handle: str
    members: tuple[str, ...] = ()
    disabled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortcut:
    """A shortcut that an app offers: of a message, or of the whole workspace."""

    callback_id: str
    name: str
    of_message: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """An app that is installed in the workspace, and its team. Its secrets are good for this workspace alone.

    `scopes` and `events` are what it was granted and subscribed to, None for everything. Without `commands` it answers
    to every slash command, without `shortcuts` to every callback id, unless all of it was `declared` by a manifest. The
    text of `escaped_commands` comes with names as tokens. With an `enterprise` the team belongs to one, and with
    `org_wide` the app was installed for all of it.
    """

    team: str = "T0HERMES"
    team_name: str = "Hermes Demo"
    domain: str = "hermes-demo"
    id: str = "A0HERMES"
    bot: str = "B0HERMES"
    user: str = "U0HERMES"
    name: str = "Hermes"
    bot_token: str = "xoxb-local-workspace"  # noqa: S105 - opens nothing but this machine's own workspace
    app_token: str = "xapp-local-workspace"  # noqa: S105 - the same
    signing_secret: str = "local-signing-secret"  # noqa: S105 - the same
    scopes: tuple[str, ...] | None = None
    events: tuple[str, ...] | None = None
    commands: tuple[str, ...] = ()
    escaped_commands: tuple[str, ...] = ()
    shortcuts: tuple[Shortcut, ...] = ()
    agent: bool = True
    home_tab: bool = True
    messages_tab: bool = True
    enterprise: str = ""
    org_wide: bool = False
    declared: bool = False

    def granted(self, scope: str) -> bool:
        """Return whether the app has this scope."""
        return self.scopes is None or scope in self.scopes

    def subscribed(self, event: str) -> bool:
        """Return whether the app is told of this kind of event."""
        return self.events is None or event in self.events


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Everything a workspace starts with. An app's bot user is a member without being listed in `members`.

    `more_apps` are other bots beside `app`; each has ids and tokens of its own.
    """

    app: App = App()
    more_apps: tuple[App, ...] = ()
    members: tuple[Member, ...] = ()
    channels: tuple[Channel, ...] = ()
    groups: tuple[UserGroup, ...] = ()

    def with_people(self, people: Sequence[Member], *, channels: Sequence[str] = ()) -> World:
        """Return the world with more people, each with a DM to the bot and a member of the named channels."""
        ids = tuple(person.id for person in people)
        known = [
            replace(channel, members=channel.members + ids) if channel.id in channels else channel
            for channel in self.channels
        ]
        dms = [dm_of(person.id, self.app) for person in people]
        return replace(self, members=(*self.members, *people), channels=(*known, *dms))


def dm_of(user: str, app: App, *, first: bool = True) -> Channel:
    """Return the DM between a person and an app; with the workspace's first app its id is the person's with D for U."""
    of_app = "" if first else app.user[1:]
    return Channel(id=f"D{of_app}{user[1:]}", kind="dm", private=True, members=(user, app.user))


def demo_world(app: App | None = None) -> World:
    """Return the workspace of `make run`: customers, operators, an admin, a guest of another company, and the DMs."""
    app = app or App()
    staff = ("U0OMAR", "U0OLIVIA", "U0ADA")
    everyone = ("U0EMMA", "U0LINA", *staff)
    world = World(
        app=app,
        channels=(
            Channel(id="C0SUPPORT", name="support", topic="Questions about your order", members=(*everyone, app.user)),
            Channel(id="C0HANDOFF", name="hermes-handoff", topic="Tickets for people", members=(*staff, app.user)),
            Channel(id="C0GENERAL", name="general", topic="Everything else", members=everyone),
            Channel(
                id="C0CASAAZUL",
                name="casa-azul",
                topic="With the people of Casa Azul, who sell our goods",
                members=("U0MARTA", *staff, app.user),
                shared_with=("T0CASAAZUL",),
            ),
        ),
        groups=(
            UserGroup(id="S0APPROVERS", handle="approvers", members=("U0OMAR", "U0OLIVIA")),
            UserGroup(id="S0OPERATORS", handle="operators", members=("U0OMAR", "U0OLIVIA")),
        ),
    )
    return world.with_people(_demo_people())


def _demo_people() -> tuple[Member, ...]:
    return (
        Member(id="U0EMMA", name="Emma Fischer", email="emma.fischer@example.com", role="customer"),
        Member(id="U0LINA", name="李娜 (Li Na)", email="li.na@example.com", role="customer", locale="zh-CN"),
        Member(id="U0OMAR", name="Omar Haddad", email="omar.haddad@example.com", role="operator"),
        Member(id="U0OLIVIA", name="Olivia Brandt", email="olivia.brandt@example.com", role="operator"),
        Member(id="U0ADA", name="Ada Novak", email="ada.novak@example.com", role="admin"),
        Member(
            id="U0MARTA",
            name="Marta Silva",
            email="marta.silva@casa-azul.example",
            role="customer",
            team="T0CASAAZUL",
            stranger=True,
            company="Casa Azul",
        ),
    )
