"""Field cases of kind B, shapes of messages: B1, B3, B5 and their relatives, over sockets and over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.scenario.cases import playing
from tests.scenario.field import acknowledged, bot_posts, happens, held, talk_at, ticket_count, tickets_at, tickets_of
from tests.scenario.in_both_modes import MODES
from tests.scenario.stage import SUPPORT, Stage

pytestmark = pytest.mark.asyncio(loop_scope="module")

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 64
SAID: dict[str, Any] = {
    "type": "message",
    "channel": SUPPORT,
    "channel_type": "channel",
    "user": "U0EMMA",
    "text": "Where is my order?",
    "ts": "1764500000.000100",
    "event_ts": "1764500000.000100",
}
NOBODY = {key: value for key, value in SAID.items() if key != "user"}
SYSTEM = (
    "channel_join",
    "channel_leave",
    "channel_topic",
    "channel_purpose",
    "channel_name",
    "channel_archive",
    "channel_posting_permissions",
    "channel_convert_to_private",
    "pinned_item",
    "bot_add",
    "bot_remove",
    "reminder_add",
    "reminder_delete",
    "huddle_thread",
    "sh_room_created",
    "assistant_app_thread",
    "document_mention",
    "tombstone",
    "ekm_access_denied",
    "something_new_of_2027",
)
NO_MESSAGES: dict[str, dict[str, Any]] = {
    "without a user": NOBODY,
    "with no user": SAID | {"user": None},
    "with an empty user": SAID | {"user": ""},
    "with a user that is an object": SAID | {"user": {"id": "U0EMMA"}},
    "of Slackbot": SAID | {"user": "USLACKBOT"},
    "of a webhook": NOBODY | {"subtype": "bot_message", "bot_id": "B0WEBHOOK", "username": "alerts"},
    "of a workflow": NOBODY | {"subtype": "bot_message", "bot_id": "B0WORKFLOW", "bot_profile": {"name": "Flow"}},
    "without a channel": {key: value for key, value in SAID.items() if key != "channel"},
    "with no channel": SAID | {"channel": None},
    "without a ts": {key: value for key, value in SAID.items() if key != "ts"},
    "with a ts that is a number": SAID | {"ts": 1764500000.0001},
    "with a subtype that is a list": SAID | {"subtype": ["file_share"]},
    "hidden": SAID | {"hidden": True},
    "a change of nothing": NOBODY | {"subtype": "message_changed", "hidden": True},
    "a change of null": NOBODY | {"subtype": "message_changed", "message": None, "previous_message": None},
    "a deletion of nothing": NOBODY | {"subtype": "message_deleted", "hidden": True},
    "counters": NOBODY | {"subtype": "message_replied", "hidden": True, "message": {"thread_ts": "1.1"}},
}
ODD_FIELDS: dict[str, dict[str, Any]] = {
    "null fields": {"blocks": None, "files": None, "attachments": None, "thread_ts": None, "subtype": None},
    "lists of null": {"blocks": [None], "files": [None], "attachments": [None]},
    "a thread_ts of its own": {"thread_ts": "its own"},
    "an odd channel_type": {"channel_type": "app_home_of_2027"},
    "no channel_type": {"channel_type": None},
    "a client_msg_id and more": {"client_msg_id": 1, "edited": None, "unknown": {"deep": [{}]}},
}


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=MODES)
async def stage(
    request: pytest.FixtureRequest, vectors: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stage]:
    async with playing(request.param, tmp_path_factory.mktemp("cases"), vectors) as stage:
        yield stage


async def works(stage: Stage) -> None:
    """Assert that the next ordinary message is answered."""
    assert await stage.ask("U0LINA", SUPPORT, "Where is my order?")


async def test_b1_messages_that_nobody_wrote_start_nothing_and_the_next_one_works(stage: Stage) -> None:
    tickets, posts = ticket_count(stage), len(bot_posts(stage))
    for event in NO_MESSAGES.values():
        happens(stage, event)
    for subtype in SYSTEM:
        happens(stage, NOBODY | {"subtype": subtype})
        happens(stage, SAID | {"subtype": subtype})
    await stage.quiet()

    assert ticket_count(stage) == tickets
    assert len(bot_posts(stage)) == posts
    await works(stage)


async def test_b1_fields_that_are_missing_or_odd_do_not_lose_what_a_person_wrote(stage: Stage) -> None:
    for number, odd in enumerate(ODD_FIELDS.values()):
        talk = await stage.say("U0EMMA", SUPPORT, "Only for its ts")
        await stage.answer(talk)
        ts = f"{talk.ts[:-2]}{number:02}"
        more = {"thread_ts": ts} if odd.get("thread_ts") else {}
        happens(stage, SAID | odd | more | {"ts": ts, "event_ts": ts, "user": "U0LINA"})
        await stage.quiet()

        assert len(tickets_at(stage, SUPPORT, ts)) == 1, odd


async def test_b3_reactions_without_an_author_or_on_messages_never_seen_start_nothing(stage: Stage) -> None:
    tickets, posts = ticket_count(stage), len(bot_posts(stage))
    unseen = {"type": "message", "channel": SUPPORT, "ts": "1600000000.000100"}
    items: list[object] = [unseen, {"type": "file", "file": "F0NONE"}, {"type": "message"}, {}, None, "message"]
    for kind in ("reaction_added", "reaction_removed"):
        for item in items:
            happens(stage, {"type": kind, "user": "U0EMMA", "reaction": "thumbsup", "item": item})
    webhook = stage.workspace.odd.webhook(SUPPORT, "Disk full")
    await stage.workspace.react("U0EMMA", SUPPORT, webhook, "eyes")
    await stage.quiet()

    assert ticket_count(stage) == tickets
    assert len(bot_posts(stage)) == posts
    await works(stage)


async def test_b3_other_events_start_nothing(stage: Stage) -> None:
    tickets = ticket_count(stage)
    kinds = (
        "member_joined_channel",
        "member_left_channel",
        "channel_rename",
        "pin_added",
        "link_shared",
        "user_change",
    )
    for kind in (*kinds, "team_join", "app_home_opened", "tokens_revoked", "message_metadata_posted", "new_of_2027"):
        happens(stage, {"type": kind, "user": "U0EMMA", "channel": SUPPORT})
        happens(stage, {"type": kind})
    stage.workspace.events.too_many()
    await stage.quiet()

    assert ticket_count(stage) == tickets
    await works(stage)


@pytest.mark.parametrize("place", ["channel", "dm"])
async def test_b5_a_picture_without_words_is_a_ticket_with_a_title(stage: Stage, place: str) -> None:
    buyer = stage.next_buyer()
    channel = SUPPORT if place == "channel" else buyer.dm
    ts = await stage.workspace.upload(buyer.user, channel, "broken.png", PNG)
    talk = talk_at(stage, buyer.user, channel, ts)
    assert await stage.answer(talk)
    await stage.quiet()

    (ticket,) = [each for each in tickets_of(stage, talk) if each["requester"] == buyer.user]
    assert "broken.png" in ticket["subject"]
    assert len(stage.replies(talk)) == 1


FILE: dict[str, Any] = {"id": "F0A", "name": "a.png", "filetype": "png", "size": 9, "permalink": "https://x.test/a"}
FILES: dict[str, list[Any]] = {
    "that Slack lets nobody see yet": [{"id": "F0A", "file_access": "check_file_info"}],
    "that was deleted": [{"id": "F0A", "mode": "tombstone"}],
    "that is too old for the plan": [{"id": "F0A", "mode": "hidden_by_limit"}],
    "that lies elsewhere": [FILE | {"is_external": True, "mode": "external", "size": 0}],
    "without a single word": [dict.fromkeys(FILE)],
    "spoken": [FILE | {"subtype": "slack_audio", "name": "audio_message.m4a"}],
    "of which there are many": [FILE] * 15,
    "that is not there": [],
}


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("text", ["", None])
async def test_b5_a_file_in_any_shape_is_a_ticket_that_is_answered_once(
    stage: Stage, kind: str, text: str | None
) -> None:
    with held(stage):
        talk = await stage.say("U0LINA", SUPPORT, "Only for its ts")
    shared = {"subtype": "file_share", "upload": True, "text": text, "files": FILES[kind], "user": "U0LINA"}
    happens(stage, SAID | shared | {"ts": talk.ts, "event_ts": talk.ts})
    await stage.answer(talk)
    await stage.quiet()

    (ticket,) = tickets_of(stage, talk)
    assert ticket["subject"].startswith("[file: " if FILES[kind] else "")
    assert len(stage.replies(talk)) == 1


async def test_b5_a_picture_in_a_thread_belongs_to_its_ticket(stage: Stage) -> None:
    buyer = stage.next_buyer()
    talk = await stage.say(buyer.user, SUPPORT, "Can I talk to a person?")
    await stage.answer(talk)
    card = await stage.card("handoff", buyer.name)
    await stage.workspace.upload(buyer.user, SUPPORT, "broken.png", PNG, thread_ts=talk.root)
    await stage.until(
        lambda: any("broken.png" in each.text for each in stage.workspace.posts.replies(card.channel, card.ts))
    )
    await stage.quiet()

    assert len(tickets_of(stage, talk)) == 1


async def test_b5_a_forwarded_message_is_read_though_its_own_text_is_empty(stage: Stage) -> None:
    buyer = stage.next_buyer()
    first = await stage.say("U0LINA", SUPPORT, f"Where is my order {buyer.order.id}?")
    await stage.answer(first)
    ts = stage.workspace.odd.forward(buyer.user, SUPPORT, SUPPORT, first.ts)
    talk = talk_at(stage, "", SUPPORT, ts)
    assert "was delivered" in await stage.answer(talk)
    await stage.quiet()

    (ticket,) = tickets_of(stage, talk)
    assert buyer.order.id in ticket["subject"]


async def test_b5_a_forwarded_message_with_a_comment_is_both(stage: Stage) -> None:
    buyer = stage.next_buyer()
    first = await stage.say("U0LINA", SUPPORT, f"It is about order {buyer.order.id} & nothing else")
    await stage.answer(first)
    ts = stage.workspace.odd.forward(buyer.user, SUPPORT, SUPPORT, first.ts, "Where is it?")
    talk = talk_at(stage, "", SUPPORT, ts)
    assert "was delivered" in await stage.answer(talk)
    stage.workspace.odd.unfurl(SUPPORT, ts, "https://example.com/page")
    await stage.quiet()

    (ticket,) = tickets_of(stage, talk)
    assert ticket["subject"] == f"Where is it?\n[forwarded]\n> It is about order {buyer.order.id} & nothing else"
    assert len(stage.replies(talk)) == 1


async def test_b5_a_message_whose_words_are_in_its_blocks_alone_is_read(stage: Stage) -> None:
    buyer = stage.next_buyer()
    words = {"type": "text", "text": f"Where is my order {buyer.order.id}?"}
    rich = {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [words]}]}
    ts = await stage.workspace.post(buyer.user, SUPPORT, "", blocks=[rich])
    talk = talk_at(stage, "", SUPPORT, ts)
    assert "was delivered" in await stage.answer(talk)
    await stage.quiet()

    assert len(tickets_of(stage, talk)) == 1


async def test_b5_words_of_nothing_but_a_mention_or_blanks_are_answered_and_crash_nothing(stage: Stage) -> None:
    for text in ("<@U0HERMES>", "​", " ", "<@U0HERMES> ​ ", "***", "!"):
        talk = await stage.say("U0EMMA", SUPPORT, "Only for its ts")
        await stage.answer(talk)
        ts = f"{talk.ts[:-2]}98"
        happens(stage, SAID | {"text": text, "ts": ts, "event_ts": ts})
        await stage.quiet()
        assert len(tickets_at(stage, SUPPORT, ts)) == 1, text


async def test_b5_other_kinds_of_what_people_write_are_heard_once(stage: Stage) -> None:
    first, second = stage.next_buyer(), stage.next_buyer()
    ts = stage.workspace.odd.me_message(first.user, SUPPORT, f"asks: where is my order {first.order.id}?")
    spoken = talk_at(stage, "", SUPPORT, ts)
    assert "was delivered" in await stage.answer(spoken)
    talk = await stage.say(second.user, SUPPORT, "Where is my order?")
    await stage.answer(talk)
    ts = await stage.workspace.post(
        second.user, SUPPORT, f"Where is my order {second.order.id}?", talk.root, broadcast=True
    )
    assert "was delivered" in await stage.answer(talk, 2)
    await stage.quiet()

    assert len(stage.replies(spoken)) == 1
    assert len(tickets_of(stage, talk)) == 1
    assert tickets_at(stage, SUPPORT, ts) == []
    await acknowledged(stage)
