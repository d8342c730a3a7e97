"""The triage example: each line of its README's table, on the settings that it names."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from tests.examples.kit import EMMA, EXAMPLES, SUPPORT, example
from tests.scenario.stage import APPROVE, OMAR

LINA = "U0LINA"
README = (EXAMPLES / "triage" / "README.md").read_text(encoding="utf-8")
STATE, REFUND, CHINESE, BOTH, HUMAN, WEATHER = re.findall(r"\| `([^`]+)` \|", README)


async def test_what_the_readme_says_happens(vectors: Path, tmp_path: Path) -> None:
    shutil.copytree(vectors, tmp_path / "data" / "cache")
    async with example("triage", tmp_path) as stage:
        assert "Order 10002 is on its way" in await stage.ask(EMMA, SUPPORT, STATE)

        talk = await stage.say(EMMA, SUPPORT, REFUND)
        card = await stage.card("approval", "10001")
        await stage.click(OMAR, card, APPROVE)
        await stage.until(lambda: any("refunded" in post.text for post in stage.replies(talk)))

        assert "10008 正在运送途中" in await stage.ask(LINA, SUPPORT, CHINESE)

        both = await stage.ask(EMMA, SUPPORT, BOTH)
        assert "10002" in both
        assert "10003" in both

        await stage.say(EMMA, SUPPORT, HUMAN)
        await stage.until(lambda: stage.cards("handoff", "Emma"))

        assert "help with that" in await stage.ask(EMMA, SUPPORT, WEATHER)
