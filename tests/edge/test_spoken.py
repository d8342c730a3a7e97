"""The words of a message: what its writer said, what they forward, and what is nobody's words."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.words import asks_for_a_person, says_no, says_yes
from hermes_bot.edge.changes import read_change
from hermes_bot.edge.channels import ChannelPolicy, Mode
from hermes_bot.edge.inbound import Bot, read_event
from hermes_bot.edge.spoken import FORWARDED, MOST_QUOTES, QUOTE_CHARACTERS, own_words, reported, spoken
from hermes_bot.edge.text import decode
from hermes_bot.messages.payloads import Inbound, read

BOT = Bot(team="T0HERMES", user="U0HERMES", bot="B0HERMES")
POLICY = ChannelPolicy(handoff_channel="C0HANDOFF")
EVENT: dict[str, Any] = {
    "type": "message",
    "channel": "C0SUPPORT",
    "channel_type": "channel",
    "user": "U0EMMA",
    "ts": "1700000000.000100",
    "text": "",
}


def shared(text: str, **more: Any) -> dict[str, Any]:
    return {"is_share": True, "is_msg_unfurl": True, "text": text, "fallback": text} | more


def heard(policy: ChannelPolicy = POLICY, **event: Any) -> Inbound | None:
    message = read_event({"team_id": "T0HERMES", "event": EVENT | event}, bot=BOT, policy=policy)
    return None if message is None else read(message, Inbound)


def test_a_forwarded_message_with_a_comment_is_both_the_comment_first_and_the_quote_marked() -> None:
    inbound = heard(text="Please look", attachments=[shared("My order 10023 did not arrive.\nA &amp; B")])

    assert inbound is not None
    assert inbound.text == f"Please look\n{FORWARDED}\n> My order 10023 did not arrive.\n> A & B"


def test_a_forwarded_message_without_a_comment_is_a_quote() -> None:
    assert spoken({"text": " ", "attachments": [shared("Where is it?")]}) == f"{FORWARDED}\n&gt; Where is it?"


def test_several_forwarded_messages_are_several_quotes_and_only_so_many() -> None:
    text = spoken({"text": "See", "attachments": [shared(f"Part {number}") for number in range(MOST_QUOTES + 3)]})

    assert text.startswith(f"See\n{FORWARDED}\n&gt; Part 0\n{FORWARDED}\n&gt; Part 1")
    assert text.count(FORWARDED) == MOST_QUOTES


def test_the_words_of_a_quote_may_stand_in_its_blocks() -> None:
    section = {"type": "rich_text_section", "elements": [{"type": "text", "text": "In blocks"}]}
    blocks = [{"type": "rich_text", "elements": [section]}]
    inner = [{"team": "T0HERMES", "channel": "C1", "ts": "1.1", "message": {"blocks": blocks}}]

    share = shared("", fallback="[July 1st] emma: In blocks", message_blocks=inner)
    assert spoken({"text": "", "attachments": [share]}) == f"{FORWARDED}\n&gt; In blocks"


@pytest.mark.parametrize(
    "preview",
    [
        {"is_msg_unfurl": True, "text": "Linked words", "from_url": "https://acme.slack.com/archives/C1/p1"},
        {"is_app_unfurl": True, "text": "An app's words", "fallback": "f"},
        {"text": "A page's words", "from_url": "https://example.com", "service_name": "Web"},
        {"is_share": True, "text": 7, "fallback": None},
        "no attachment",
    ],
    ids=["a link to a message", "an app's", "a page's", "without words", "odd"],
)
def test_previews_of_links_are_nobodys_words(preview: object) -> None:
    assert spoken({"text": "See this", "attachments": [preview]}) == "See this"


def test_a_preview_that_is_added_later_is_no_edit_and_a_changed_comment_is_one() -> None:
    before = EVENT | {"text": "See this", "attachments": [shared("Order 10023")]}
    preview = {"is_msg_unfurl": True, "text": "Linked words", "from_url": "https://acme.slack.com/archives/C1/p1"}
    change = EVENT | {"subtype": "message_changed", "previous_message": before}
    with_preview = before | {"attachments": [shared("Order 10023"), preview]}
    reworded = before | {"text": "See that", "edited": {"user": "U0EMMA", "ts": "1700000001.000100"}}

    assert read_change({"event": change | {"message": with_preview}}, bot=BOT, policy=POLICY) is None
    edited = read_change({"event": change | {"message": reworded}}, bot=BOT, policy=POLICY)
    assert edited is not None
    assert edited.data["text"] == f"See that\n{FORWARDED}\n> Order 10023"


def test_who_is_named_in_a_quote_is_not_called() -> None:
    mentions_only = ChannelPolicy(handoff_channel="C0HANDOFF", modes={"C0SUPPORT": Mode.MENTIONS})
    quote = shared("<@U0HERMES> refund order 10023")

    assert heard(mentions_only, text="Look at that", attachments=[quote]) is None
    assert heard(mentions_only, text="", attachments=[quote]) is None
    called = heard(mentions_only, text="<@U0HERMES> look", attachments=[quote])
    assert called is not None
    assert called.mentioned


@pytest.mark.parametrize("words", ["yes", "Yes please", "是的", "好的", "no", "不用了", "human", "ok, do it"])
def test_a_quoted_answer_is_nobodys_answer(words: str) -> None:
    text = decode(spoken({"text": "", "attachments": [shared(words)]}))

    assert not says_yes(text)
    assert not says_no(text)
    assert not asks_for_a_person(text)


def test_files_of_a_forwarded_message_are_named() -> None:
    file = {"name": "receipt.pdf", "permalink": "https://acme.slack.com/files/U1/F1/receipt.pdf"}
    preview = {"is_msg_unfurl": True, "text": "x", "files": [{"name": "not this.pdf"}]}
    inbound = heard(text="Here", attachments=[shared("The receipt", files=[file]), preview])

    assert inbound is not None
    assert inbound.files == ("receipt.pdf https://acme.slack.com/files/U1/F1/receipt.pdf",)


PIECES = ("&amp;", "&lt;", "&gt;", "<https://e.example/?a=1&amp;b=2|a>", "<@U0EMMA>", "\n", " ", "a", "好", "😀")


@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=60).map("".join), max_size=6))
def test_quotes_are_bounded_and_no_entity_or_token_is_cut(texts: list[str]) -> None:
    quotes = spoken({"text": "", "attachments": [shared(text * 60) for text in texts]})
    marks = sum(len(line) for line in quotes.splitlines() if line == FORWARDED) + 6 * len(quotes.splitlines())

    assert len(quotes) <= QUOTE_CHARACTERS + marks
    assert re.search("&(?!amp;|lt;|gt;)", quotes) is None
    assert re.sub("<[^<>]+>", "", quotes).count("<") == 0


def test_what_a_program_reports_may_stand_in_its_attachments() -> None:
    alert = {"text": "", "attachments": [{"title": "Alert: payment failed", "text": "Order 10023", "fallback": "f"}]}
    linked = {"text": "See <https://e.example>", "attachments": [{"from_url": "https://e.example", "title": "A page"}]}

    assert reported(alert) == "Alert: payment failed\nOrder 10023"
    assert reported({"text": "Up", "attachments": [{"fallback": "again"}]}) == "Up\nagain"
    assert reported(linked) == "See <https://e.example>"
    assert own_words(alert) == ""


CALL = [{"type": "user", "user_id": "U0HERMES"}, {"type": "text", "text": " approve"}]
CODE = {"code": True}


@pytest.mark.parametrize(
    "element, text",
    [
        ({"type": "rich_text_preformatted", "elements": CALL}, "```<@U0HERMES> approve```"),
        (
            {"type": "rich_text_section", "elements": [each | {"style": CODE} for each in CALL]},
            "`<@U0HERMES>`` approve`",
        ),
    ],
)
@pytest.mark.parametrize("kind", ["message", "app_mention"])
def test_whom_code_names_is_not_called_though_the_words_stand_in_blocks_alone(
    element: dict[str, Any], text: str, kind: str
) -> None:
    block = {"type": "rich_text", "elements": [element]}
    inbound = heard(type=kind, blocks=[block])

    assert spoken({"text": "", "blocks": [block]}) == text
    assert inbound is not None
    assert not inbound.mentioned
