"""One form of a text for matching: what looks the same to a reader is the same to a rule.

`fold` serves the words of keyword rules, `for_rules` the texts they are matched with, `for_encoder` embeddings. All
look at the head of a long text only, so that their cost is bounded whatever a customer pastes.
"""

from __future__ import annotations

import re
import unicodedata

MAX_CHARS = 2000

_SPACE = re.compile(r"\s+")
_URL = re.compile(r"https?://\S{1,500}|www\.\S{1,500}", re.IGNORECASE)
_LINK = re.compile(r"<[@#!][^<>\s]{1,100}>")
# A number of an order, parcel or invoice: at least four digits in one token. Its digits tell nothing about the
# concern and move the embedding a lot, so all of them read the same.
_NUMBER = re.compile(r"#?\b(?=(?:[a-z-]{0,12}\d){4})[a-z0-9][a-z0-9-]{3,40}\b", re.IGNORECASE | re.ASCII)
_ORDER_NUMBER = "1234"
_RUN = re.compile(r"(.)\1{3,}")
# An emoji as Slack writes it, `:package:` or `:wave::skin-tone-2:`; the colons of a time ("10:30:45") are none.
_SHORTCODE = re.compile(r":(?=[0-9_+'-]{0,30}[a-z])([a-z0-9_+'-]{1,80}):(?::skin-tone-[2-6](?:-[2-6])?:)?")
_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "`": "'", "´": "'", "“": '"', "”": '"'})


def clean(text: str) -> str:
    """Return the first `MAX_CHARS` characters without invisible marks, width variants and runs of blanks."""
    head = text[:MAX_CHARS]
    if not head.isascii():
        head = unicodedata.normalize("NFKC", head)[:MAX_CHARS]
    head = head.translate(_APOSTROPHES)
    if not head.isprintable():  # almost all texts are, and so are spared a look at each character
        head = "".join(char for char in head if not _invisible(char))
    return " ".join(head.split())


def fold(text: str) -> str:
    """Return the cleaned text without differences of case."""
    return clean(text).casefold()


def for_rules(text: str) -> str:
    """Return the folded text without links and mentions: the words of an address are not the customer's.

    An emoji within a sentence reads as its name ("where is my :package:?"), one at the end as nothing ("hi :wave:").
    """
    plain = clean(text)
    if "://" in plain or "www." in plain or "<" in plain:
        plain = clean(_LINK.sub(" ", _URL.sub(" ", plain)))
    return _named(_without_mood(plain) or plain).casefold()


def for_encoder(text: str) -> str:
    """Return the cleaned text without links and mentions, every order number replaced by the same digits.

    An emoji reads as its name. More than three of one character in a row read like three, so a cat on the keyboard
    costs nothing.
    """
    plain = _NUMBER.sub(_ORDER_NUMBER, _named(_LINK.sub(" ", _URL.sub(" ", clean(text)))))
    return _SPACE.sub(" ", _RUN.sub(r"\1\1\1", plain)).strip()


def _named(text: str) -> str:
    """Return the text with the words of each shortcode in its place."""
    return clean(_SHORTCODE.sub(lambda found: f" {found[1].replace('_', ' ')} ", text)) if ":" in text else text


def _without_mood(text: str) -> str:
    """Return the text without the shortcodes at its end."""
    end = len(text)
    for found in reversed(list(_SHORTCODE.finditer(text)) if ":" in text else []):
        if text[found.end() : end].strip():
            break
        end = found.start()
    return text[:end].rstrip()


def _invisible(char: str) -> bool:
    """Whether a character prints nothing: zero-width, direction and variation marks, controls other than blanks."""
    category = unicodedata.category(char)
    return category in {"Cf", "Cs", "Co", "Cn"} or (category == "Cc" and not char.isspace())
