"""`/hermes` typed wrongly, by those who may not, from anywhere, and while something is broken; in both modes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from hermes_bot.bus.bus import Bus
from hermes_bot.bus.port import Delivery
from hermes_bot.edge import listeners
from hermes_bot.edge.command_acts import ACTS
from hermes_bot.edge.manifest import COMMAND
from hermes_bot.edge.responder import Responder
from hermes_bot.errors import StoreError
from hermes_bot.store.preferences import Preferences
from hermes_bot.workspace.people import Channel
from tests.scenario.acts import command, next_word
from tests.scenario.cases import playing
from tests.scenario.field import ticket_count, tickets_of
from tests.scenario.in_both_modes import MODES
from tests.scenario.stage import ADA, OMAR, SUPPORT, Buyer, Stage, Talk

pytestmark = pytest.mark.asyncio(loop_scope="module")

LINA, SECRET = "U0LINA", "C0SECRET"


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=MODES)
async def stage(
    request: pytest.FixtureRequest, vectors: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stage]:
    async with playing(request.param, tmp_path_factory.mktemp("commands"), vectors) as stage:
        members = ("U0EMMA", LINA, OMAR, ADA)
        stage.workspace.roster.put_channel(Channel(id=SECRET, name="secret", private=True, members=members))
        yield stage


async def with_a_person(stage: Stage) -> tuple[Buyer, Talk, str]:
    """Return a customer, what they said, and their ticket, which waits for a person."""
    buyer = stage.next_buyer()
    talk = await stage.say(buyer.user, SUPPORT, "Can I talk to a person?")
    await stage.answer(talk)
    await stage.quiet()
    (ticket,) = tickets_of(stage, talk)
    return buyer, talk, f"T-{ticket['number']}"


def stands(stage: Stage, talk: Talk) -> list[object]:
    """Return how the ticket stands, but for what time alone changes."""
    (ticket,) = tickets_of(stage, talk)
    return [ticket[name] for name in ("owner", "status", "assignee", "priority", "route", "rating", "held_by")]


@pytest.mark.parametrize("verb", sorted(ACTS))
async def test_an_act_without_its_object_is_answered_with_how_it_is_written(stage: Stage, verb: str) -> None:
    said = await command(stage, OMAR, verb)

    assert f"/hermes {verb} " in said
    assert "like this" in said


@pytest.mark.parametrize(
    "written, told",
    [
        ("assign {} somebody", "/hermes assign T-12 @name"),
        ("priority {} soon", "/hermes priority T-12 high (or low, normal, urgent)"),
        ("reply {}", "/hermes reply T-12"),
        ("wrong {}", "/hermes wrong T-12"),
        ("route", "/hermes route"),
        ("memory of Emma", "/hermes memory mine"),
        ("language klingon", "/hermes language en, zh or auto"),
        ("claim T-99999", "/hermes tickets"),
        ("solve nonsense", "/hermes tickets"),
        ("stop T-99999", "/hermes tickets"),
        ("rate {} up", "no request of yours"),
        ("approve APR-0", "/hermes approvals"),
        ("approve APR-0 12345678", "/hermes approvals"),
        ("edit nonsense nonsense nonsense", "/hermes approvals"),
        ("dance", "/hermes"),
        ("dance wildly " + "x" * 3_000, "I don't know that command"),
    ],
)
async def test_what_is_written_wrongly_is_answered_with_the_remedy_and_does_nothing(
    stage: Stage, written: str, told: str
) -> None:
    _, talk, ticket = await with_a_person(stage)
    before = stands(stage, talk)

    said = await command(stage, OMAR, written.format(ticket))
    await stage.quiet()

    assert told in said
    assert stands(stage, talk) == before


@pytest.mark.parametrize(
    "written, told",
    [
        ("跳舞", "我不认识这个命令"),
        ("rate", "请这样写"),
        ("stop T-99999", "/hermes tickets 会显示你的请求"),
        ("语言 法语", "/hermes language"),
        ("记忆 小明", "/hermes memory mine"),
        ("route 在哪里", "客服团队"),
        ("claim T-1", "客服团队"),
        ("审批", "审批人"),
        ("建议", "管理员"),
        ("工单\u3000全部", "请求"),
        ("帮助\n", "你可以用 /hermes 做这些事"),
    ],
)
async def test_who_speaks_chinese_is_answered_in_chinese(stage: Stage, written: str, told: str) -> None:
    assert told in await command(stage, LINA, written)


async def test_three_thousand_characters_are_read_and_answered_within_the_limits(stage: Stage) -> None:
    words = "where is my parcel & why <not> here " * 85

    assert "route '" in await command(stage, OMAR, f'route "{words}"')
    assert "memory mine" in await command(stage, "U0EMMA", "x" * 3_000)
    assert "&amp;amp;" not in repr(stage.workspace.ephemerals(OMAR)[-1])


async def test_another_persons_ticket_is_neither_stopped_nor_rated_nor_told_from_none(stage: Stage) -> None:
    _, talk, ticket = await with_a_person(stage)
    other, before = stage.next_buyer(), stands(stage, talk)
    told = [
        await command(stage, other.user, text)
        for text in (f"stop {ticket}", f"rate {ticket} up", "stop T-99999", "rate T-99999 up")
    ]
    await stage.quiet()

    assert len(set(told)) == 1
    assert "no request of yours" in told[0]
    assert stands(stage, talk) == before


async def test_proposals_are_listed_and_declined_by_text_alone(stage: Stage) -> None:
    buyer = stage.next_buyer()
    talk = await stage.say(buyer.user, SUPPORT, "The colour of my lamp looks wrong, let a human see to it")
    await stage.answer(talk)
    (ticket,) = tickets_of(stage, talk)
    assert "No change of the routes" in await command(stage, ADA, "proposals")
    assert "Only admins" in await command(stage, "U0EMMA", "proposals")
    assert "passed it on" in await command(stage, OMAR, f"wrong T-{ticket['number']} refund")
    await stage.quiet()
    listed = await command(stage, ADA, "proposals")
    typed = listed.splitlines()[-1].strip().removeprefix("/hermes ")

    assert "passed it on" in await command(stage, ADA, typed.replace("accept", "decline"))
    await stage.quiet()
    assert "No change of the routes" in await command(stage, ADA, "proposals")


async def test_who_wrote_in_a_thread_lets_the_bot_go_on_by_text(stage: Stage) -> None:
    buyer = stage.next_buyer()
    talk = await stage.say(buyer.user, SUPPORT, f"Where is my order {buyer.order.id}?")
    await stage.answer(talk)
    before = len(stage.whispers(OMAR, "You wrote in the thread"))
    await stage.say(OMAR, SUPPORT, "Let me see", talk.root)
    await stage.until(lambda: len(stage.whispers(OMAR, "You wrote in the thread")) > before)
    (ticket,) = tickets_of(stage, talk)
    assert ticket["held_by"] == OMAR

    assert "passed it on" in await command(stage, OMAR, f"continue T-{ticket['number']}")
    await stage.quiet()
    (ticket,) = tickets_of(stage, talk)
    assert (ticket["held_by"], ticket["owner"]) == ("", "bot")


async def test_an_act_from_where_the_bot_is_not_is_told_in_a_direct_message_when_it_comes_too_late(
    stage: Stage,
) -> None:
    _, talk, ticket = await with_a_person(stage)
    await command(stage, OMAR, f"claim {ticket}", SECRET)
    assert "has taken over" in await stage.answer(talk, 2)

    await command(stage, OMAR, f"claim {ticket}", SECRET)
    await stage.until(lambda: "already" in repr(stage.workspace.messages("D0OMAR")))
    await stage.quiet()
    assert len(stage.replies(talk)) == 2


@pytest.mark.parametrize("channel, direct", [(SUPPORT, False), (SECRET, True)])
async def test_where_the_response_url_takes_nothing_more_the_person_is_answered_otherwise(
    stage: Stage, channel: str, direct: bool
) -> None:
    alone, messages = len(stage.workspace.ephemerals(OMAR)), len(stage.workspace.messages("D0OMAR"))

    async def used_up(*_arguments: object, **_more: object) -> bool:
        return False

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Responder, "say", used_up)
        assert (await stage.workspace.command(OMAR, channel, COMMAND, "status")).ok
        if direct:
            await stage.until(lambda: len(stage.workspace.messages("D0OMAR")) > messages)
            said = stage.workspace.messages("D0OMAR")[-1]["text"]
        else:
            said = await next_word(stage, OMAR, alone)
        await stage.quiet()

    assert "Open tickets" in said


async def test_while_the_bus_is_full_the_person_is_told_before_slack_gives_up(stage: Stage) -> None:
    before, tickets = len(stage.workspace.ephemerals("U0EMMA")), ticket_count(stage)

    def full(_bus: Bus, delivery: Delivery) -> bool:
        return delivery.message.type == "command.given"

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Bus, "_full", full)
        patch.setattr(listeners, "ANSWER_WITHIN_S", 0.6)  # a machine with much to do takes long for the rest
        outcome = await stage.workspace.command("U0EMMA", SUPPORT, COMMAND, "tickets")
        assert outcome.ok
        said = await next_word(stage, "U0EMMA", before)
    await stage.quiet()

    assert "do it again" in said
    assert len(stage.workspace.ephemerals("U0EMMA")) == before + 1
    assert ticket_count(stage) == tickets


async def test_while_the_store_is_down_the_person_is_told_that_nothing_came_of_it(stage: Stage) -> None:
    before = len(stage.workspace.ephemerals("U0EMMA"))

    async def down(*_arguments: object) -> str:
        raise StoreError("no store today")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Preferences, "language", down)
        assert (await stage.workspace.command("U0EMMA", SUPPORT, COMMAND, "tickets")).ok
        said = await next_word(stage, "U0EMMA", before)

    assert "please try again in a minute" in said
    await stage.quiet()
    assert len(stage.workspace.ephemerals("U0EMMA")) == before + 1
    assert "request" in await command(stage, "U0EMMA", "tickets")
