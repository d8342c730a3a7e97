"""What people do with the bot beside writing: commands, shortcuts, Home; and what they read then."""

from __future__ import annotations

from typing import Any

from hermes_bot.edge.manifest import COMMAND
from hermes_bot.workspace.interactions import Outcome
from tests.scenario.stage import SUPPORT, Stage


async def command(stage: Stage, user: str, text: str, channel: str = SUPPORT) -> str:
    """Return what the person alone reads next, after the command."""
    before = len(stage.workspace.ephemerals(user))
    assert (await stage.workspace.command(user, channel, COMMAND, text)).ok
    return await next_word(stage, user, before)


async def next_word(stage: Stage, user: str, before: int) -> str:
    """Return what the person was told alone, once it is more than they had been told before."""
    await stage.until(lambda: len(stage.workspace.ephemerals(user)) > before)
    return str(stage.workspace.ephemerals(user)[before]["text"])


async def shortcut(stage: Stage, user: str, callback_id: str, channel: str, ts: str) -> str:
    """Return what the person alone reads next, after a shortcut of a message."""
    before = len(stage.workspace.ephemerals(user))
    outcome: Outcome = await stage.workspace.shortcut(user, callback_id, channel, ts)
    assert outcome.ok
    return await next_word(stage, user, before)


async def home(stage: Stage, user: str, *words: str) -> dict[str, Any]:
    """Return the person's Home once these words stand on it."""
    await stage.workspace.open_home(user)
    await stage.until(lambda: all(word in repr(stage.workspace.homes.of(user)) for word in words))
    view = stage.workspace.homes.of(user)
    assert view is not None
    return view
