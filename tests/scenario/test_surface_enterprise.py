"""An app of a whole enterprise: W… users, E… in the place of teams, no team in interactions; in both modes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from hermes_bot.edge.manifest import SHORTCUT_EXPLAIN
from hermes_bot.workspace.people import Member, World
from tests.scenario.acts import command, home, shortcut
from tests.scenario.cases import approval_of, playing, small, told
from tests.scenario.field import Json, courier_of, deliver, held, tickets_of
from tests.scenario.in_both_modes import MODES
from tests.scenario.stage import APPROVE, HANDOFF, OMAR, SUPPORT, Stage, ask_for_refund, paid_once

pytestmark = pytest.mark.asyncio(loop_scope="module")

OLGA, EMMA, SISTER = "W0OLGA", "W0EMMA", "W0SISTER"
ENTERPRISE, TEAM = "E0ACME", "T0HERMES"


def enterprise(world: World) -> World:
    """Return the world as a team of an enterprise, with an operator, a customer and somebody of a sister team."""
    emma = next(each for each in world.members if each.id == "U0EMMA")
    people = (
        Member(id=OLGA, name="Olga Petrova", email="olga@example.com", role="operator"),
        Member(id=SISTER, name="Sis Ter", email="li.na@example.com", role="operator", team="T0SISTER"),
        Member(id=EMMA, name="Emma Fischer", email=emma.email, role="customer"),
    )
    ids = tuple(each.id for each in people)
    world = world.with_people(people, channels=[SUPPORT, HANDOFF])
    groups = tuple(replace(each, members=(*each.members, OLGA, SISTER)) for each in world.groups)
    app = replace(world.app, enterprise=ENTERPRISE, org_wide=True)
    assert all(f"D{each[1:]}" in {channel.id for channel in world.channels} for each in ids)
    return replace(world, app=app, groups=groups)


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=MODES)
async def stage(
    request: pytest.FixtureRequest, vectors: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stage]:
    async with playing(request.param, tmp_path_factory.mktemp("enterprise"), vectors, shaped=enterprise) as stage:
        yield stage


@contextmanager
def pressed_in(stage: Stage, team: str | None) -> Iterator[None]:
    """Let interactions name this team as that of whoever pressed."""
    courier = courier_of(stage)
    send = courier.send_interaction

    async def changed(payload: Json, *, answerable: bool) -> Json:
        return await send(payload | {"user": payload["user"] | {"team_id": team}}, answerable=answerable)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(courier, "send_interaction", changed)
        yield


def of_enterprise(body: Json, **wrapper: Any) -> Json:
    """Return an event as Slack may send it: the enterprise in the place of each team."""
    event = body["event"] | {"team": ENTERPRISE, "user_team": ENTERPRISE}
    authorization = body["authorizations"][0] | {"team_id": None}
    return body | {"team_id": ENTERPRISE, "authorizations": [authorization], "event": event, **wrapper}


async def test_a_customer_of_the_enterprise_is_known_by_their_address(stage: Stage) -> None:
    talk = await stage.say(EMMA, SUPPORT, "Where is my order 10002?")
    assert "on its way to you" in await stage.answer(talk)
    await stage.quiet()

    assert [(each["team"], each["requester"]) for each in tickets_of(stage, talk)] == [(TEAM, EMMA)]
    assert "10002" in await command(stage, EMMA, "tickets")


@pytest.mark.parametrize("wrapper", [{}, {"context_team_id": ENTERPRISE}, {"context_team_id": None}])
async def test_events_that_name_the_enterprise_are_of_our_team(stage: Stage, wrapper: Json) -> None:
    with held(stage) as bodies:
        talk = await stage.say(EMMA, SUPPORT, "Where is my order 10002?")
    deliver(stage, *[of_enterprise(body, **wrapper) for body in bodies])
    assert "on its way to you" in await stage.answer(talk)
    with held(stage) as bodies:
        await stage.say(OLGA, SUPPORT, "I am looking into this", talk.root)
    deliver(stage, *[of_enterprise(body, **wrapper) for body in bodies])
    await stage.until(lambda: stage.whispers(OLGA, "You wrote in the thread"))  # she works here

    assert [(each["team"], each["requester"]) for each in tickets_of(stage, talk)] == [(TEAM, EMMA)]


@pytest.mark.parametrize("team", [TEAM, ENTERPRISE, None])
async def test_an_approver_of_the_enterprise_presses_without_a_team_or_with_the_enterprises(
    stage: Stage, team: str | None
) -> None:
    buyer = small(stage)
    talk, card = await ask_for_refund(stage, buyer)
    with pressed_in(stage, team):
        assert (await stage.click(OLGA, card, APPROVE)).ok

    await paid_once(stage, buyer, talk, card)


@pytest.mark.parametrize("team", ["E0OTHER", "T0SISTER", "T9OTHER"])
async def test_somebody_of_another_enterprise_or_team_approves_nothing(stage: Stage, team: str) -> None:
    buyer = small(stage)
    talk, card = await ask_for_refund(stage, buyer)
    with pressed_in(stage, team):
        await stage.click(OLGA, card, APPROVE)
    with pressed_in(stage, ENTERPRISE):
        await stage.click(SISTER, card, APPROVE)  # of the enterprise, and not of our team
    audit = approval_of(card)
    await stage.until(lambda: {("refused", OLGA), ("refused", SISTER)} <= set(told(stage.data, audit)))
    await stage.quiet()

    assert stage.refunds(buyer) == 0
    assert (await stage.click(OMAR, card, APPROVE)).ok
    await paid_once(stage, buyer, talk, card)


async def test_commands_shortcuts_and_home_know_the_operator_of_the_enterprise(stage: Stage) -> None:
    buyer = small(stage)
    talk, card = await ask_for_refund(stage, buyer)
    ts = await stage.workspace.post(EMMA, SUPPORT, "Where is my parcel?")

    assert "approve APR" in await command(stage, OLGA, "help")
    assert "people of this company" in await command(stage, SISTER, "help")
    with pressed_in(stage, ENTERPRISE):
        assert "route 'order'" in await shortcut(stage, OLGA, SHORTCUT_EXPLAIN, SUPPORT, ts)
    await home(stage, OLGA, buyer.order.id)
    await home(stage, SISTER, "people of this company")
    assert (await stage.click(OLGA, card, APPROVE)).ok
    await paid_once(stage, buyer, talk, card)


async def test_a_customer_of_a_sister_team_has_no_orders_here(stage: Stage) -> None:
    talk = await stage.say(SISTER, SUPPORT, "Where is my order 10008?")
    answer = await stage.answer(talk)
    await stage.quiet()

    assert "on its way" not in answer
