from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.edge.command_reader import read_command, read_opened, read_shortcut
from hermes_bot.edge.command_words import VERBS, read_words
from hermes_bot.edge.inbound import Bot

NAMES = (
    *("user_id", "text", "team_id", "channel_id", "trigger_id", "event", "user"),
    *("message", "channel", "callback_id", "team", "response_url"),
)
BOT = Bot(team="T0HERMES", user="U0HERMES", bot="B0HERMES")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.mark.parametrize(
    "written,verb,rest",
    [
        ("", "help", ""),
        ("  Help ", "help", ""),
        ("memory mine", "memory", "mine"),
        ("我的记忆", "memory", ""),
        ('route "where is it"', "route", "where is it"),
        ("reject APR-1 abc  too late", "reject", "APR-1 abc  too late"),
        ("dance", "", ""),
    ],
)
def test_a_command_is_read_in_both_languages(written: str, verb: str, rest: str) -> None:
    words = read_words(written)

    assert (words.verb, words.all) == (verb, rest)


@given(st.text())
def test_any_text_is_a_command_or_none(text: str) -> None:
    assert read_words(text).verb in {*VERBS.values(), ""}


def test_a_command_names_who_is_mentioned_and_reads_as_it_was_written() -> None:
    body = {"user_id": "U1", "team_id": "T1", "channel_id": "C1", "text": "assign T-1 <@U2|omar> &amp; co"}
    message = read_command(body | {"trigger_id": "1.2"}, bot=BOT)

    assert message is not None
    assert (message.data["text"], message.data["mentioned"]) == ("assign T-1 @omar & co", "U2")
    assert message.task_id == "command:T1:U1:1.2"


@given(st.dictionaries(st.sampled_from(NAMES), JSON))
def test_whatever_comes_makes_no_trouble(body: dict[str, object]) -> None:
    for reader in (read_command, read_shortcut, read_opened):
        message = reader(body, bot=BOT)
        assert message is None or message.data["user"]
