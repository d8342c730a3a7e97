"""People and groups as Slack knows them, kept for a minute unless somebody must be sure."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from hermes_bot.edge.directory import SlackDirectory, _person
from hermes_bot.edge.slack_api import SlackApi, web_client
from hermes_bot.errors import SlackRefused, TransientError
from hermes_bot.people import Person, Roles
from hermes_bot.workspace.faults import RateLimited, ServerError
from hermes_bot.workspace.server import WorkspaceServer


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 11, 30, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def time() -> Clock:
    return Clock()


@pytest.fixture
def directory(workspace: WorkspaceServer, time: Clock) -> SlackDirectory:
    return SlackDirectory(SlackApi(web_client(workspace.world.app.bot_token, workspace.api_url)), clock=time)


def rename(workspace: WorkspaceServer, name: str) -> None:
    roster = workspace.workspace.roster
    roster.put_member(replace(roster.member("U0LINA"), name=name))


async def test_a_person_has_name_address_and_language(directory: SlackDirectory) -> None:
    assert await directory.person("T0HERMES", "U0LINA") == Person(
        team="T0HERMES", id="U0LINA", name="李娜 (Li Na)", email="li.na@example.com", locale="zh-CN"
    )


async def test_a_look_up_is_kept_for_a_minute_unless_it_must_be_fresh(
    workspace: WorkspaceServer, directory: SlackDirectory, time: Clock
) -> None:
    await directory.person("T0HERMES", "U0LINA")
    rename(workspace, "One")

    kept = (await directory.person("T0HERMES", "U0LINA")).name
    fresh = (await directory.person("T0HERMES", "U0LINA", fresh=True)).name
    rename(workspace, "Two")
    time.now += timedelta(seconds=61)
    later = (await directory.person("T0HERMES", "U0LINA")).name

    assert (kept, fresh, later) == ("李娜 (Li Na)", "One", "Two")


async def test_guests_strangers_and_the_deactivated_are_told_apart(
    workspace: WorkspaceServer, directory: SlackDirectory
) -> None:
    roster = workspace.workspace.roster
    emma = roster.member("U0EMMA")
    for user, change in {
        "U1": {"guest": True},
        "U2": {"deactivated": True},
        "U3": {"stranger": True, "team": "T9"},
    }.items():
        roster.put_member(replace(emma, id=user, **change))  # type: ignore[arg-type]  # fields of Member

    people = [await directory.person("T0HERMES", user) for user in ("U1", "U2", "U3")]

    assert [(one.guest, one.deactivated, one.stranger) for one in people] == [
        (True, False, False),
        (False, True, False),
        (False, False, True),
    ]
    assert people[2].team == "T9"


def test_in_an_enterprise_a_person_is_of_our_team_where_it_is_among_theirs() -> None:
    raw = {"id": "W1", "team_id": "E0ACME", "enterprise_user": {"id": "W1", "teams": ["T0HERMES", "T0SISTER"]}}

    people = [_person(raw, team, "W1") for team in ("T0HERMES", "T0SISTER", "T0OTHER")]

    assert [person.team for person in people] == ["T0HERMES", "T0SISTER", "E0ACME"]
    assert _person({}, "T0HERMES", "U1") == Person(team="T0HERMES", id="U1", name="U1")


async def test_an_address_that_its_owner_has_not_confirmed_is_none(
    workspace: WorkspaceServer, directory: SlackDirectory
) -> None:
    roster = workspace.workspace.roster
    roster.put_member(replace(roster.member("U0EMMA"), unconfirmed=True))

    assert (await directory.person("T0HERMES", "U0EMMA")).email == ""


async def test_an_unknown_person_or_group_is_refused(directory: SlackDirectory) -> None:
    with pytest.raises(SlackRefused, match="user_not_found"):
        await directory.person("T0HERMES", "U0NOBODY")
    with pytest.raises(SlackRefused, match="no_such_subteam"):
        await directory.group_members("S0NOBODY")


@pytest.mark.parametrize("fault", [RateLimited(), ServerError()])
async def test_a_slack_that_does_not_answer_is_transient(
    workspace: WorkspaceServer, directory: SlackDirectory, fault: RateLimited | ServerError
) -> None:
    workspace.faults.add(method="users.info", fault=fault)

    with pytest.raises(TransientError):
        await directory.person("T0HERMES", "U0EMMA")


async def test_roles_are_decided_by_group_membership_of_the_moment(
    workspace: WorkspaceServer, directory: SlackDirectory
) -> None:
    roles = Roles(directory, team="T0HERMES")
    roster = workspace.workspace.roster

    before = await roles.includes(("S0APPROVERS",), "T0HERMES", "U0OMAR")
    roster.put_group(replace(roster.group("S0APPROVERS"), members=("U0OLIVIA",)))
    after = await roles.includes(("S0APPROVERS",), "T0HERMES", "U0OMAR")

    assert (before, after) == (True, False)
