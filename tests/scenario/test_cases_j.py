"""Field cases of kinds J and K, text and limits: J1, J3, K4 and their relatives, over sockets and over HTTP."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio
import regex

from hermes_bot.workspace.posts import Post
from tests.scenario.cases import playing
from tests.scenario.field import bot_posts, noted, talk_at, texts_of, tickets_of
from tests.scenario.in_both_modes import MODES
from tests.scenario.stage import CLAIM, GIVE_BACK, HANDOFF, OMAR, REPLY, SUPPORT, Stage, handover

pytestmark = pytest.mark.asyncio(loop_scope="module")

PERSON = "Can I talk to a person? "
FAMILY = "👨‍👩‍👧‍👦"
BROADCAST = re.compile(r"<(?:!(?!date\^)|@(?!U))")


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=MODES)
async def stage(
    request: pytest.FixtureRequest, vectors: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stage]:
    async with playing(request.param, tmp_path_factory.mktemp("cases"), vectors) as stage:
        yield stage


def shown(stage: Stage, words: str) -> list[Post]:
    """Return the bot's posts, cards included, whose texts hold the words."""
    posts = [post for post in stage.workspace.posts.all() if post.bot]
    return [post for post in posts if any(words in text for text in texts_of(post))]


async def handed_over(stage: Stage, raw: str) -> tuple[Post, str]:
    """Return the card, and the subject, of a customer's wish for a person in these words, as Slack stores them."""
    buyer = stage.next_buyer()
    ts = await stage.workspace.post(buyer.user, SUPPORT, PERSON + raw, raw=True)
    talk = talk_at(stage, buyer.user, SUPPORT, ts)
    await stage.answer(talk)
    card = await stage.card("handoff", buyer.name)
    await stage.quiet()
    (ticket,) = tickets_of(stage, talk)
    return stage.now(card), ticket["subject"].removeprefix(PERSON)


@pytest.mark.parametrize(
    "raw, meant, escaped",
    [
        ("Q&amp;A: a &lt; b", "Q&A: a < b", "Q&amp;A: a &lt; b"),
        ("it says &amp;lt;b&amp;gt;", "it says &lt;b&gt;", "it says &amp;lt;b&amp;gt;"),
        ("&amp;amp;", "&amp;", "&amp;amp;"),
        ("&lt;!channel&gt; now", "<!channel> now", "&lt;!channel&gt; now"),
        ("<!here> <!channel> now", "@here @channel now", "@here @channel now"),
        ("<!subteam^S0OPERATORS|@ops> now", "@ops now", "@ops now"),
        ("see <https://x.example/a?b=1&amp;c=2>", "see https://x.example/a?b=1&c=2", "https://x.example/a?b=1&amp;c=2"),
        ("&lt;https://evil.example|your bank&gt;", "<https://evil.example|your bank>", "&lt;https://evil.example|your"),
        ("\u202eabc\u202c and \u200d", "\u202eabc\u202c and \u200d", "abc"),
        ("*bold* _it_ ~no~ `x &lt; y`", "*bold* _it_ ~no~ `x < y`", "x &lt; y"),
    ],
)
async def test_j1_text_is_decoded_once_and_shown_escaped_once(stage: Stage, raw: str, meant: str, escaped: str) -> None:
    card, subject = await handed_over(stage, raw)

    assert subject == meant
    whole = "\n".join(texts_of(card))
    assert escaped in whole
    assert ("&amp;amp;" in whole) is ("&amp;amp;" in escaped)
    assert not BROADCAST.search(whole)


async def test_j1_no_post_of_the_bot_calls_everybody(stage: Stage) -> None:
    assert bot_posts(stage)
    for post in stage.workspace.posts.all():
        if post.bot:
            assert not any(BROADCAST.search(text) for text in texts_of(post)), post


async def test_j1_what_a_person_answers_is_escaped_once_on_its_way_to_the_customer(stage: Stage) -> None:
    buyer = stage.next_buyer()
    talk = await stage.say(buyer.user, SUPPORT, PERSON)
    await stage.answer(talk)
    card = await stage.card("handoff", buyer.name)
    await stage.click(OMAR, card, CLAIM)
    await stage.until(lambda: handover(stage.now(card)) == [GIVE_BACK])
    await stage.reply_to_customer(OMAR, card, "R&D says 1 < 2 && <!everyone>")
    await stage.until(lambda: any("R&amp;D says" in reply.text for reply in stage.replies(talk)))
    (told,) = [reply.text for reply in stage.replies(talk) if "R&amp;D says" in reply.text]
    assert "R&amp;D says 1 &lt; 2 &amp;&amp; &lt;!everyone&gt;" in told


@pytest.mark.parametrize("filler", ["客", "é", "ก็", "&amp;", FAMILY])
async def test_j3_at_the_limit_no_character_is_broken(stage: Stage, filler: str) -> None:
    many = 2_990 // len(regex.findall(r"\X", filler))
    card, _ = await handed_over(stage, filler * many + FAMILY * 3)
    for text in texts_of(card):
        whole = regex.findall(r"\X", text.replace("&amp;", "&"))
        assert FAMILY not in text or "".join(whole).count("👨") == text.count(FAMILY)
        assert text.count("👨") == text.count("👦")
        assert "\ufffd" not in text
        assert not re.search(r"&(?!amp;|lt;|gt;)", text)
        assert len(text) <= 4_000


async def test_j3_a_long_answer_arrives_whole(stage: Stage) -> None:
    buyer = stage.next_buyer()
    talk = await stage.say(buyer.user, SUPPORT, PERSON)
    await stage.answer(talk)
    card = await stage.card("handoff", buyer.name)
    await stage.click(OMAR, card, CLAIM)
    await stage.until(lambda: handover(stage.now(card)) == [GIVE_BACK])
    before = len(stage.replies(talk))
    said = "客" * 2_900 + FAMILY * 10
    await stage.click(OMAR, stage.now(card), REPLY)
    await stage.fill_in(OMAR, said)
    await stage.answer(talk, before + 1)
    await stage.quiet()

    arrived = "".join(text for post in stage.replies(talk)[before:] for text in _sections(post))
    assert arrived.replace("\n", "").replace(" ", "").endswith(said)


def _sections(post: Post) -> list[str]:
    return [block["text"]["text"] for block in post.blocks if block["type"] == "section" and "text" in block]


@pytest.mark.parametrize("filler", ["> quoted history &lt;x&gt;\n", "&amp;", "客"])
async def test_k4_an_email_of_40000_characters_is_one_card_and_bounded_text(stage: Stage, filler: str) -> None:
    buyer = stage.next_buyer()
    raw = (PERSON + filler * 40_000)[:39_990].rpartition("&")[0] or (PERSON + filler * 40_000)[:39_990]
    ts = await stage.workspace.post(buyer.user, SUPPORT, raw, raw=True)
    talk = talk_at(stage, buyer.user, SUPPORT, ts)
    await stage.answer(talk)
    card = await stage.card("handoff", buyer.name)
    await stage.workspace.post(buyer.user, SUPPORT, raw, talk.root, raw=True)
    await stage.until(lambda: noted(stage, card))
    await stage.quiet()

    assert len(stage.cards("handoff", buyer.name)) == 1
    posts = [stage.now(card), *stage.workspace.posts.replies(HANDOFF, card.ts), *stage.replies(talk)]
    assert len(noted(stage, card)) == 1
    for post in posts:
        assert sum(len(text) for text in texts_of(post)[1:]) <= 13_200
        assert len(post.text) <= 4_000
        assert post.blocks  # and not words alone, as when Slack refused them
    assert len(tickets_of(stage, talk)) == 1


HOSTILE_NAME = "*Approved* <!channel> <https://names.example|Omar> `x`\nOrder: 1 & Co"


async def test_j1_a_name_is_escaped_once_on_one_line_and_formats_nothing(stage: Stage) -> None:
    buyer, roster = stage.next_buyer(), stage.workspace.roster
    roster.put_member(replace(roster.member(buyer.user), name=HOSTILE_NAME))
    talk = await stage.say(buyer.user, SUPPORT, PERSON)
    await stage.answer(talk)
    card = await stage.card("handoff", "names.example")
    await stage.quiet()

    whole = texts_of(stage.now(card))
    assert any("&lt;!channel&gt; &lt;https://names.example|Omar&gt;" in text for text in whole)
    assert not any(BROADCAST.search(text) or "&amp;amp;" in text or "\nOrder: 1" in text for text in whole)
