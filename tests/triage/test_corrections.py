"""From a correction to a line in the routes file: once, without personal data, by admins alone."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from hermes_bot.errors import PermanentError, SettingsError
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import (
    PROPOSAL_CLICKED,
    PROPOSAL_MADE,
    PROPOSAL_SETTLED,
    REPLY_READY,
    ROUTE_CORRECTED,
    Audience,
    ProposalClicked,
    Reply,
    RouteCorrected,
    fields_of,
    read,
)
from hermes_bot.triage.corrections import Corrections
from hermes_bot.triage.desk import TriageDesk
from hermes_bot.triage.proposal import Proposal, ProposalStatus
from hermes_bot.triage.proposals import Proposals
from hermes_bot.triage.routes_lock import routes_lock
from tests.triage.conftest import NOON, ROUTES, TEAM, People, Told, delivery


def content(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def save(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")


def remove(file: Path) -> None:
    file.unlink()


async def suggested(corrections: Corrections, **more: str) -> Proposal:
    given = {"key": "k1", "ticket_id": "T-1", "route": "refund", "by": "U0OMAR"}
    return await corrections.suggest(**given | more)


async def test_a_suggestion_is_the_customers_words_without_personal_data(corrections: Corrections) -> None:
    proposal = await suggested(corrections)

    assert proposal.utterance == "here: reimburse order 1234, call"
    assert (proposal.route_was, proposal.route, proposal.suggested_at) == ("order", "refund", NOON)
    assert '+        - "here: reimburse order 1234, call"' in proposal.lines
    assert proposal.effect.endswith(" bytes")


async def test_the_same_correction_twice_is_one_suggestion(corrections: Corrections, proposals: Proposals) -> None:
    first, second = await suggested(corrections), await suggested(corrections)

    assert first == second
    assert len(await proposals.listing()) == 1


@pytest.mark.parametrize(
    "more, said",
    [
        ({"route": "bus"}, "no route 'bus'"),
        ({"ticket_id": "T-9"}, "no ticket T-9"),
        ({"text": "I want my money back"}, "already"),
        ({"text": "emma.fischer@example.com"}, "nothing is left"),
    ],
)
async def test_what_teaches_nothing_is_refused(corrections: Corrections, more: dict[str, str], said: str) -> None:
    with pytest.raises(PermanentError, match=said):
        await suggested(corrections, **more)


async def test_a_chinese_text_is_kept_under_chinese(corrections: Corrections, people: People) -> None:
    people.tickets["T-2"] = Told(subject="请把钱退给我")

    assert (await suggested(corrections, ticket_id="T-2")).language == "zh"


async def test_accepting_writes_one_line_and_who_did_it(
    corrections: Corrections, proposals: Proposals, file: Path
) -> None:
    proposal = await suggested(corrections)
    settled = await corrections.accept(proposal.id, by="U0ADA", key="c1")
    again = await corrections.accept(proposal.id, by="U0ADA", key="c1")

    line = '        - "here: reimburse order 1234, call"\n'
    assert (settled.won, again.won) == (True, True)
    assert content(file) == ROUTES + line
    (change,) = await proposals.changes()
    assert (change.by, change.at, change.proposal) == ("U0ADA", NOON, proposal.id)
    assert line.strip() in change.lines


async def test_the_second_decision_comes_too_late(corrections: Corrections, file: Path) -> None:
    proposal = await suggested(corrections)
    await corrections.decline(proposal.id, by="U0ADA", key="c1")
    late = await corrections.accept(proposal.id, by="U0ADA", key="c2")

    assert (late.won, late.why) == (False, "P-1 is already declined.")
    assert content(file) == ROUTES


async def test_a_route_that_is_gone_by_then_leaves_the_suggestion_open(
    corrections: Corrections, proposals: Proposals, file: Path
) -> None:
    proposal = await suggested(corrections)
    save(file, ROUTES.replace("name: refund", "name: money"))
    settled = await corrections.accept(proposal.id, by="U0ADA", key="c1")

    assert "no route 'refund'" in settled.why
    assert settled.proposal.status is ProposalStatus.PENDING
    assert await proposals.changes() == []


async def test_an_edit_between_suggestion_and_acceptance_is_kept(corrections: Corrections, file: Path) -> None:
    proposal = await suggested(corrections)
    save(file, "# mine\n" + ROUTES)
    await corrections.accept(proposal.id, by="U0ADA", key="c1")

    assert content(file).startswith("# mine\nroutes:")
    assert "reimburse" in content(file)


async def test_writers_of_the_file_wait_for_one_another(corrections: Corrections, file: Path) -> None:
    proposal = await suggested(corrections)
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        with routes_lock(file):
            held.set()
            release.wait(10)

    holder = threading.Thread(target=hold)
    holder.start()
    await asyncio.to_thread(held.wait, 10)
    accepting = asyncio.create_task(corrections.accept(proposal.id, by="U0ADA", key="c1"))
    for _ in range(100):
        await asyncio.sleep(0)
    waited = not accepting.done()
    release.set()
    holder.join()

    assert waited
    assert (await accepting).won


async def test_a_file_that_is_gone_is_told(corrections: Corrections, file: Path) -> None:
    remove(file)

    with pytest.raises(SettingsError, match="No such file"):
        await suggested(corrections)


def corrected(user: str = "U0OMAR", **more: str) -> Message:
    given = {"ticket_id": "T-1", "route": "refund", "text": "", "user": user, "team": TEAM, "channel": "C0HANDOFF"}
    body = RouteCorrected(**given | more)
    return Message(type=ROUTE_CORRECTED, sender="slack", context_id="c", task_id="click:1", data=fields_of(body))


def clicked(proposal: Proposal, user: str, decision: str = "accept", shown_hash: str = "") -> Message:
    body = ProposalClicked(
        proposal_id=proposal.id,
        decision=decision,
        shown_hash=shown_hash or proposal.shown_hash,
        user=user,
        team=TEAM,
        channel="C0HANDOFF",
        message_ts="1.0",
    )
    return Message(type=PROPOSAL_CLICKED, sender="slack", context_id="c", task_id="click:2", data=fields_of(body))


async def test_staff_get_a_card_for_all_and_a_word_for_themselves(desk: TriageDesk) -> None:
    told, made = await desk.on_corrected(corrected(), delivery(corrected()))

    assert (read(told, Reply).audience, read(told, Reply).user) == (Audience.EPHEMERAL, "U0OMAR")
    assert "P-1 waits for an admin" in read(told, Reply).text
    assert (made.type, made.data["proposal_id"]) == (PROPOSAL_MADE, "P-1")


@pytest.mark.parametrize("user", ["U0EMMA", "U0NOBODY", ""])
async def test_nobody_else_can_correct_a_route(desk: TriageDesk, proposals: Proposals, user: str) -> None:
    (told,) = await desk.on_corrected(corrected(user), delivery(corrected(user)))

    assert "only the support team" in read(told, Reply).text
    assert await proposals.listing() == []


@pytest.mark.parametrize("user", ["U0OMAR", "U0EMMA", "U0NOBODY"])
async def test_only_admins_may_accept(desk: TriageDesk, corrections: Corrections, file: Path, user: str) -> None:
    proposal = await suggested(corrections)
    (told,) = await desk.on_clicked(clicked(proposal, user), delivery(clicked(proposal, user)))

    assert "only admins" in read(told, Reply).text
    assert content(file) == ROUTES


async def test_in_doubt_nobody_may(desk: TriageDesk, corrections: Corrections, people: People, file: Path) -> None:
    proposal = await suggested(corrections)
    people.away = True
    (told,) = await desk.on_clicked(clicked(proposal, "U0ADA"), delivery(clicked(proposal, "U0ADA")))

    assert "could not confirm" in read(told, Reply).text
    assert content(file) == ROUTES


@pytest.mark.parametrize("change", [{"shown_hash": "0" * 64}, {"decision": "burn"}])
async def test_a_card_that_shows_something_else_decides_nothing(
    desk: TriageDesk, corrections: Corrections, file: Path, change: dict[str, str]
) -> None:
    proposal = await suggested(corrections)
    message = clicked(proposal, "U0ADA", **change)
    (told,) = await desk.on_clicked(message, delivery(message))

    assert told.type == REPLY_READY
    assert content(file) == ROUTES


async def test_an_admins_click_twice_delivered_does_it_once(
    desk: TriageDesk, corrections: Corrections, file: Path
) -> None:
    proposal = await suggested(corrections)
    message = clicked(proposal, "U0ADA")
    first = await desk.on_clicked(message, delivery(message))
    second = await desk.on_clicked(message, delivery(message))

    assert [each.type for each in first] == [each.type for each in second] == [PROPOSAL_SETTLED]
    assert content(file).count("reimburse") == 1


@pytest.mark.parametrize("written", ["", "P-", "P-x", "P-٣", "T-1", "P-" + "9" * 30])
async def test_what_is_no_id_of_a_suggestion_is_told(proposals: Proposals, written: str) -> None:
    with pytest.raises(PermanentError, match="is not the id of a suggestion"):
        await proposals.get(written)
