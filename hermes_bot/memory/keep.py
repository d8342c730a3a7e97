"""The rules of what is kept of a customer's words: preferences, confirmed addresses, decisions, known problems.

A language model may propose; it is held to the same rules, and to what the message says. Nothing that gives orders to
the bot or the shop is kept, and nothing with a secret in it: what a customer wrote once must not steer later answers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hermes_bot.memory.essence import essence, identifiers, overlap
from hermes_bot.memory.fact import FactKind
from hermes_bot.memory.keep_words import ADDRESS, DECISIONS, ORDERS_TO_THE_BOT, PREFERENCES, PROBLEMS, SUBJECTS
from hermes_bot.memory.secrets import holds_secret

MOST_PER_MESSAGE = 5
MOST_CHARACTERS = 300
GROUNDED = 0.6  # share of a proposal's words that must stand in the message

_SENTENCE = re.compile(r"[^.!?。！？\n;；]+(?:[.](?=\S)[^.!?。！？\n;；]+)*[.!?。！？]*")
_ASKS = re.compile(
    r"[?？]\s*$|[吗呢]\s*[。.]?\s*$|^\s*(?:what|where|when|why|who|how|can|could|would you|will you|do you|does|is|are|"
    r"did|should|may|if|suppose|imagine)\b|^(?:请问|如果|假如|要是|能不能|可以)",
    re.IGNORECASE,
)
_LINK = re.compile(r"https?://|www\.|<[@#!]", re.IGNORECASE)
_SUBJECT = re.compile(r"[a-z][a-z_. -]{0,60}")
_KINDS = frozenset({FactKind.PREFERENCE, FactKind.ADDRESS, FactKind.DECISION, FactKind.PROBLEM})
_RULES = (
    (FactKind.ADDRESS, ADDRESS),
    (FactKind.PROBLEM, PROBLEMS),
    (FactKind.DECISION, DECISIONS),
    (FactKind.PREFERENCE, PREFERENCES),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A sentence that may be worth keeping. `subject`: of one subject the newest holds, empty where it has none.

    `proposed` by a model, and not found by the rules.
    """

    kind: FactKind
    text: str
    subject: str = ""
    proposed: bool = True


def said_in(text: str, language: str = "") -> list[Candidate]:
    """Return what the rules find in a customer's message, in English and Chinese; `language` is not needed."""
    found = []
    for sentence in _SENTENCE.findall(text):
        words = sentence.strip(" \t,，、-*•")
        if words and not _ASKS.search(words):
            found += [each for each in [_candidate(words)] if each is not None]
    return found


def accepted(candidates: Sequence[Candidate], message: str) -> list[Candidate]:
    """Return those that may be kept, each thing once, at most a handful of one message."""
    kept: dict[tuple[FactKind, str], Candidate] = {}
    for candidate in candidates:
        if not refusal(candidate, message):
            kept.setdefault((candidate.kind, candidate.subject or essence(candidate.text)), candidate)
    return list(kept.values())[:MOST_PER_MESSAGE]


def refusal(candidate: Candidate, message: str) -> str:
    """Return in a word why this is not kept, empty where it is."""
    text = candidate.text.strip()
    if candidate.kind not in _KINDS or len(text) > MOST_CHARACTERS or not text:
        return "shape"
    if holds_secret(text):
        return "secret"
    if ORDERS_TO_THE_BOT.search(text) or _LINK.search(text):
        return "order"
    if candidate.proposed and not _grounded(candidate, message):
        return "not said"
    return ""


def _candidate(words: str) -> Candidate | None:
    kind = next((kind for kind, pattern in _RULES if pattern.search(words)), None)
    if kind is None:
        return None
    return Candidate(kind=kind, text=words, subject=_subject(kind, words), proposed=False)


def _subject(kind: FactKind, words: str) -> str:
    if kind is FactKind.ADDRESS:
        return "address"
    if kind is FactKind.PREFERENCE:
        return next((subject for subject, pattern in SUBJECTS.items() if pattern.search(words)), "")
    named = sorted(identifiers(words))
    return f"{kind}:{named[0]}" if kind is FactKind.DECISION and len(named) == 1 else ""


def _grounded(candidate: Candidate, message: str) -> bool:
    """Return whether the message says it: its words, every number in it, and no subject of the model's own making."""
    subject_fits = not candidate.subject or bool(_SUBJECT.fullmatch(candidate.subject))
    numbers = identifiers(candidate.text) <= identifiers(message)
    return subject_fits and numbers and overlap(candidate.text, message) >= GROUNDED
