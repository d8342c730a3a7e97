"""What becomes of the text that people type."""

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.workspace.emoji import shortcoded
from hermes_bot.workspace.people import Member, demo_world
from hermes_bot.workspace.typed_text import typed_text

MEMBERS = (*demo_world().members, Member(id="U0HERMES", name="Hermes"), Member(id="U0EM", name="Emma"))
CHANNELS = demo_world().channels
GROUPS = demo_world().groups


@pytest.mark.parametrize(
    "typed,kept",
    [
        ("a < b & c > d", "a &lt; b &amp; c &gt; d"),
        ("@Hermes hello", "<@U0HERMES> hello"),
        ("@hermes, hello", "<@U0HERMES>, hello"),
        ("@Emma Fischer and @Emma", "<@U0EMMA> and <@U0EM>"),
        ("ask @李娜 (Li Na) please", "ask <@U0LINA> please"),
        ("@Hermesian", "@Hermesian"),
        ("<@U0HERMES>", "&lt;@U0HERMES&gt;"),
        ("ask @approvers", "ask <!subteam^S0APPROVERS>"),
        ("@here @channel", "<!here> <!channel>"),
        ("see #support", "see <#C0SUPPORT|support>"),
        ("`@Hermes <x>` @Hermes", "`@Hermes &lt;x&gt;` <@U0HERMES>"),
        ("see https://example.com/a?b=1&c=2.", "see <https://example.com/a?b=1&amp;c=2>."),
        ("where is my 📦?", "where is my :package:?"),
        ("`📦` 📦 https://example.com/📦", "`📦` :package: <https://example.com/📦>"),
        ("i am emma@hermes.example", "i am <mailto:emma@hermes.example|emma@hermes.example>"),
    ],
)
def test_typed_text_becomes_slacks(typed: str, kept: str) -> None:
    assert typed_text(typed, MEMBERS, CHANNELS, GROUPS) == kept


@given(st.text(alphabet=st.characters(exclude_characters="@#:`", codec="utf-8")))
def test_text_without_tokens_is_escaped_and_nothing_else(typed: str) -> None:
    kept = typed_text(typed, MEMBERS, CHANNELS, GROUPS)

    assert "<" not in kept
    assert ">" not in kept
    assert html.unescape(kept) == html.unescape(shortcoded(typed).replace("&", "&amp;"))


@given(st.text(alphabet="@#<>& `:/.ahHermes"))
def test_a_bracket_in_the_result_is_always_a_token_of_ours(typed: str) -> None:
    kept = typed_text(typed, MEMBERS, CHANNELS, GROUPS)

    assert kept.count("<") == kept.count(">")
    for token in kept.split("<")[1:]:
        assert token.startswith(("@U0", "#C0", "!", "http", "mailto:"))
