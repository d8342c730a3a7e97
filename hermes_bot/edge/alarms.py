"""Tells the handoff channel what whoever runs Hermes has to look at: `alarm.raised`."""

from __future__ import annotations

from collections.abc import Sequence

from hermes_bot.bus.port import Delivery
from hermes_bot.edge.poster import Draft, Poster
from hermes_bot.edge.text import escape, shorten
from hermes_bot.edge.views.look import Look, section
from hermes_bot.errors import PermanentError
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import AlarmRaised, read

ALARM_CHARACTERS = 2_800


class AlarmPosts:
    """The handler of `alarm.raised`."""

    def __init__(self, poster: Poster, *, handoff_channel: str) -> None:
        self._poster = poster
        self._channel = handoff_channel

    async def on_raised(self, message: Message, delivery: Delivery) -> Sequence[Message]:
        """Post the alarm once."""
        if not self._channel:
            raise PermanentError("no channel for alarms: set slack.handoff_channel")
        alarm = read(message, AlarmRaised)
        words = f":rotating_light: *{escape(alarm.subject)}*\n{escape(shorten(alarm.text, ALARM_CHARACTERS))}"
        if alarm.reference:
            words += f"\n`hermes-bot trace {escape(alarm.reference)}`"
        draft = Draft(
            key=f"alarm:{message.task}", channel=self._channel, look=Look(text=words, blocks=(section(words),))
        )
        return (await self._poster.post(draft, message, delivery)).outputs
