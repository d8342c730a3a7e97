"""Orders facts by how well they answer a question: nearness of meaning, words in common, the same numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hermes_bot.memory.essence import identifiers, overlap
from hermes_bot.memory.fact import Fact, Recalled

WORDS_WEIGHT = 0.25
IDENTIFIER_BONUS = 0.5


def ranked(query: str, facts: Sequence[Fact], cosines: Mapping[int, float]) -> list[Recalled]:
    """Return the facts, the best first. Encoders read numbers badly, so the same order number counts by itself.

    A fact without a cosine goes by its words alone.
    """
    named = identifiers(query)
    found = []
    for fact in facts:
        cosine = cosines.get(fact.id, 0.0)
        bonus = IDENTIFIER_BONUS if named & identifiers(fact.text) else 0.0
        score = cosine + WORDS_WEIGHT * overlap(query, fact.text) + bonus
        found.append(Recalled(fact=fact, cosine=cosine, score=score))
    return sorted(found, key=lambda each: (each.score, each.fact.at, each.fact.id), reverse=True)
