"""`tickets` and `handoff` in `configs/hermes.yaml`: what continues a ticket, how long it waits, and for whom."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from hermes_bot.settings.section import Seconds, Section, Words

Wait = Annotated[float, Field(ge=0, le=1_000_000_000)]
"""Seconds; 0 switches it off."""


class FirstResponseSettings(Section):
    """`tickets.first_response_s`: how long a customer may wait for the first answer, by the ticket's priority."""

    low: Wait = 86_400.0
    normal: Wait = 14_400.0
    high: Wait = 3_600.0
    urgent: Wait = 900.0


class TicketSettings(Section):
    """`tickets`: `cards` says which tickets staff see as a card, every one or those that people were wanted for."""

    continue_window_s: Wait = 900.0
    merge_window_s: Wait = 0.0
    nudge_after_s: Wait = 86_400.0
    close_after_s: Wait = 172_800.0
    first_response_s: FirstResponseSettings = FirstResponseSettings()
    cards: Literal["every", "people"] = "every"


class HandoffSettings(Section):
    """`handoff`: when the on-call people are told that nobody claims a ticket, and how long a remark may be meant."""

    escalate_after_s: Wait = 600.0
    on_call: Words = ()
    hold_s: Seconds = 60.0
