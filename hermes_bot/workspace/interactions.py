"""What happens when a person clicks a button or sends a modal: the payload for the app, and what its answer does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hermes_bot.workspace import wire
from hermes_bot.workspace.couriers import Couriers
from hermes_bot.workspace.element_state import state_of
from hermes_bot.workspace.elements import EXTERNAL
from hermes_bot.workspace.filled_in import Values, container_of, element_of, leaves_of, missing_in, state_in
from hermes_bot.workspace.homes import Homes
from hermes_bot.workspace.modals import Modals
from hermes_bot.workspace.payloads import Payloads, named
from hermes_bot.workspace.people import App, Channel
from hermes_bot.workspace.posts import Json, PostStore
from hermes_bot.workspace.refusal import Refusal
from hermes_bot.workspace.response_urls import ResponseUrls
from hermes_bot.workspace.roster import Roster
from hermes_bot.workspace.view_rules import checked_view


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the person sees of it. `error`: "no_connection", "not_acknowledged"; `errors` stand at a modal's inputs."""

    ok: bool
    error: str = ""
    errors: Mapping[str, str] = field(default_factory=dict)


class Interactions:
    """Brings clicks, submissions and closed modals to the app. Each is tried once, as Slack does it."""

    def __init__(
        self,
        roster: Roster,
        posts: PostStore,
        modals: Modals,
        homes: Homes,
        payloads: Payloads,
        response_urls: ResponseUrls,
        couriers: Couriers,
    ) -> None:
        self._roster = roster
        self._posts = posts
        self._modals = modals
        self._homes = homes
        self._payloads = payloads
        self._response_urls = response_urls
        self._couriers = couriers
        self._suggested: dict[str, dict[str, list[Json]]] = {}

    async def click(
        self, user: str, channel: Channel, ts: str, action_id: str, block_id: str, *, value: Any, values: Values
    ) -> Outcome:
        """Click an element of a message or of an ephemeral that the person was sent."""
        about, blocks, app = self._place(user, channel, ts)
        leaves = leaves_of(blocks, self._suggested.get(user, {}))
        block, element = element_of(leaves, action_id, block_id)
        payload = self._payloads.head("block_actions", user, app) | about
        payload |= {
            "state": {"values": state_in(leaves, values)},
            "response_url": self._response_urls.url(user, self._posts.seen(user, channel.id, ts), app),
            "actions": [self._action(block, element, value)],
        }
        return await self._send(app, payload)

    async def click_in_view(
        self, user: str, view_id: str, action_id: str, block_id: str, *, value: Any, values: Values
    ) -> Outcome:
        """Click an element of a modal that the person has open, or of an app's home."""
        about, blocks, app = self._place(user, None, view_id)
        leaves = leaves_of(blocks, self._suggested.get(user, {}))
        block, element = element_of(leaves, action_id, block_id)
        payload = self._payloads.head("block_actions", user, app) | {
            "container": about["container"],
            "view": about["view"] | {"state": {"values": state_in(leaves, values)}},
            "actions": [self._action(block, element, value)],
        }
        return await self._send(app, payload)

    async def suggest(
        self, user: str, channel: Channel | None, place: str, action_id: str, block_id: str, typed: str
    ) -> list[Json]:
        """Return the options that the app offers for what was typed into a select; `place` is a ts or a view's id.

        They can be chosen from then on. Raise Refusal when the app gives none in time.
        """
        about, blocks, app = self._place(user, channel, place)
        block, element = element_of(leaves_of(blocks, {}), action_id, block_id)
        if element["type"] not in EXTERNAL:
            raise Refusal("action_not_found")
        head = self._payloads.head("block_suggestion", user, app)
        asked = {"action_id": action_id, "block_id": block["block_id"], "value": typed}
        payload = {key: value for key, value in head.items() if key != "trigger_id"} | about | asked
        answer = await self._couriers.of(app).send_interaction(payload, answerable=True)
        groups = answer.get("option_groups") or [{"options": answer.get("options") or []}]
        options = [option for group in groups for option in group["options"]]
        self._suggested.setdefault(user, {}).setdefault(action_id, []).extend(options)
        return options

    def _place(self, user: str, channel: Channel | None, place: str) -> tuple[Json, Any, App]:
        """Return what a payload says of a message or view, its blocks and whose it is."""
        if channel is None:
            view = self._homes.find(user, place) or self._modals.find(user, place)
            about: Json = {"container": {"type": "view", "view_id": place}, "view": view}
            return about, view["blocks"], self._roster.app_with(view["app_id"])
        post = self._posts.seen(user, channel.id, place)
        app = self._roster.app_of(post.user)
        if app is None:
            raise Refusal("action_not_found")
        about = {"container": container_of(post), "channel": {"id": channel.id, "name": named(channel)}}
        if not post.seen_by:
            about["message"] = wire.stored(post, self._roster, self._posts)
        return about, post.blocks, app

    async def submit(self, user: str, view_id: str, values: Values) -> Outcome:
        """Send a modal; what the app answers closes it, redraws it or puts errors at its inputs."""
        view = self._modals.find(user, view_id)
        app = self._roster.app_with(view["app_id"])
        leaves = leaves_of(view["blocks"], self._suggested.get(user, {}))
        state = state_in(leaves, values)
        missing = missing_in(leaves, state)
        if missing:
            return Outcome(ok=False, errors=missing)
        payload = self._payloads.head("view_submission", user, app) | {
            "view": view | {"state": {"values": state}},
            "response_urls": [],
        }
        try:
            answer = await self._couriers.of(app).send_interaction(payload, answerable=True)
        except Refusal as refusal:
            return Outcome(ok=False, error=refusal.error)
        return self._answered(user, view_id, answer, app)

    async def close(self, user: str, view_id: str) -> Outcome:
        """Close a modal; the app is told when the view asks for it."""
        view = self._modals.find(user, view_id)
        self._modals.close(user, view_id)
        if view["clear_on_close"]:
            self._modals.clear(user)
        if not view["notify_on_close"]:
            return Outcome(ok=True)
        app = self._roster.app_with(view["app_id"])
        head = self._payloads.head("view_closed", user, app)
        payload = {key: value for key, value in head.items() if key != "trigger_id"}
        return await self._send(app, payload | {"view": view, "is_cleared": view["clear_on_close"]}, answerable=False)

    def _answered(self, user: str, view_id: str, answer: Json, app: App) -> Outcome:
        action = answer.get("response_action")
        try:
            if action == "errors":
                return Outcome(ok=False, errors=dict(answer.get("errors", {})))
            if action == "update":
                self._modals.update(checked_view(answer.get("view")), app, view_id=view_id)
            elif action == "push":
                self._modals.open(user, checked_view(answer.get("view")), app)
            elif action == "clear":
                self._modals.clear(user)
            elif action is None:
                self._modals.close(user, view_id)
            else:
                return Outcome(ok=False, error="invalid_response_action")
        except Refusal as refusal:
            return Outcome(ok=False, error=refusal.error)
        return Outcome(ok=True)

    async def _send(self, app: App, payload: Json, *, answerable: bool = True) -> Outcome:
        try:
            await self._couriers.of(app).send_interaction(payload, answerable=answerable)
        except Refusal as refusal:
            return Outcome(ok=False, error=refusal.error)
        return Outcome(ok=True)

    def _action(self, block: Json, element: Json, value: Any) -> Json:
        action = {
            "type": element["type"],
            "action_id": element["action_id"],
            "block_id": block["block_id"],
            "action_ts": self._posts.next_ts(),
        }
        if element["type"] in ("button", "icon_button"):
            return action | {key: element[key] for key in ("text", "value", "style", "icon") if key in element}
        state = state_of(element, value)
        if state is None:
            raise Refusal("invalid_value")
        return action | state
