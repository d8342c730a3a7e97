"""The channel in which staff read about customers: nothing is written there while another company reads it as well."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from hermes_bot.edge.channels import shared_outside
from hermes_bot.edge.slack_api import SlackApi
from hermes_bot.errors import SlackRefused, TransientError

READ_OUTSIDE = "read_by_another_company"
KEPT_FOR = timedelta(seconds=2)  # Slack takes fifty of these calls a minute

log = logging.getLogger(__name__)


class StaffChannel:
    """Says whether the channel is ours alone, as of now: at the start it was, but it may have been shared since."""

    def __init__(self, api: SlackApi, channel: str, *, clock: Callable[[], datetime]) -> None:
        self._api = api
        self._channel = channel
        self._clock = clock
        self._seen: tuple[datetime, bool] | None = None

    async def check(self) -> None:
        """Raise SlackRefused where it is not. While Slack does not say, what it said last holds.

        Where it refuses to say, the channel is the one that the settings name for people.
        """
        if self._channel and await self._read_outside():
            raise SlackRefused("conversations.info", READ_OUTSIDE)

    async def _read_outside(self) -> bool:
        now = self._clock()
        if self._seen is not None and now - self._seen[0] < KEPT_FOR:
            return self._seen[1]
        try:
            answer = await self._api.call("conversations.info", channel=self._channel)
        except TransientError:
            if self._seen is None:
                raise
            return self._seen[1]
        except SlackRefused as error:
            log.warning("who reads the handoff channel is not known", extra={"error": error.error})
            answer = {}
        self._seen = now, shared_outside(answer.get("channel") or {})
        return self._seen[1]
