"""Field cases of kind P, words that reach the wrong people: P1 and its relatives, over sockets and over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from hermes_bot.workspace.faults import ApiError
from tests.scenario.in_both_modes import MODES, staged
from tests.scenario.stage import CLAIM, GIVE_BACK, HANDOFF, OLIVIA, OMAR, SUPPORT, Stage, Talk, handover


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=MODES)
async def stage(
    request: pytest.FixtureRequest, vectors: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stage]:
    async with staged(request.param, vectors, tmp_path_factory.mktemp("cases")) as stage:
        yield stage


pytestmark = pytest.mark.asyncio(loop_scope="module")


async def choose(stage: Stage, user: str, words: str, label: str) -> None:
    """Press a button of what the person alone was told."""
    told = next(each for each in reversed(stage.workspace.ephemerals(user)) if words in each["text"])
    buttons = [element for block in told["blocks"] if block["type"] == "actions" for element in block["elements"]]
    action_id = next(each["action_id"] for each in buttons if each["text"]["text"] == label)
    assert (await stage.workspace.click(user, told["channel"], told["ts"], action_id)).ok


async def remark(stage: Stage, user: str, talk: Talk, text: str) -> None:
    """Write in the customer's thread and wait until the bot has asked what was meant."""
    before = len(stage.whispers(user, "You wrote in the thread"))
    await stage.say(user, talk.channel, text, talk.ts)
    await stage.until(lambda: len(stage.whispers(user, "You wrote in the thread")) > before)


async def test_p1_what_staff_say_under_the_card_stays_there_and_only_the_form_reaches_the_customer(
    stage: Stage,
) -> None:
    buyer = stage.next_buyer()
    talk = await stage.say(buyer.user, buyer.dm, "Can I talk to a person?")
    await stage.answer(talk)
    card = await stage.card("handoff", buyer.name)
    await stage.click(OMAR, card, CLAIM)
    await stage.answer(talk, 2)
    await stage.until(lambda: handover(stage.now(card)) == [GIVE_BACK])

    await stage.say(OMAR, HANDOFF, "This one is difficult, I would rather not", card.ts)
    await stage.say(OLIVIA, HANDOFF, "Just be polite", card.ts)
    await stage.reply_to_customer(OMAR, card, "What is it about? <!channel> & so on")
    reached = await stage.answer(talk, 3)
    await stage.say(buyer.user, buyer.dm, "It is about my kettle")
    await stage.until(
        lambda: any("about my kettle" in post.text for post in stage.workspace.posts.replies(HANDOFF, card.ts))
    )
    await stage.quiet()

    assert reached == "Omar Haddad: What is it about? &lt;!channel&gt; &amp; so on"
    said = [post.text for post in stage.replies(talk)]
    assert len(said) == 3
    assert not any("difficult" in text or "polite" in text for text in said)


async def test_p1_while_somebody_of_the_staff_talks_the_bot_waits_and_goes_on_when_they_say_so(stage: Stage) -> None:
    buyer = stage.next_buyer()
    talk = await stage.say(buyer.user, SUPPORT, f"Where is my order {buyer.order.id}?")
    await stage.answer(talk)
    await stage.quiet()

    await remark(stage, OMAR, talk, "By the way, the parcel office is closed today")
    await stage.say(buyer.user, SUPPORT, f"And where is my order {buyer.order.id} now?", talk.ts)
    await stage.quiet()
    assert len(stage.replies(talk)) == 1

    await choose(stage, OMAR, "You wrote in the thread", "Only this message")
    assert "was delivered" in await stage.answer(talk, 2)
    await stage.quiet()
    assert len(stage.replies(talk)) == 2
    assert stage.whispers(OMAR, "Only this message")  # what was pressed stands in place of the buttons


async def test_p1_who_takes_over_speaks_alone_and_reads_what_the_bot_would_have_said(stage: Stage) -> None:
    buyer = stage.next_buyer()
    talk = await stage.say(buyer.user, SUPPORT, f"Where is my order {buyer.order.id}?")
    await stage.answer(talk)
    await stage.quiet()

    await remark(stage, OMAR, talk, "I am looking into this")
    await stage.say(buyer.user, SUPPORT, f"Where is my order {buyer.order.id} now?", talk.ts)
    await stage.quiet()
    await choose(stage, OMAR, "You wrote in the thread", "Take over")
    assert "Omar Haddad has taken over" in await stage.answer(talk, 2)
    card = await stage.card("handoff", buyer.order.id)
    await stage.until(lambda: handover(stage.now(card)) == [GIVE_BACK])
    await stage.say(buyer.user, SUPPORT, "Thank you, and is it insured?", talk.ts)
    await stage.say(OMAR, SUPPORT, "It is", talk.ts)
    await stage.say(OMAR, SUPPORT, "@Hermes suggest", talk.ts)
    await stage.until(lambda: stage.whispers(OMAR, "Hermes would say"))
    await stage.quiet()

    assert len(stage.replies(talk)) == 2
    under = [post.text for post in stage.workspace.posts.replies(HANDOFF, card.ts)]
    assert any("Hermes would have said" in text for text in under), under
    assert any("is it insured?" in text for text in under)
    assert not any("It is" in text and "insured" not in text for text in under[1:])


async def test_p1_another_customer_in_the_thread_of_a_ticket_that_people_have_is_not_its_customer(
    stage: Stage,
) -> None:
    first, second = stage.next_buyer(), stage.next_buyer()
    talk = await stage.say(first.user, SUPPORT, "Can I talk to a person?")
    await stage.answer(talk)
    card = await stage.card("handoff", first.name)
    await stage.click(OMAR, card, CLAIM)
    await stage.answer(talk, 2)

    own = await stage.say(second.user, SUPPORT, f"Where is my order {second.order.id}?", talk.ts)
    assert "was delivered" in await stage.answer(own)
    await stage.quiet()

    under = [post.text for post in stage.workspace.posts.replies(HANDOFF, card.ts)]
    assert not any(second.order.id in text for text in under)


async def test_p1_a_handoff_channel_that_another_company_reads_by_now_shows_nothing_of_a_customers(
    stage: Stage,
) -> None:
    buyer, roster = stage.next_buyer(), stage.workspace.roster
    ours = roster.channel(HANDOFF)
    before = {post.ts for post in stage.workspace.posts.roots(HANDOFF)}
    roster.put_channel(replace(ours, shared_with=("T9OTHER",)))
    try:
        talk = await stage.say(buyer.user, SUPPORT, "Can I talk to a person?")
        await stage.answer(talk)
        alarms = stage.workspace.posts
        await stage.until(lambda: any("handoff channel" in post.text for post in alarms.roots("D0OLIVIA")))
        await stage.quiet()

        assert {post.ts for post in stage.workspace.posts.roots(HANDOFF)} == before
    finally:
        roster.put_channel(ours)


@pytest.mark.parametrize("error", ["cannot_dm_bot", "user_disabled"])
async def test_p1_details_that_cannot_be_sent_directly_are_seen_by_the_customer_alone(stage: Stage, error: str) -> None:
    buyer = stage.next_buyer()
    stage.server.faults.add(method="conversations.open", fault=ApiError(error), times=5)

    talk = await stage.say(buyer.user, SUPPORT, f"Where is my order {buyer.order.id}?")
    await stage.until(lambda: stage.whispers(buyer.user, "details of order"))
    await stage.quiet()
    stage.server.faults.clear()

    assert len(stage.replies(talk)) == 1
