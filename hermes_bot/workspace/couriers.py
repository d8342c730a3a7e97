"""The ways to the apps: how a courier is used, and which one is whose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from hermes_bot.workspace.people import App
from hermes_bot.workspace.posts import Json


class Courier(Protocol):
    """Brings events and interactions to an app: over Socket Mode or over signed HTTP."""

    def send_event(self, body: Json) -> None:
        """Take the event; it is delivered, and delivered again where needed, from now on."""
        ...

    def undelivered(self) -> list[Json]:
        """Return the events that the app has neither taken nor let lapse."""
        ...

    def unsettled(self) -> int:
        """Return how many those are."""
        ...

    async def send_interaction(self, payload: Json, *, answerable: bool) -> Json:
        """Return the app's answer, {} for an empty one; raise Refusal when it does not answer within 3 s."""
        ...

    async def send_command(self, payload: Json) -> Json:
        """Return the app's answer to a slash command, {} for an empty one; raise Refusal as for an interaction."""
        ...


class Couriers:
    """Each app's courier."""

    def __init__(self, by_app: Mapping[str, Courier]) -> None:
        self._by_app = by_app

    def of(self, app: App) -> Courier:
        """Return the app's courier."""
        return self._by_app[app.id]

    def send_again(self, body: Json) -> None:
        """Take up an event that was not delivered before the workspace stopped; of an app that is gone, nothing."""
        courier = self._by_app.get(str(body.get("api_app_id")))
        if courier is not None:
            courier.send_event(body)

    def undelivered(self) -> list[Json]:
        """Return all events that their apps have neither taken nor let lapse."""
        return [body for courier in self._by_app.values() for body in courier.undelivered()]

    def unsettled(self) -> int:
        """Return how many those are."""
        return sum(courier.unsettled() for courier in self._by_app.values())
