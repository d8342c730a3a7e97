"""Text in and out: escaped once, decoded once, split where a reader would."""

from __future__ import annotations

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.edge.text import clipped, decode, escape, head, mentions, shorten, split, storable

ANY_TEXT = st.text(max_size=300)


def test_only_the_three_characters_are_escaped() -> None:
    assert escape("<!channel> & *you*") == "&lt;!channel&gt; &amp; *you*"


@pytest.mark.parametrize(
    "raw, read",
    [
        ("Q&amp;A: a &lt; b", "Q&A: a < b"),
        ("&amp;lt;", "&lt;"),
        ("<@U0HERMES> where is it", "where is it"),
        ("hello <@U0HERMES|hermes> there", "hello  there"),
        ("<@U0EMMA> and <@U0EMMA|Emma>", "@U0EMMA and @Emma"),
        ("<#C0SUPPORT|support> <#C0X|> <#C0X>", "#support #C0X #C0X"),
        ("<!here> <!subteam^S0OPS|@ops> <!subteam^S0OPS>", "@here @ops @S0OPS"),
        ("<https://shop.example/o/1234|shop.example/o/1234>", "shop.example/o/1234"),
        ("<https://shop.example/o/1234|my order>", "my order (https://shop.example/o/1234)"),
        ("<mailto:emma@example.com|emma@example.com>", "emma@example.com"),
        ("<https://a.example/?x=1&amp;y=2>", "https://a.example/?x=1&y=2"),
        ("<!date^1392734382^{date}|Feb 18>", "Feb 18"),
        ("nul \x00 byte and \ud800", "nul  byte and ?"),
    ],
)
def test_slack_text_is_decoded_to_what_a_person_reads(raw: str, read: str) -> None:
    assert decode(raw, bot_user="U0HERMES") == read


@given(ANY_TEXT)
def test_what_is_escaped_decodes_to_itself(text: str) -> None:
    assert decode(escape(text)) == storable(text).strip()


@given(st.text(alphabet="<>&@#!|^:mailto U0", max_size=60))
def test_decoding_never_fails_on_broken_tokens(text: str) -> None:
    assert isinstance(decode(text, bot_user="U0"), str)


def test_a_mention_is_seen_with_and_without_a_label() -> None:
    assert mentions("hi <@U0HERMES>", "U0HERMES")
    assert mentions("hi <@U0HERMES|hermes>", "U0HERMES")
    assert not mentions("hi <@U0HERMESX>", "U0HERMES")


@given(st.text(max_size=2_000), st.integers(min_value=40, max_value=500))
def test_pieces_are_within_the_limit_and_lose_nothing_but_blanks(text: str, limit: int) -> None:
    pieces = split(text, limit)

    assert all(len(escape(piece)) <= limit for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(text.split())


EMOJI = ("👩‍👩‍👧‍👦", "🇩🇪", "👍🏽", "é", "中", "a", " ", "&", "।", "\n")


@given(st.lists(st.sampled_from(EMOJI), max_size=200), st.integers(min_value=40, max_value=90))
def test_no_cut_falls_inside_what_people_see_as_one_character(characters: list[str], limit: int) -> None:
    text = "".join(characters)

    pieces = split(text, limit)

    whole = [grapheme for grapheme in regex.findall(r"\X", text) if grapheme.strip()]
    assert [grapheme for piece in pieces for grapheme in regex.findall(r"\X", piece) if grapheme.strip()] == whole


def test_a_character_longer_than_the_limit_is_still_split() -> None:
    text = "a" + "\u0301" * 500

    assert "".join(split(text, 100)) == text


def test_a_text_is_cut_after_a_sentence_rather_than_inside_one() -> None:
    text = "The first sentence is here. The second one does not fit"

    assert split(text, 40) == ["The first sentence is here.", "The second one does not fit"]


def test_chinese_is_cut_after_its_own_full_stop() -> None:
    assert split("您的订单已经发货。预计明天送达您家", 12) == ["您的订单已经发货。", "预计明天送达您家"]


@given(ANY_TEXT, st.integers(min_value=12, max_value=80))
def test_a_shortened_text_fits_once_escaped(text: str, limit: int) -> None:
    assert len(escape(shorten(text, limit))) <= limit


LINK, CODE, FENCED = "https://example.com/a/b?c=d&e=f#g", "`x = [1, 2, 3]`", "```\nfor x in y:\n    z()\n```"
WHOLE = (LINK, CODE, FENCED, "*two bold words*", EMOJI[0])


@given(st.lists(st.sampled_from(WHOLE) | st.text("ab &<>.,\n中文", max_size=30), max_size=40), st.integers(120, 400))
def test_no_link_no_code_and_no_character_is_cut(parts: list[str], limit: int) -> None:
    text = " ".join(parts)
    pieces = split(text, limit)

    assert all(len(escape(piece)) <= limit for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(text.split())
    for whole in WHOLE:
        assert sum(piece.count(whole) for piece in pieces) == text.count(whole)


LINE = st.text("abcd =()&<> 中", min_size=1, max_size=60).map(str.strip).filter(bool)
BODY = st.lists(LINE, min_size=1, max_size=40).map("\n".join)
PROSE = st.lists(LINE | st.sampled_from((LINK, CODE, "*bold words*", EMOJI[0])), min_size=1, max_size=12).map(" ".join)
MIXED = st.lists(PROSE | BODY.map(lambda body: f"```\n{body}\n```"), max_size=6).map("\n".join)


def without_fences(text: str) -> str:
    return "".join(text.replace("```", "").split())


@given(MIXED, st.integers(150, 500))
def test_code_longer_than_a_piece_is_closed_and_opened_again(text: str, limit: int) -> None:
    pieces = split(text, limit)

    assert without_fences("".join(pieces)) == without_fences(text)
    assert all(0 < len(escape(piece)) <= limit for piece in pieces)
    assert all(piece.strip("` \n") and piece.count("```") % 2 == 0 for piece in pieces)


def test_code_is_cut_after_a_line_and_its_lines_keep_their_indent() -> None:
    text = "Look:\n```\nif a < b:\n    first()\n    second()\n    third()\n```\ndone"

    assert split(text, 48) == [
        "Look:\n```\nif a < b:\n    first()\n```",
        "```\n    second()\n    third()\n```\ndone",
    ]


@given(st.lists(st.sampled_from((*EMOJI, "x")), min_size=60, max_size=300), st.sampled_from(("```", "`")))
def test_one_long_line_of_code_is_cut_between_characters(characters: list[str], mark: str) -> None:
    line = "".join(each for each in characters if each.strip())
    pieces = split(f"{mark}{line}{mark}", 80)

    assert all(piece.startswith(mark) and piece.endswith(mark) and len(escape(piece)) <= 80 for piece in pieces)
    inner = "".join(piece.strip("`\n") for piece in pieces)
    assert inner == line
    assert sum(len(regex.findall(r"\X", piece.strip("`\n"))) for piece in pieces) == len(regex.findall(r"\X", line))


ATOMS = ("&amp;", "&lt;", "&gt;", "<https://example.com/?a=1&amp;b=2|the order>", "<@U0EMMA>", EMOJI[0], "a", " ", "中")


@given(st.lists(st.sampled_from(ATOMS), max_size=60), st.integers(12, 120))
def test_what_is_escaped_is_clipped_between_its_parts(parts: list[str], limit: int) -> None:
    text = "".join(parts)
    shown = clipped(text, limit)

    starts = ["".join(parts[:count]).rstrip() for count in range(len(parts) + 1)]
    assert len(shown) <= limit
    assert shown == text or (shown.endswith("…") and shown[:-1] in starts)


def test_code_that_is_clipped_is_closed() -> None:
    assert clipped("```" + "x" * 50 + "```", 20) == "```" + "x" * 13 + "…```"


@given(st.lists(st.sampled_from(EMOJI), max_size=40), st.integers(0, 60))
def test_the_head_of_a_text_holds_whole_characters(characters: list[str], limit: int) -> None:
    text = "".join(characters)

    shown = head(text, limit)
    assert len(shown) <= limit
    assert regex.findall(r"\X", shown) == regex.findall(r"\X", text)[: len(regex.findall(r"\X", shown))]


def test_a_shortened_text_holds_no_half_of_a_link() -> None:
    assert shorten(f"Your order is here: {LINK}", 40) == "Your order is here:…"
