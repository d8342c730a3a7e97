"""How many tokens a text costs a language model at most, without its tokenizer."""

from __future__ import annotations

import re

_PIECES = re.compile(r"[A-Za-z]+|[0-9]|\s+|[^\x00-\x7f]|.", re.DOTALL)
_LETTERS_A_TOKEN = 3
_LETTERS_A_TOKEN_OF_NO_WORD = 1.5
_LONGEST_WORD = 16
_HANGUL = (0xAC00, 0xD7A3)  # some vocabularies take a syllable apart


def estimated_tokens(text: str) -> int:
    """Return an estimate that errs upwards, for the usual byte-pair vocabularies.

    An English word costs one token for every three letters begun, where four to five are usual; letters that are no
    word (long runs, mixed case) two for three. A digit and a punctuation mark cost one each, white space only where it
    is more than one blank. Every other character costs one token, and two beyond Latin, Greek and Cyrillic, where one
    is usual for a common Chinese character; three for a Korean syllable, four beyond the basic plane.
    """
    return sum(map(_cost, _PIECES.findall(text)))


def cut_to(text: str, limit_tokens: int) -> str:
    """Return the text, or as much of its beginning as costs no more than the limit, ending in an ellipsis."""
    if estimated_tokens(text) <= limit_tokens:
        return text
    spent, end = 2, 0  # the ellipsis
    for match in _PIECES.finditer(text):
        spent += _cost(match.group())
        if spent > limit_tokens:
            break
        end = match.end()
    return text[:end].rstrip() + "…" if end else ""


def _cost(piece: str) -> int:
    first = piece[0]
    if first.isascii() and first.isalpha():
        word = len(piece) <= _LONGEST_WORD and (piece[1:].islower() or piece.isupper() or len(piece) == 1)
        return int(-(-len(piece) // (_LETTERS_A_TOKEN if word else _LETTERS_A_TOKEN_OF_NO_WORD)))
    if first.isspace() and first.isascii():
        return 0 if piece == " " else 1 + piece.count("\n")
    if ord(first) < 0x530:
        return 1
    if _HANGUL[0] <= ord(first) <= _HANGUL[1]:
        return 3
    return 2 if ord(first) <= 0xFFFF else 4
