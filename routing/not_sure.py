"""When it is better to ask than to guess: two small numbers in the routes file."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from pydantic import BaseModel, ConfigDict, Field

MOST_CANDIDATES = 3


class NotSure(BaseModel):
    """Ask when the best probability is less than `margin` ahead of the next; a `margin` of 0 never asks.

    What is asked about are the routes with a probability of at least `floor`. Where none has, the message is clearly
    nobody's and nothing is asked.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    margin: float = Field(default=0.0, ge=0.0, le=1.0)
    floor: float = Field(default=0.3, ge=0.0, le=1.0)

    def candidates(self, scores: Mapping[str, float], nobody: Collection[str]) -> tuple[str, ...]:
        """Return the routes to ask about, most probable first; none when the choice is clear enough."""
        ranked = sorted(scores.items(), key=lambda item: -item[1])
        if len(ranked) < 2 or ranked[0][1] - ranked[1][1] >= self.margin:
            return ()
        found = [name for name, score in ranked if score >= self.floor and name not in nobody]
        return tuple(found[:MOST_CANDIDATES])
