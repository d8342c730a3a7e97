"""`people.yaml`: who and what a workspace holds, written by somebody who wants to try a bot of their own in it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, Strict, StringConstraints

from hermes_bot.settings.checked import checked
from hermes_bot.settings.problems import Problem
from hermes_bot.settings.section import Section, Words
from hermes_bot.settings.yaml_file import KeyPath, YamlFile, read_yaml
from hermes_bot.workspace.http_delivery import RequestUrls
from hermes_bot.workspace.manifest_app import app_of_manifest, urls_of_manifest
from hermes_bot.workspace.people import App, Channel, Member, Shortcut, UserGroup, World, dm_of
from hermes_bot.workspace.world_checks import crowded_guests, refuse_any, wrong_bots, wrong_channels

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
_LIST = Strict(strict=False)


class TeamSpec(Section):
    """The team. With an `enterprise` (E…) it belongs to one, and people's ids may begin with W."""

    id: Annotated[str, StringConstraints(pattern=r"^T[A-Z0-9]+$")] = "T0LOCAL"
    name: Text = "Local Workspace"
    domain: Text = "local-workspace"
    enterprise: Annotated[str, StringConstraints(pattern=r"^(E[A-Z0-9]+)?$")] = ""


class ShortcutSpec(Section):
    """A shortcut that an app offers."""

    callback_id: Text
    name: Text
    of_message: bool = True


class AppSpec(Section):
    """A bot. Ids, tokens and secret are made up from its place in the file where they are left out.

    A `manifest` (a file beside this one) says what it is granted and offers, in the place of the keys here.
    """

    name: Text
    id: str = ""
    bot: str = ""
    user: str = ""
    bot_token: str = ""
    app_token: str = ""
    signing_secret: str = ""
    events_url: str = ""
    interactions_url: str = ""
    commands_url: str = ""
    scopes: Words | None = None
    events: Words | None = None
    commands: Words = ()
    shortcuts: Annotated[tuple[ShortcutSpec, ...], _LIST] = ()
    agent: bool = True
    org_wide: bool = False
    manifest: str = ""


class PersonSpec(Section):
    """A person. `team` is another company's, for a stranger; a `guest` is of several channels or of a single one."""

    name: Text
    id: Annotated[str, StringConstraints(pattern=r"^([UW][A-Z0-9]+)?$")] = ""
    email: str = ""
    role: Literal["member", "customer", "operator", "admin"] = "member"
    locale: Text = "en-US"
    guest: Literal["no", "multi", "single"] = "no"
    team: Annotated[str, StringConstraints(pattern=r"^(T[A-Z0-9]+)?$")] = ""
    company: str = ""
    deactivated: bool = False


class ChannelSpec(Section):
    """A channel. Without `members` everybody is in it who is no guest and of no other company, and every bot."""

    name: Text
    id: Annotated[str, StringConstraints(pattern=r"^([CG][A-Z0-9]+)?$")] = ""
    private: bool = False
    archived: bool = False
    topic: str = ""
    members: Words | None = None
    shared_with: Words = ()


class GroupSpec(Section):
    """A user group."""

    handle: Text
    id: Annotated[str, StringConstraints(pattern=r"^(S[A-Z0-9]+)?$")] = ""
    members: Words = ()


class WorldFile(Section):
    """Every key that the file may hold."""

    team: TeamSpec = Field(default_factory=TeamSpec)
    apps: Annotated[tuple[AppSpec, ...], _LIST] = ()
    people: Annotated[tuple[PersonSpec, ...], Field(min_length=1), _LIST]
    channels: Annotated[tuple[ChannelSpec, ...], _LIST] = ()
    groups: Annotated[tuple[GroupSpec, ...], _LIST] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """What a file describes: the world, and where those apps are that want to be reached over HTTP."""

    world: World
    request_urls: Mapping[str, RequestUrls] = field(default_factory=dict)


def read_world(path: Path) -> Described:
    """Return what the file describes; raise SettingsError with file, line and key of everything that is wrong in it."""
    file = read_yaml(path)
    specs = checked(WorldFile, file)
    wrong = [*wrong_bots(file, specs.apps), *wrong_channels(file, specs.channels)]
    refuse_any([*wrong, *_no_manifests(file, path, specs)])
    manifests = [_manifest(path, spec) for spec in specs.apps]
    apps = _apps(specs, manifests)
    people = _people(specs)
    names = _Names(file, [*apps, *people])
    channels = tuple(
        Channel(
            id=spec.id or f"C{number:02}{_upper(spec.name)}",
            name=spec.name.removeprefix("#"),
            private=spec.private,
            archived=spec.archived,
            topic=spec.topic,
            members=names.ids(spec.members, ("channels", number, "members"), default=[*_colleagues(people), *apps]),
            shared_with=spec.shared_with,
        )
        for number, spec in enumerate(specs.channels)
    )
    groups = tuple(
        UserGroup(
            id=spec.id or f"S{number:02}{_upper(spec.handle)}",
            handle=spec.handle,
            members=names.ids(spec.members, ("groups", number, "members")),
        )
        for number, spec in enumerate(specs.groups)
    )
    names.check(crowded_guests(file, people, channels))
    world = World(app=apps[0], more_apps=tuple(apps[1:]), channels=channels, groups=groups)
    dms = tuple(dm_of(person.id, apps[0]) for person in people if not person.deactivated)
    world = replace(world, members=tuple(people), channels=(*channels, *dms))
    return Described(world=world, request_urls=_urls(specs, apps, manifests))


def _no_manifests(file: YamlFile, path: Path, specs: WorldFile) -> Iterator[Problem]:
    for number, spec in enumerate(specs.apps):
        if spec.manifest and not (path.parent / spec.manifest).is_file():
            text = f"there is no file {spec.manifest!r} in the folder of this one; put it there, or leave manifest out"
            yield file.problem(("apps", number, "manifest"), text)


def _manifest(path: Path, spec: AppSpec) -> Mapping[str, Any]:
    """Return the app's manifest, {} where it has none."""
    if not spec.manifest:
        return {}
    data = read_yaml(path.parent / spec.manifest).data
    return data if isinstance(data, dict) else {}


def _apps(specs: WorldFile, manifests: Sequence[Mapping[str, Any]]) -> list[App]:
    apps = _described_apps(specs)
    for at, manifest in enumerate(manifests):
        if manifest:
            apps[at] = app_of_manifest(manifest, apps[at])
    return apps


def _described_apps(specs: WorldFile) -> list[App]:
    team = specs.team
    return [
        App(
            team=team.id,
            team_name=team.name,
            domain=team.domain,
            enterprise=team.enterprise,
            org_wide=spec.org_wide,
            id=spec.id or f"A0APP{number}",
            bot=spec.bot or f"B0APP{number}",
            user=spec.user or f"U0APP{number}",
            name=spec.name,
            bot_token=spec.bot_token or f"xoxb-local-{number}",
            app_token=spec.app_token or f"xapp-local-{number}",
            signing_secret=spec.signing_secret or f"local-signing-secret-{number}",
            scopes=spec.scopes,
            events=spec.events,
            commands=spec.commands,
            shortcuts=tuple(Shortcut(**one.model_dump()) for one in spec.shortcuts),
            agent=spec.agent,
        )
        for number, spec in enumerate(specs.apps or (AppSpec(name="Bot"),), start=1)
    ]


def _people(specs: WorldFile) -> list[Member]:
    own = specs.team.id
    return [
        Member(
            id=spec.id or f"U{number:02}{_upper(spec.name)}",
            name=spec.name,
            email=spec.email,
            role=spec.role,
            locale=spec.locale,
            team=spec.team if spec.team != own else "",
            company=spec.company,
            stranger=spec.team not in ("", own),
            guest=spec.guest == "multi",
            single_channel_guest=spec.guest == "single",
            deactivated=spec.deactivated,
        )
        for number, spec in enumerate(specs.people)
    ]


def _colleagues(people: Iterable[Member]) -> list[Member]:
    outside = [one for one in people if one.stranger or one.guest or one.single_channel_guest or one.deactivated]
    return [one for one in people if one not in outside]


def _urls(specs: WorldFile, apps: Sequence[App], manifests: Sequence[Mapping[str, Any]]) -> dict[str, RequestUrls]:
    """Return where apps want to be reached over HTTP: as the file says, otherwise as their manifests do."""
    urls: dict[str, RequestUrls] = {}
    for app, spec, manifest in zip(apps, specs.apps, manifests, strict=False):
        written = RequestUrls(spec.events_url, spec.interactions_url, spec.commands_url) if spec.events_url else None
        found = written or urls_of_manifest(manifest)
        if found is not None:
            urls[app.id] = found
    return urls


def _upper(name: str) -> str:
    return re.sub(r"[^A-Z0-9]", "", name.upper()) or "X"


class _Names:
    """Finds people and bots by id or name, and remembers who could not be found."""

    def __init__(self, file: YamlFile, known: Sequence[Member | App]) -> None:
        self._file = file
        self._problems: list[Problem] = []
        self._ids = {one.name.casefold(): _id_of(one) for one in known} | {_id_of(one): _id_of(one) for one in known}
        self._shared = {name for name, count in Counter(one.name.casefold() for one in known).items() if count > 1}
        if len({_id_of(one) for one in known}) < len(known):
            self._problems.append(file.problem(("people",), "two people or bots have the same id"))

    def ids(
        self, references: Sequence[str] | None, place: KeyPath, default: Sequence[Member | App] = ()
    ) -> tuple[str, ...]:
        """Return the ids behind names or ids; those of `default` where there is no list."""
        if references is None:
            return tuple(_id_of(one) for one in default)
        found = [self._ids.get(one) or self._ids.get(one.removeprefix("@").casefold(), "") for one in references]
        for number, (reference, id_) in enumerate(zip(references, found, strict=True)):
            if id_ != reference and reference.removeprefix("@").casefold() in self._shared:
                text = f"there are two of the name {reference!r}; say which by an id"
                self._problems.append(self._file.problem((*place, number), text))
            if not id_:
                text = f"nobody here has the name or id {reference!r}"
                self._problems.append(self._file.problem((*place, number), text))
        return tuple(dict.fromkeys(found))

    def check(self, more: Iterable[Problem] = ()) -> None:
        """Raise SettingsError when somebody could not be found, or there are more problems."""
        refuse_any([*self._problems, *more])


def _id_of(one: Member | App) -> str:
    return one.user if isinstance(one, App) else one.id
