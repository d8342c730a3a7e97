"""The app's side of clicks and forms: a bolt app whose listeners answer as a test says, with its card and its modal."""

import re
from collections.abc import Awaitable, Callable
from typing import Any

from slack_bolt.async_app import AsyncAck

from hermes_bot.workspace.server import WorkspaceServer
from tests.workspace.bot import Bot

Json = dict[str, Any]


def text(words: str) -> Json:
    return {"type": "plain_text", "text": words}


def card() -> list[Json]:
    approve = {"type": "button", "action_id": "approve", "text": text("Approve"), "value": "r1", "style": "primary"}
    reject = {"type": "button", "action_id": "reject", "text": text("Reject"), "value": "r1"}
    options = [{"text": text(name), "value": name} for name in ("red", "blue")]
    colour = {"type": "static_select", "action_id": "colour", "options": options}
    return [{"type": "actions", "block_id": "card", "elements": [approve, reject, colour]}]


def modal(**more: Any) -> Json:
    reason = {"type": "plain_text_input", "action_id": "reason", "max_length": 20}
    blocks = [{"type": "input", "block_id": "why", "label": text("Why?"), "element": reason}]
    return {
        "type": "modal",
        "callback_id": "note",
        "title": text("Note"),
        "submit": text("Send"),
        "blocks": blocks,
        **more,
    }


class Clicks:
    """The app's side: a bolt app whose listeners answer as the test says."""

    def __init__(self, bot: Bot, server: WorkspaceServer) -> None:
        self.bot = bot
        self.client = bot.client
        self.server = server
        self.payloads: list[Json] = []
        self.then: Callable[[Json], Awaitable[object]] | None = None
        self.answer: Json = {}
        bot.app.action(re.compile(".*"))(self._clicked)
        bot.app.view("note")(self._submitted)
        bot.app.view_closed("note")(self._closed)

    async def _clicked(self, ack: AsyncAck, body: Json) -> None:
        self.payloads.append(body)
        if self.then is not None:
            await self.then(body)
        await ack()

    async def _submitted(self, ack: AsyncAck, body: Json) -> None:
        self.payloads.append(body)
        await ack(**self.answer)

    async def _closed(self, ack: AsyncAck, body: Json) -> None:
        self.payloads.append(body)
        await ack()

    async def open_modal(self, **more: Any) -> Json:
        """Let Omar click, the app open a modal, and return the view as Omar has it."""

        async def open_it(body: Json) -> None:
            await self.client.views_open(trigger_id=body["trigger_id"], view=modal(**more))

        self.then = open_it
        posted = await self.client.chat_postMessage(channel="C0SUPPORT", text="card", blocks=card())
        outcome = await self.server.workspace.click("U0OMAR", "C0SUPPORT", posted["ts"], "approve")
        assert outcome.ok
        return self.server.workspace.modals("U0OMAR")[-1]
