"""A route as an admin writes it: what it emits, who gets it, and what leads to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator, model_validator

Word = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
Name = Annotated[str, StringConstraints(pattern=r"^([a-z][a-z0-9_-]{0,39})?$")]
Expression = Annotated[str, StringConstraints(min_length=1, max_length=1000)]
Sentence = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


class Keywords(BaseModel):
    """One rule. It hits when no word of `none` occurs and one of these holds:

    a phrase occurs, a pattern (RE2, on folded text) occurs, or every word of `all` occurs and one of `any`
    (each of the two counts only where it is given).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    any: tuple[Word, ...] = ()
    all: tuple[Word, ...] = ()
    none: tuple[Word, ...] = ()
    phrases: tuple[Word, ...] = ()
    patterns: tuple[Expression, ...] = ()

    @model_validator(mode="after")
    def _says_something(self) -> Keywords:
        if not (self.any or self.all or self.phrases or self.patterns):
            raise ValueError("a rule needs any, all, phrases or patterns")
        return self


class Projection(BaseModel):
    """What the agent sees of a message's data: the fields of these names, and no other."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    include: tuple[Word, ...]


class Route(BaseModel):
    """One entry of the routes file.

    `utterances` are examples by language, `skills` sentences on what the agent does, encoded beside them.
    `score_threshold` is the probability below which similarity does not choose the route; without one the router's
    own counts. `capability` instead of `agent` leaves it to the scheduler which of the agents that have it gets a
    message; `projection` limits what the agent sees of one. A route with `nobody` shows what no agent should take: its
    utterances take part, winning means none.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,39}$")]
    type: Annotated[str, StringConstraints(pattern=r"^[a-z0-9_-]+(\.[a-z0-9_-]+)*$", max_length=120)]
    agent: Name = ""
    capability: Name = ""
    description: str = ""
    priority: int = Field(default=0, ge=-1000, le=1000)
    keywords: tuple[Keywords, ...] = ()
    utterances: dict[Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}$")], tuple[Sentence, ...]] = {}
    skills: tuple[Sentence, ...] = ()
    score_threshold: float | None = Field(default=None, ge=0.0, le=1.0)
    projection: Projection | None = None
    nobody: bool = False
    enabled: bool = True

    @model_validator(mode="after")
    def _says_who_gets_it(self) -> Route:
        if bool(self.agent) == bool(self.capability):
            raise ValueError("a route needs agent or capability, one of the two")
        return self

    @field_validator("keywords", mode="before")
    @classmethod
    def _one_rule_needs_no_list(cls, value: object) -> object:
        return (value,) if isinstance(value, dict) else value

    def examples(self) -> Iterator[tuple[str, str]]:
        """Yield (language, sentence) of every utterance and skill; a skill's language is empty."""
        for language, sentences in self.utterances.items():
            yield from ((language, sentence) for sentence in sentences)
        yield from (("", sentence) for sentence in self.skills)
