"""Staff say "Wrong team?", an admin accepts, and the running bot routes by the new example."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from hermes_bot import settings
from hermes_bot.app import HermesApp
from hermes_bot.messages.message import utc_now
from hermes_bot.store.database import Database
from hermes_bot.triage.proposals import Proposals
from hermes_bot.workspace.posts import Post
from hermes_bot.workspace.server import WorkspaceServer
from tests.scenario.bot_process import environment
from tests.scenario.crowd import dead_letters
from tests.scenario.stage import ADA, OLIVIA, OMAR, SUPPORT, Stage, buttons, story_world

ROUTES = """\
# Our routes. Keep this line.
routes:
  - name: order # what people ask most
    type: ticket.order
    agent: order
    keywords: {any: [parcel]}
    utterances:
      en:
        - where is my parcel
        - has my delivery left
        - track my shipment
  - name: refund
    type: ticket.refund
    agent: refund
    utterances:
      en:
        - I want my money back
        - please refund me
        - give me a refund # the plain way
      # more to come
  - name: handoff
    type: ticket.handoff
    agent: handoff
    priority: 5
    keywords: {any: [complaint]}
  - name: other
    type: ticket.unknown
    agent: unknown
    nobody: true
    utterances:
      en: [what is the weather, tell me a joke, who won the match]
"""
WRONG, ACCEPT, DECLINE = "route:wrong", "proposal:accept", "proposal:decline"
WORDS = "complaint: I'm Emma Fischer, emma@example.com, the kettle of order 10003 shall be reimbursed to me"


class Triage:
    """A stage with a routes file, and what staff do about it."""

    def __init__(self, stage: Stage, file: Path, data: Path) -> None:
        self.stage = stage
        self.file = file
        self.data = data

    async def handed(self, words: str) -> Post:
        """Return the staff's card of a ticket that a customer opens with these words."""
        buyer = self.stage.next_buyer()
        await self.stage.say(buyer.user, SUPPORT, words)
        return await self.stage.card("handoff", buyer.name)

    async def correct(self, user: str, card: Post, route: str, text: str | None = None) -> None:
        """Press "Wrong team?" and send the form."""
        workspace = self.stage.workspace
        assert (await self.stage.click(user, card, WRONG)).ok
        await self.stage.until(lambda: workspace.modals(user))
        values = {"route": {"route": route}} | ({} if text is None else {"text": {"text": text}})
        assert (await workspace.submit(user, workspace.modals(user)[-1]["id"], values)).ok

    async def proposal(self, words: str) -> Post:
        """Return the card of the suggestion with these words."""
        return await self.stage.card("proposal", words)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def triage(vectors: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Triage]:
    folder = tmp_path_factory.mktemp("triage")
    data = folder / "data"
    shutil.copytree(vectors, data / "cache")
    file = folder / "routing.yaml"
    file.write_text(ROUTES, encoding="utf-8")
    (folder / "labelled.jsonl").write_text('{"text": "track my shipment", "label": "order"}\n', encoding="utf-8")
    variables = {
        "HERMES_ROUTING__FILE": str(file),
        "HERMES_ROUTING__LABELLED": "labelled.jsonl",
        "HERMES_SLACK__FLOOD__MESSAGES": "10000",  # one person asks until the answer is another
    }
    async with WorkspaceServer(world=story_world()) as server:
        loaded = settings.load(None, environment(server, data, **variables), folder=folder)
        bot = HermesApp(settings=loaded, edge=True)
        try:
            await bot.start()
            stage = Stage(server, data)
            yield Triage(stage, file, data)
            await stage.quiet()
        finally:
            await bot.stop()
    assert dead_letters(data) == []


pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_correction_becomes_an_example_once_an_admin_accepts_it(triage: Triage) -> None:
    stage = triage.stage
    card = await triage.handed(WORDS)
    await triage.correct(OMAR, card, "refund")
    suggested = await triage.proposal("kettle")

    shown = repr(suggested.blocks)
    assert "Emma" not in shown
    assert "example.com" not in shown
    assert "10003" not in shown
    assert "1 of 1 labelled texts are routed right now, 1 then" in shown
    assert "kettle of order 1234" in shown
    assert buttons(suggested) == [ACCEPT, DECLINE]

    before = triage.file.read_text(encoding="utf-8")
    await stage.click(OMAR, suggested, ACCEPT)
    await stage.until(lambda: stage.whispers(OMAR, "only admins"))
    assert triage.file.read_text(encoding="utf-8") == before

    assert (await stage.click(ADA, suggested, ACCEPT)).ok
    await stage.until(lambda: not buttons(stage.now(suggested)))
    after = triage.file.read_text(encoding="utf-8")
    added = [line for line in after.splitlines() if line not in before.splitlines()]
    assert len(added) == 1
    assert "kettle" in added[0]
    assert [line for line in before.splitlines() if line not in after.splitlines()] == []
    assert "Accepted by Ada Novak" in repr(stage.now(suggested).blocks)

    buyer = stage.next_buyer()
    asked = "the kettle of order 1234 shall be reimbursed to me"
    for _ in range(200):
        if "an order with that number" in await stage.ask(buyer.user, SUPPORT, asked):
            break
    else:
        pytest.fail("the example never took effect")

    database = Database(f"sqlite:///{triage.data / 'hermes.db'}")
    await database.open()
    (change, *_) = await Proposals(database, clock=utc_now).changes()
    await database.close()
    assert (change.by, change.proposal) == (ADA, "P-1")
    assert "kettle" in change.lines


async def test_a_declined_suggestion_changes_nothing(triage: Triage) -> None:
    stage = triage.stage
    before = triage.file.read_text(encoding="utf-8")
    card = await triage.handed("complaint about the toaster, money please")
    await triage.correct(OLIVIA, card, "refund", "about the toaster, money please")
    suggested = await triage.proposal("toaster")

    await stage.click(ADA, suggested, DECLINE)
    await stage.until(lambda: not buttons(stage.now(suggested)))

    assert "Declined by Ada Novak" in repr(stage.now(suggested).blocks)
    assert triage.file.read_text(encoding="utf-8") == before


async def test_a_file_that_may_not_be_written_leaves_the_suggestion_open_and_says_how_to_copy_it(
    triage: Triage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = triage.stage
    card = await triage.handed("complaint: the lamp shall be paid back")
    await triage.correct(OMAR, card, "refund", "the lamp shall be paid back")
    suggested = await triage.proposal("lamp")
    monkeypatch.setattr("routing.edit.os.access", lambda *_: False)

    await stage.click(ADA, suggested, ACCEPT)

    await stage.until(lambda: stage.whispers(ADA, "Copy it into a folder of your own"))
    monkeypatch.undo()
    assert buttons(stage.now(suggested)) == [ACCEPT, DECLINE]
    assert "lamp" not in triage.file.read_text(encoding="utf-8")
    await stage.click(ADA, suggested, ACCEPT)
    await stage.until(lambda: "lamp" in triage.file.read_text(encoding="utf-8"))


async def test_a_correction_that_teaches_nothing_is_told_to_the_person_alone(triage: Triage) -> None:
    card = await triage.handed("complaint about tracking")
    await triage.correct(OMAR, card, "order", "track my shipment")

    await triage.stage.until(lambda: triage.stage.whispers(OMAR, "is an utterance of order already"))
    assert not triage.stage.cards("proposal", "shipment")


@pytest.mark.parametrize("words", ["@Hermes wrong team: refund", "@Hermes 分错了：refund"])
async def test_staff_correct_any_ticket_by_a_word_in_its_thread(triage: Triage, words: str) -> None:
    stage = triage.stage
    marker = "mixer" if "wrong" in words else "heater"
    talk = await stage.say(stage.next_buyer().user, SUPPORT, f"parcel: the {marker} shall be reimbursed, please")
    await stage.answer(talk)

    await stage.workspace.post(OMAR, SUPPORT, words, talk.root)

    suggested = await triage.proposal(marker)
    assert buttons(suggested) == [ACCEPT, DECLINE]
    assert len(stage.replies(talk)) == 1


async def test_staff_who_name_no_route_are_told_how_and_customers_correct_nothing(triage: Triage) -> None:
    stage = triage.stage
    talk = await stage.say(stage.next_buyer().user, SUPPORT, "parcel: where is the blender, please")
    await stage.answer(talk)
    stranger = stage.next_buyer().user

    await stage.workspace.post(OMAR, SUPPORT, "@Hermes wrong team", talk.root)
    await stage.workspace.post(stranger, SUPPORT, "@Hermes wrong team: refund", talk.root)

    await stage.until(lambda: stage.whispers(OMAR, "wrong team: refund"))
    await stage.until(lambda: stage.whispers(stranger, "only the support team"))
    assert not stage.cards("proposal", "blender")
