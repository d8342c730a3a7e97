"""The order agent: where an order is, and what can still be done with it."""

from __future__ import annotations

from agents.desk import Desk
from agents.planner import Planner, Stepwise
from agents.serving import serve
from agents.settling import settle
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import APPROVAL_SETTLED


class OrderAgent:
    """Handles ticket.order, and approval.settled for the approvals that it asked for."""

    name = "order"

    def __init__(self, planner: Planner | Stepwise) -> None:
        self._planner = planner

    async def handle(self, message: Message, desk: Desk) -> list[Message]:
        """Return the answer, a question, a card for the approvers, or the work for people."""
        if message.type == APPROVAL_SETTLED:
            return await settle(message, desk, agent=self.name)
        return await serve(message, desk, agent=self.name, planner=self._planner)
