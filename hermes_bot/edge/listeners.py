"""What happens before Slack gets its acknowledgement: the message is published, and nothing else."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import aiohttp

from hermes_bot.edge.channels import ChannelPolicy
from hermes_bot.edge.clicks import Click, card_fields, click_message, read_clicks, read_correction, read_rejection
from hermes_bot.edge.inbound import Bot, read_event
from hermes_bot.edge.proposal_cards import Corrections
from hermes_bot.edge.slack_api import SlackApi
from hermes_bot.edge.views.approval import REJECT
from hermes_bot.edge.views.correction_modal import TEXT_BLOCK, correction_modal
from hermes_bot.edge.views.handoff import WRONG_TEAM
from hermes_bot.edge.views.look import Json
from hermes_bot.edge.views.reject_modal import REASON_BLOCK, reject_modal
from hermes_bot.errors import HermesError, PermanentError, TransientError
from hermes_bot.messages.message import Message

Publish = Callable[[Message], Awaitable[object]]

DIRECT_CALL_LIMIT_S = 2.0  # an acknowledgement is due in three
CLICK_AGAIN = "Your click could not be saved. Nothing was done; please click again. / 点击未能保存，请再点一次。"

log = logging.getLogger(__name__)


class PublishFailed(HermesError):
    """The bus did not take the message: Slack must not get its acknowledgement, so that it tells us again."""


class Listeners:
    """Publishes what people write and press."""

    def __init__(
        self,
        publish: Publish,
        api: SlackApi,
        session: aiohttp.ClientSession,
        *,
        bot: Bot,
        policy: ChannelPolicy,
        corrections: Corrections | None = None,
    ) -> None:
        self._publish = publish
        self._api = api
        self._session = session
        self._bot = bot
        self._policy = policy
        self._corrections = corrections

    async def on_event(self, body: Mapping[str, Any]) -> None:
        """Publish what a person wrote; raise PublishFailed, so that Slack delivers the event again."""
        message = read_event(body, bot=self._bot, policy=self._policy)
        if message is not None:
            await self._published(message)

    async def on_action(self, body: Mapping[str, Any]) -> None:
        """Publish each press. One that cannot be published has no second delivery: the person is asked for it."""
        for click in read_clicks(body, team=self._bot.team):
            if click.action_id == WRONG_TEAM:
                await self._asked_where(click, body.get("response_url"))
                continue
            if click.action_id == REJECT and await self._asked_why(click):
                continue
            message = click_message(click)
            if message is None:
                log.warning("a button without meaning was pressed", extra={"action_id": click.action_id})
                continue
            try:
                await self._published(message)
            except PublishFailed:
                if not await self._told_to_click_again(body.get("response_url")):
                    raise

    async def on_view(self, body: Mapping[str, Any]) -> dict[str, str] | None:
        """Publish a submitted modal; return Slack's `errors` for it when that failed, so that it stays open."""
        correction = read_correction(body, team=self._bot.team)
        message = correction or read_rejection(body, team=self._bot.team)
        if message is None:
            return None
        try:
            await self._published(message)
        except PublishFailed:
            return {TEXT_BLOCK if correction else REASON_BLOCK: CLICK_AGAIN}
        return None

    async def _published(self, message: Message) -> None:
        try:
            await self._publish(message)
        except Exception as error:  # an edge: whatever the bus raises, Slack must hear "not taken"
            log.exception("not published", extra={"message_id": message.id, "task_id": message.task_id})
            raise PublishFailed(f"{message.type} was not published") from error

    async def _asked_why(self, click: Click) -> bool:
        """Open the modal that asks for a reason; False when it cannot, and the rejection has to do without."""
        if not click.trigger_id or not click.fields.get("approval_id"):
            return False
        return await self._opened(click, reject_modal(card_fields(click)))

    async def _asked_where(self, click: Click, response_url: object) -> None:
        """Open the form that asks which route it should have been; where that cannot be, ask for another click."""
        try:
            if self._corrections is None or not click.trigger_id:
                raise PermanentError("nothing to ask with")
            form = await self._corrections.form(click.fields.get("ticket_id", ""))
        except HermesError as error:
            log.warning("no form to correct a route with", extra={"error": str(error)})
            opened = False
        else:
            opened = await self._opened(click, correction_modal(form, card_fields(click)))
        if not opened:
            await self._told_to_click_again(response_url)

    async def _opened(self, click: Click, view: Json) -> bool:
        try:
            await self._api.call("views.open", limit_s=DIRECT_CALL_LIMIT_S, trigger_id=click.trigger_id, view=view)
        except (TransientError, PermanentError) as error:
            log.warning("a modal did not open", extra={"action_id": click.action_id, "error": str(error)})
            return False
        return True

    async def _told_to_click_again(self, response_url: object) -> bool:
        if not isinstance(response_url, str) or not response_url.startswith(("https://", "http://")):
            return False
        said = {"response_type": "ephemeral", "replace_original": False, "text": CLICK_AGAIN}
        try:
            async with (
                asyncio.timeout(DIRECT_CALL_LIMIT_S),
                self._session.post(response_url, json=said) as answer,
            ):
                return answer.status == 200
        except (aiohttp.ClientError, TimeoutError, ValueError):
            return False
