"""The order agent: where an order is and when it comes."""

from __future__ import annotations

from agents.desk import Desk
from agents.planner import Planner
from agents.serving import serve
from hermes_bot.messages.message import Message


class OrderAgent:
    """Handles ticket.order."""

    name = "order"

    def __init__(self, planner: Planner) -> None:
        self._planner = planner

    async def handle(self, message: Message, desk: Desk) -> list[Message]:
        """Return the answer, a question, or the work for people."""
        return await serve(message, desk, agent=self.name, planner=self._planner)
