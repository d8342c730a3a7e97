"""Whether what is wanted is among the first five, on questions of our own in English and Chinese."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from hermes_bot.llm.light_encoder import LightEncoder
from hermes_bot.memory.fact import FactKind
from hermes_bot.memory.knowledge import Knowledge
from hermes_bot.memory.memory import Memory
from hermes_bot.memory.owner import Concluded, PersonOwner
from hermes_bot.store.database import Database
from tests.memory.kit import Clock

ROOT = Path(__file__).parents[2]
GOAL = 0.9


def rows(name: str) -> list[dict[str, Any]]:
    text = (ROOT / "tests" / "data" / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


async def test_the_fact_that_is_meant_is_among_the_first_five(database: Database, clock: Clock) -> None:
    memory = Memory(database, LightEncoder(), clock=clock)
    meant: dict[tuple[str, str], int] = {}
    for row in rows("memory_facts.jsonl"):
        person = PersonOwner("T1", row["owner"])
        source = Concluded(about=person, agent="memory")
        fact = await memory.remember(
            person, row["text"], kind=FactKind(row["kind"]), source=source, subject=row["subject"]
        )
        assert fact is not None, row
        meant[row["owner"], row["key"]] = fact.id
    hits, asked = Counter[str](), Counter[str]()
    for row in rows("memory_queries.jsonl"):
        found = await memory.recall(PersonOwner("T1", row["owner"]), row["query"])
        asked[row["language"]] += 1
        hits[row["language"]] += meant[row["owner"], row["key"]] in [each.fact.id for each in found]

    assert asked.total() >= 60
    assert {language: hits[language] / count >= GOAL for language, count in asked.items()} == {"en": True, "zh": True}


async def test_the_article_that_is_meant_is_among_the_first_five() -> None:
    knowledge = Knowledge(ROOT / "configs" / "knowledge", LightEncoder())
    asked = rows("memory_articles.jsonl")
    hits = 0
    for row in asked:
        hits += row["source"] in [each.passage.source for each in await knowledge.find(row["query"], 5)]

    assert hits / len(asked) >= GOAL
