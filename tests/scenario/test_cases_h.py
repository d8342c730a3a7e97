"""Field cases of kind H, who may approve and who may use: H1, H3, H6, and their like; in both modes."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from hermes_bot import settings
from hermes_bot.errors import SettingsError
from hermes_bot.workspace.faults import ApiError, ServerError
from hermes_bot.workspace.server import WorkspaceServer
from tests.scenario.bot_process import environment
from tests.scenario.cases import GONE, GUEST, SHARED, STRANGER, approval_of, change, playing, small, told
from tests.scenario.stage import (
    ADA,
    APPROVE,
    HANDOFF,
    OLIVIA,
    OMAR,
    SUPPORT,
    Stage,
    ask_for_refund,
    key_of,
    paid_once,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["socket", "http"])
async def stage(
    request: pytest.FixtureRequest, vectors: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stage]:
    async with playing(request.param, tmp_path_factory.mktemp("h"), vectors) as stage:
        yield stage


async def test_h1_without_approvers_the_start_is_refused(tmp_path: Path) -> None:
    async with WorkspaceServer() as server:
        variables = environment(server, tmp_path, HERMES_APPROVALS__APPROVERS="[]")

        with pytest.raises(SettingsError, match=r"approvals\.approvers is empty"):
            settings.load(None, variables, folder=tmp_path)


async def test_h1_approvers_who_are_all_gone_let_nothing_run(stage: Stage) -> None:
    buyer = small(stage)
    group = stage.workspace.roster.group("S0APPROVERS")
    talk, card = await ask_for_refund(stage, buyer)
    stage.workspace.roster.put_group(replace(group, members=()))

    await stage.click(OMAR, card, APPROVE)

    await stage.until(lambda: stage.whispers(OMAR, "can be decided only by the approvers"))
    await stage.quiet()
    stage.workspace.roster.put_group(group)
    assert stage.refunds(buyer) == 0
    assert stage.now(card) == card
    await stage.click(OMAR, card, APPROVE)
    await paid_once(stage, buyer, talk, card)


@pytest.mark.parametrize("user", [GUEST, ADA])
async def test_h_who_is_a_guest_or_no_approver_is_refused_in_private_and_told_who_may(stage: Stage, user: str) -> None:
    buyer = small(stage)
    _, card = await ask_for_refund(stage, buyer)
    before = len(stage.whispers(user, "can be decided only by"))

    await stage.click(user, card, APPROVE)

    await stage.until(lambda: len(stage.whispers(user, "can be decided only by")) == before + 1)
    await stage.quiet()
    said = stage.whispers(user, "can be decided only by")[-1]
    assert "Omar Haddad" in said
    assert "Olivia Brandt" in said
    assert stage.now(card) == card
    assert stage.refunds(buyer) == 0


async def test_h6_a_refused_click_leaves_the_card_and_is_one_row_of_the_audit(stage: Stage) -> None:
    buyer = small(stage)
    _, card = await ask_for_refund(stage, buyer)

    await stage.click(ADA, card, APPROVE)

    await stage.until(lambda: ("refused", ADA) in told(stage.data, approval_of(card)))
    await stage.quiet()
    assert told(stage.data, approval_of(card)) == [("requested", buyer.user), ("refused", ADA)]
    assert stage.now(card) == card


async def test_h_who_was_deactivated_since_does_not_approve(stage: Stage) -> None:
    buyer = small(stage)
    _, card = await ask_for_refund(stage, buyer)
    olivia = stage.workspace.roster.member(OLIVIA)
    outcome = None
    try:
        outcome = await stage.click(OLIVIA, card, "approval:ask")
        stage.workspace.roster.put_member(replace(olivia, deactivated=True))
        view = stage.workspace.modals(OLIVIA)[-1]["id"]
        await stage.workspace.submit(OLIVIA, view, {"question": {"question": "Why?"}})
        await stage.until(lambda: ("refused", OLIVIA) in told(stage.data, approval_of(card)))
    finally:
        stage.workspace.roster.put_member(olivia)
    await stage.quiet()

    assert outcome is not None
    assert stage.now(card) == card


async def test_h_while_slack_does_not_say_who_somebody_is_nothing_is_approved(stage: Stage) -> None:
    buyer = small(stage)
    talk, card = await ask_for_refund(stage, buyer)
    stage.server.faults.add(method="usergroups.users.list", fault=ServerError())

    await stage.click(OMAR, card, APPROVE)

    await stage.until(lambda: stage.whispers(OMAR, "could not confirm"))
    await stage.quiet()
    assert stage.refunds(buyer) == 0
    await stage.click(OMAR, card, APPROVE)
    await paid_once(stage, buyer, talk, card)


async def test_h3_a_strangers_words_in_a_shared_channel_open_nothing_and_are_a_customers(stage: Stage) -> None:
    talk = await stage.say(STRANGER, SHARED, "I want a refund for order 10001")

    await stage.answer(talk)
    await stage.quiet()
    assert [card for card in stage.cards("approval", "10001") if card.channel == SHARED] == []
    assert stage.whispers(STRANGER, "approve") == []


async def test_h3_a_card_never_stands_in_a_shared_channel_and_a_strangers_click_counts_nothing(stage: Stage) -> None:
    buyer = small(stage)
    talk, card = await ask_for_refund(stage, buyer, SHARED)
    roster = stage.workspace.roster
    handoff = roster.channel(HANDOFF)
    roster.put_channel(replace(handoff, members=(*handoff.members, STRANGER)))

    await stage.click(STRANGER, card, APPROVE)

    await stage.until(lambda: ("refused", STRANGER) in told(stage.data, approval_of(card)))
    await stage.quiet()
    roster.put_channel(handoff)
    assert card.channel == HANDOFF
    assert stage.refunds(buyer) == 0
    assert [post for post in stage.workspace.posts.all() if post.channel == SHARED and "approval" in key_of(post)] == []
    await stage.click(OMAR, card, APPROVE)
    await paid_once(stage, buyer, talk, card)


async def test_h_a_guest_can_neither_change_nor_ask(stage: Stage) -> None:
    buyer = small(stage)
    _, card = await ask_for_refund(stage, buyer)
    before = len(stage.whispers(GUEST, "can be decided only by"))

    await change(stage, GUEST, card, amount_cents="1")

    await stage.until(lambda: len(stage.whispers(GUEST, "can be decided only by")) == before + 1)
    await stage.quiet()
    assert stage.now(card) == card
    assert ("refused", GUEST) in told(stage.data, approval_of(card))


async def test_h_a_rule_about_no_tool_is_refused_with_its_place(tmp_path: Path, vectors: Path) -> None:
    rules = json.dumps([{"tool": "isue_refund", "needed": 2}])

    with pytest.raises(SettingsError, match="did you mean 'issue_refund'"):
        async with playing("socket", tmp_path, vectors, more={"HERMES_APPROVALS__RULES": rules}):
            pass


async def test_h_nobody_who_left_is_named_among_those_who_may(stage: Stage) -> None:
    buyer = small(stage)
    _, card = await ask_for_refund(stage, buyer)

    await stage.click(buyer.user, card, APPROVE)

    await stage.until(lambda: stage.whispers(buyer.user, "can be decided only by"))
    names = stage.whispers(buyer.user, "can be decided only by")[-1]
    assert stage.workspace.roster.member(GONE).name not in names
    assert "Gast" not in names
    assert card.channel == SUPPORT


async def test_h_who_has_left_the_group_since_does_not_approve(stage: Stage) -> None:
    buyer, group = small(stage), stage.workspace.roster.group("S0APPROVERS")
    _, card = await ask_for_refund(stage, buyer)
    stage.workspace.roster.put_group(replace(group, members=tuple(each for each in group.members if each != OMAR)))

    await stage.click(OMAR, card, APPROVE)

    await stage.until(lambda: ("refused", OMAR) in told(stage.data, approval_of(card)))
    await stage.quiet()
    stage.workspace.roster.put_group(group)
    assert stage.refunds(buyer) == 0
    assert stage.now(card) == card


@pytest.mark.parametrize(
    "method, error",
    [
        ("usergroups.users.list", "no_such_subteam"),
        ("usergroups.users.list", "missing_scope"),
        ("users.info", "user_not_found"),
    ],
)
async def test_h_whatever_slack_refuses_to_say_of_somebody_nothing_runs(stage: Stage, method: str, error: str) -> None:
    buyer = small(stage)
    _, card = await ask_for_refund(stage, buyer)
    stage.server.faults.add(method=method, fault=ApiError(error), times=5)

    await stage.click(OMAR, card, APPROVE)

    await stage.until(lambda: ("refused", OMAR) in told(stage.data, approval_of(card)))
    await stage.quiet()
    stage.server.faults.clear()
    assert stage.refunds(buyer) == 0
    assert stage.now(card) == card
