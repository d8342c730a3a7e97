"""What happens before Slack gets its acknowledgement: the message is published, and nothing else."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from hermes_bot.edge.changes import read_change
from hermes_bot.edge.channels import ChannelPolicy
from hermes_bot.edge.clicks import Click, mapping, read_clicks, read_submission
from hermes_bot.edge.command_reader import read_command, read_opened, read_shortcut
from hermes_bot.edge.concerns import Concerns, Opener
from hermes_bot.edge.inbound import Bot, read_event
from hermes_bot.edge.responder import Responder
from hermes_bot.edge.slack_api import SlackApi
from hermes_bot.edge.text import escape
from hermes_bot.errors import HermesError
from hermes_bot.messages.message import Message

Publish = Callable[[Message], Awaitable[object]]

ANSWER_WITHIN_S = 2.8  # an acknowledgement is due in three, and Slack tells nobody of a click or a command twice
FORM_SPARE_S, PUBLISH_SPARE_S = 1.0, 0.4  # what is left of it once a form did not open, or the bus was too slow
CLICK_AGAIN = "Your click could not be saved. Nothing was done; please click again. / 点击未能保存，请再点一次。"
COMMAND_AGAIN = (
    "Your command could not be saved. Nothing was done; please give it again. / 命令未能保存，请再输入一次。"
)
TOO_SLOW = (
    "Hermes has more to do than it can take. If nothing comes of this within a minute, please do it again. "
    "/ 现在处理不过来。如果一分钟内没有结果，请再试一次。"
)

log = logging.getLogger(__name__)


class PublishFailed(HermesError):
    """The bus did not take the message: Slack must not get its acknowledgement, so that it tells us again."""


class PublishSlow(PublishFailed):
    """Nobody knows whether the bus will have taken the message: there was no time to wait for it."""


class Listeners:
    """Publishes what people write and press."""

    def __init__(
        self,
        publish: Publish,
        api: SlackApi,
        responder: Responder,
        *,
        bot: Bot,
        policy: ChannelPolicy,
        concerns: Concerns,
    ) -> None:
        self._publish = publish
        self._api = api
        self._responder = responder
        self._bot = bot
        self._policy = policy
        self._concerns = concerns

    async def on_event(self, body: Mapping[str, Any]) -> None:
        """Publish what a person wrote, edited, deleted or stopped; raise PublishFailed: Slack tells us again."""
        message = read_event(body, bot=self._bot, policy=self._policy)
        message = message or read_change(body, bot=self._bot, policy=self._policy)
        message = message or read_opened(body, bot=self._bot)
        if message is not None:
            await self._published(message)

    async def on_action(self, body: Mapping[str, Any]) -> None:
        """Publish each press. One that cannot be published has no second delivery: the person is asked for it."""
        response_url, due = body.get("response_url"), _due()
        for click in read_clicks(body, bot=self._bot, ours=self._concerns.knows):
            opener, reader = self._concerns.opener(click.action_id), self._concerns.reader(click.action_id)
            if opener is not None and await self._opened(click, opener, due):
                continue
            if reader is None:
                await self._told(response_url, CLICK_AGAIN, due)
                continue
            message = reader(click)
            if message is None:
                log.warning("a button without meaning was pressed", extra={"action_id": click.action_id})
                continue
            try:
                await self._published_in_time(message, due)
            except PublishFailed as error:
                if not await self._told(response_url, _again(error, CLICK_AGAIN), due):
                    raise
            else:
                await self._taken_away(click, body, due)

    async def on_view(self, body: Mapping[str, Any]) -> dict[str, str] | None:
        """Publish a submitted form; return Slack's `errors` for it where it stays open, with what is wrong."""
        submission = read_submission(body, bot=self._bot)
        form = None if submission is None else self._concerns.form(submission.callback_id)
        if submission is None or form is None:
            return None
        read = form.read(submission)
        if not isinstance(read, Message):
            return read
        try:
            await self._published_in_time(read, _due())
        except PublishFailed as error:
            return {form.error_block: _again(error, CLICK_AGAIN)}
        return None

    async def on_command(self, body: Mapping[str, Any]) -> str:
        """Publish a command; return what the person reads at once, which is nothing unless it could not be taken."""
        message = read_command(body, bot=self._bot)
        return "" if message is None else await self._taken(message, COMMAND_AGAIN, _due())

    async def on_shortcut(self, body: Mapping[str, Any]) -> None:
        """Publish the use of a shortcut; who cannot be served is told so."""
        message, due = read_shortcut(body, bot=self._bot), _due()
        trouble = "" if message is None else await self._taken(message, CLICK_AGAIN, due)
        if trouble:
            await self._told(body.get("response_url"), trouble, due)

    async def _taken(self, message: Message, again: str, due: float) -> str:
        """Return what the person is told where the bus did not take it, else nothing."""
        try:
            await self._published_in_time(message, due)
        except PublishFailed as error:
            return _again(error, again)
        return ""

    async def _published_in_time(self, message: Message, due: float) -> None:
        """Publish before Slack tells the person that the app did not answer."""
        try:
            async with asyncio.timeout_at(due - PUBLISH_SPARE_S):
                await self._published(message)
        except TimeoutError as error:
            log.warning("published too slowly", extra={"message_id": message.id, "task_id": message.task_id})
            raise PublishSlow(f"{message.type} was not published in time") from error

    async def _published(self, message: Message) -> None:
        try:
            await self._publish(message)
        except Exception as error:  # an edge: whatever the bus raises, Slack must hear "not taken"
            log.exception("not published", extra={"message_id": message.id, "task_id": message.task_id})
            raise PublishFailed(f"{message.type} was not published") from error

    async def _opened(self, click: Click, opener: Opener, due: float) -> bool:
        """Return whether the form stands open before the person."""
        if not click.trigger_id:
            return False
        try:
            async with asyncio.timeout_at(due - FORM_SPARE_S):
                view = await opener(click)
                if view is not None:
                    await self._api.call("views.open", trigger_id=click.trigger_id, view=view)
        except (HermesError, TimeoutError) as error:
            log.warning("a form did not open", extra={"action_id": click.action_id, "error": str(error)})
            return False
        return view is not None

    async def _taken_away(self, click: Click, body: Mapping[str, Any], due: float) -> None:
        """Put what was pressed in place of an ephemeral's buttons: nothing else can, and they would stay there."""
        if mapping(body.get("container")).get("is_ephemeral") is True and click.label:
            said = {"replace_original": True, "text": f":white_check_mark: {escape(click.label)}", "blocks": []}
            await self._responder.say(body.get("response_url"), said, limit_s=_left_s(due))

    async def _told(self, response_url: object, text: str, due: float) -> bool:
        said = {"response_type": "ephemeral", "replace_original": False, "text": text}
        return await self._responder.say(response_url, said, limit_s=_left_s(due))


def _due() -> float:
    """Return by when, on the loop's clock, all that is done before an acknowledgement has to be over."""
    return asyncio.get_running_loop().time() + ANSWER_WITHIN_S


def _left_s(due: float) -> float:
    return max(0.0, due - asyncio.get_running_loop().time())


def _again(error: PublishFailed, text: str) -> str:
    return TOO_SLOW if isinstance(error, PublishSlow) else text
