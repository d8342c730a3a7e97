"""The memory as an agent's desk holds it."""

from __future__ import annotations

from dataclasses import dataclass

from hermes_bot.memory.board import Board
from hermes_bot.memory.knowledge import Knowledge
from hermes_bot.memory.memory import Memory
from hermes_bot.memory.working import WorkingMemory


@dataclass(frozen=True, slots=True, kw_only=True)
class Memories:
    """The three layers and the shop's articles: `board` per ticket, `working` per ticket and agent."""

    long_term: Memory
    board: Board
    working: WorkingMemory
    knowledge: Knowledge
