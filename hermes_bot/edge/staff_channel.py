"""The channel in which staff read about customers: nothing is written there while another company reads it as well."""

from __future__ import annotations

import logging

from hermes_bot.edge.channels import shared_outside
from hermes_bot.edge.slack_api import SlackApi
from hermes_bot.errors import SlackRefused, TransientError

READ_OUTSIDE = "read_by_another_company"

log = logging.getLogger(__name__)


class StaffChannel:
    """Says whether the channel is ours alone, as of now: at the start it was, but it may have been shared since."""

    def __init__(self, api: SlackApi, channel: str) -> None:
        self._api = api
        self._channel = channel
        self._shared: bool | None = None

    async def check(self) -> None:
        """Raise SlackRefused where it is not. While Slack does not say, what it said last holds.

        Where it refuses to say, the channel is the one that the settings name for people.
        """
        if self._channel and await self._read_outside():
            raise SlackRefused("conversations.info", READ_OUTSIDE)

    async def _read_outside(self) -> bool:
        try:
            answer = await self._api.call("conversations.info", channel=self._channel)
        except TransientError:
            if self._shared is None:
                raise
            return self._shared
        except SlackRefused as error:
            log.warning("who reads the handoff channel is not known", extra={"error": error.error})
            answer = {}
        self._shared = shared_outside(answer.get("channel") or {})
        return self._shared
