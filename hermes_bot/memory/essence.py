"""What two sentences have in common: whether they say the same, or the contrary, of the same thing; shared names."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from itertools import pairwise

_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?|[0-9]+|[^\W\d_a-z]", re.UNICODE)
_IDENTIFIER = re.compile(r"[A-Za-z]*[0-9][A-Za-z0-9-]{2,}")
_EMPTY_ENGLISH = (
    "a an the i i'm i'd i've my me we our you your it it's is are was were be been am do does did don't doesn't didn't "
    "not no never isn't aren't wasn't won't can't cannot please to of in on at for and or with that this these those "
    "really very always now still just also have has had will would like want prefer rather like love hate dislike "
    "any more longer anymore"
)
_EMPTY_CHINESE = "的了吗呢吧啊我您你请把被是不没别未再也都就还很要想希望喜欢讨厌愿意以后现在总有会能"
_EMPTY = frozenset(_EMPTY_ENGLISH.split()) | frozenset(_EMPTY_CHINESE)


def normalised(text: str) -> str:
    """Return the words of the text in one form: width, case, white space and punctuation do not count."""
    return " ".join(_words(text))


def essence(text: str) -> str:
    """Return a short hash that is the same for sentences about the same thing, whether they say yes or no to it.

    Left out are words that carry no subject, and those that turn a sentence into its contrary; what is left must be
    the same in any order. Where nothing is left the whole sentence counts.
    """
    words = _words(text)
    told = sorted({word for word in words if word not in _EMPTY}) or words
    return hashlib.blake2b(" ".join(told).encode(), digest_size=16).hexdigest()


def identifiers(text: str) -> frozenset[str]:
    """Return what looks like a number of something: an order, a product, a tracking number, in one form."""
    return frozenset(found.lower() for found in _IDENTIFIER.findall(unicodedata.normalize("NFKC", text)))


def overlap(question: str, text: str) -> float:
    """Return how much of the question's words stands in the text, 0..1; Chinese counts by pairs of characters."""
    asked, told = _features(question), _features(text)
    return len(asked & told) / len(asked) if asked else 0.0


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def _features(text: str) -> set[str]:
    words = [word for word in _words(text) if word not in _EMPTY]
    pairs = {a + b for a, b in pairwise(words) if not a.isascii() and not b.isascii()}
    return {_stem(word) for word in words if word.isascii()} | pairs


def _stem(word: str) -> str:
    for ending in ("ing", "ies", "es", "ed", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
