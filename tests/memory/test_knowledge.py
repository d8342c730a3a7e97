import asyncio
from pathlib import Path

import pytest

from hermes_bot.errors import TransientError
from hermes_bot.memory.knowledge import MOST_CHARACTERS, Knowledge, passages_of
from tests.memory.kit import WordEncoder

ARTICLE = """Words before any heading.

# Delivery

Parcels take three days.

## Abroad

Elsewhere up to ten days.

```
# no heading in here
```

## Late parcels

We ask the carrier.
"""


def test_an_article_is_cut_at_its_headings() -> None:
    found = [(each.title, each.source, each.text.splitlines()[0]) for each in passages_of("post/delivery.md", ARTICLE)]

    assert found == [
        ("delivery", "post/delivery.md", "Words before any heading."),
        ("Delivery", "post/delivery.md#Delivery", "Parcels take three days."),
        ("Delivery › Abroad", "post/delivery.md#Abroad", "Elsewhere up to ten days."),
        ("Delivery › Late parcels", "post/delivery.md#Late parcels", "We ask the carrier."),
    ]


def test_a_long_section_becomes_several_passages_of_the_same_source() -> None:
    text = "# Rules\n\n" + "\n\n".join(f"Rule {number}. " + "word " * 60 for number in range(12)) + "\n\n" + "x" * 3_000

    found = list(passages_of("rules.md", text))
    assert {each.source for each in found} == {"rules.md#Rules"}
    assert all(len(each.text) <= MOST_CHARACTERS for each in found)
    assert sum(each.text.count("Rule ") for each in found) == 12


async def test_a_passage_is_quoted_with_its_source(tmp_path: Path) -> None:
    await asyncio.to_thread((tmp_path / "delivery.md").write_text, ARTICLE)
    knowledge = Knowledge(tmp_path, WordEncoder())

    (best, *_) = await knowledge.find("how long elsewhere")
    assert best.passage.quoted.startswith("Elsewhere up to ten days.")
    assert best.passage.quoted.endswith("[delivery.md#Abroad]")


async def test_a_change_of_the_files_is_read_at_the_next_question(tmp_path: Path) -> None:
    article, encoder = tmp_path / "delivery.md", WordEncoder()
    knowledge = Knowledge(tmp_path, encoder, cache_folder=tmp_path / "cache")
    assert await knowledge.find("parcels") == []
    await asyncio.to_thread(article.write_text, "# Delivery\n\nParcels take three days.\n")
    assert [each.passage.text for each in await knowledge.find("parcels")] == ["Parcels take three days."]
    await asyncio.to_thread(article.write_text, "# Delivery\n\nParcels take five long days.\n")
    assert [each.passage.text for each in await knowledge.find("parcels")] == ["Parcels take five long days."]
    before = encoder.encoded
    await knowledge.find("parcels")
    assert encoder.encoded == before + 1
    await asyncio.to_thread(article.unlink)

    assert await knowledge.find("parcels") == []


async def test_articles_of_before_are_used_while_the_encoder_is_away(tmp_path: Path) -> None:
    encoder = WordEncoder()
    await asyncio.to_thread((tmp_path / "a.md").write_text, "# A\n\nParcels take three days.\n")
    knowledge = Knowledge(tmp_path, encoder)
    await knowledge.passages()
    await asyncio.to_thread((tmp_path / "b.md").write_text, "# B\n\nReturns are free.\n")
    encoder.away = True

    assert [each.source for each in await knowledge.passages()] == ["a.md#A"]
    with pytest.raises(TransientError):
        await knowledge.find("parcels")


async def test_a_file_that_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    await asyncio.to_thread((tmp_path / "bad.md").write_bytes, b"\xff\xfe\x00bad")
    await asyncio.to_thread((tmp_path / "good.md").write_text, "# Good\n\nReturns are free.\n")

    assert [each.source for each in await Knowledge(tmp_path, WordEncoder()).passages()] == ["good.md#Good"]


async def test_no_folder_is_no_knowledge() -> None:
    assert await Knowledge(None, WordEncoder()).find("anything") == []
