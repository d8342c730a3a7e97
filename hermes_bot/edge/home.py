"""Draws the app's Home for one person: `home.opened`, `language.chosen`; and has it drawn again after a change.

All that draws one person's Home stands in one lane and reads the store anew, so what is drawn last is newest; no hash
of an older view is sent along, and so nothing can conflict.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from hermes_bot.approvals.access import Access
from hermes_bot.bus.port import Delivery
from hermes_bot.edge.cards import Approvals
from hermes_bot.edge.command_reader import home_lane
from hermes_bot.edge.lines import Haste, haste_of
from hermes_bot.edge.manifest import PROMPTS, prompts
from hermes_bot.edge.slack_api import SlackApi
from hermes_bot.edge.standing import Standing, Standings
from hermes_bot.edge.surface import Surface
from hermes_bot.edge.views.command_views import decidable
from hermes_bot.edge.views.home import Page, home_view, plain_view
from hermes_bot.errors import SlackRefused
from hermes_bot.messages.message import PRIORITY_NOTICE, Message
from hermes_bot.messages.payloads import EDGE, read
from hermes_bot.messages.surface_payloads import HOME_OPENED, Home, LanguageChosen, Prompts
from hermes_bot.tickets.waits import Render

LANGUAGES = ("", "en", "zh")
REFUSED = frozenset({"invalid_arguments", "invalid_blocks", "view_too_large"})
PERIOD_S = 3

log = logging.getLogger(__name__)


class HomePages:
    """The handlers of `home.opened`, `language.chosen` and `prompts.wanted`."""

    def __init__(
        self,
        api: SlackApi,
        surface: Surface,
        standings: Standings,
        access: Access,
        *,
        approvals: Approvals,
        render: Render,
        team: str,
    ) -> None:
        self._api = api
        self._surface = surface
        self._standings = standings
        self._access = access
        self._approvals = approvals
        self._render = render
        self._team = team

    async def on_opened(self, message: Message, _delivery: Delivery) -> Sequence[Message]:
        """Draw the person's Home as things are now."""
        home = read(message, Home)
        await self._surface.preferences.opened_home(self._team, home.user)
        await self._draw(home, haste_of(message))
        return []

    async def on_language(self, message: Message, _delivery: Delivery) -> Sequence[Message]:
        """Keep the language and draw Home in it."""
        chosen = read(message, LanguageChosen)
        if chosen.language in LANGUAGES:
            await self._surface.preferences.choose_language(self._team, chosen.user, chosen.language)
        await self._draw(Home(user=chosen.user, team=chosen.team), haste_of(message))
        return []

    async def on_prompts(self, message: Message, _delivery: Delivery) -> Sequence[Message]:
        """Offer what may be asked; nobody waits for it, so what fails is let go."""
        wanted = read(message, Prompts)
        person = await self._standings.of(wanted.team, wanted.user)
        await self._api.attempt(
            "assistant.threads.setSuggestedPrompts",
            channel_id=wanted.channel,
            thread_ts=wanted.thread_ts or None,
            prompts=prompts(*PROMPTS.get(person.language, PROMPTS["en"])),
        )
        return []

    async def redraws(self, message: Message, users: Iterable[str]) -> list[Message]:
        """Return what draws Home again for those who look at it, once for all that happens in a few seconds."""
        bucket = int(message.created_at.timestamp()) // PERIOD_S + 1
        at = datetime.fromtimestamp(bucket * PERIOD_S, UTC) + timedelta(milliseconds=100)
        wanted = dict.fromkeys(filter(None, users))
        looking = await self._surface.preferences.look_at_home(self._team, wanted)
        return [self._redraw(message, user, bucket, at) for user in wanted if user in looking]

    def _redraw(self, message: Message, user: str, bucket: int, at: datetime) -> Message:
        lane = home_lane(self._team, user)
        return message.child(
            HOME_OPENED,
            Home(user=user, team=self._team),
            recipient=EDGE,
            context_id=lane,
            task_id=f"{lane}:{bucket}",
            not_before=at,
            priority=PRIORITY_NOTICE,
        )

    async def _draw(self, home: Home, haste: Haste) -> None:
        person = await self._standings.of(home.team, home.user)
        page = await self._page(person)
        whose: dict[str, Any] = {"user_id": home.user, "haste": haste}
        try:
            await self._api.call("views.publish", view=home_view(page, self._render), **whose)
        except SlackRefused as error:
            if error.error not in REFUSED:
                log.warning("no Home for a person", extra={"error": error.error})
                return
            log.exception("Home was refused")
            await self._api.call("views.publish", view=plain_view(page, self._render), **whose)

    async def _page(self, person: Standing) -> Page:
        if person.stranger:
            return Page(person=person)
        surface, seen = self._surface, {"team": person.team, "user": person.user}
        return Page(
            person=person,
            tickets=await surface.overview.own(person.team, person.user),
            approvals=await decidable(self._approvals, self._access, **seen) if person.approver else (),
            handoffs=await surface.overview.waiting() if person.staff else (),
            proposals=await surface.proposals() if person.admin else (),
            health=await surface.trouble() if person.admin else "",
        )
