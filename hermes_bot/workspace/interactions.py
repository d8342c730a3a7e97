"""What happens when a person clicks a button or sends a modal: the payload for the app, and what its answer does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hermes_bot.workspace import wire
from hermes_bot.workspace.elements import initial_value, is_empty, state_of
from hermes_bot.workspace.events import Courier
from hermes_bot.workspace.modals import Modals
from hermes_bot.workspace.people import Channel
from hermes_bot.workspace.posts import Json, Post, PostStore
from hermes_bot.workspace.refusal import Refusal
from hermes_bot.workspace.response_urls import ResponseUrls
from hermes_bot.workspace.roster import Roster
from hermes_bot.workspace.triggers import Triggers
from hermes_bot.workspace.view_rules import checked_view

Values = Mapping[str, Mapping[str, Any]]
"""What a person filled in: {block_id: {action_id: string | list of strings | None}}."""


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
        triggers: Triggers,
        response_urls: ResponseUrls,
        courier: Courier,
        base_url: Callable[[], str],
    ) -> None:
        self._roster = roster
        self._posts = posts
        self._modals = modals
        self._triggers = triggers
        self._response_urls = response_urls
        self._courier = courier
        self._base_url = base_url

    async def click(
        self, user: str, channel: Channel, ts: str, action_id: str, block_id: str, *, value: Any, values: Values
    ) -> Outcome:
        """Click an element of a message or of an ephemeral that the person was sent."""
        post = self._posts.get(channel.id, ts) or self._posts.ephemeral(user, channel.id, ts)
        if post is None:
            raise Refusal("message_not_found")
        block, element = _element(post.blocks, action_id, block_id)
        payload = self._head("block_actions", user) | {
            "container": _container(post),
            "channel": {"id": channel.id, "name": channel.name or "directmessage"},
            "state": {"values": _state(post.blocks, values)},
            "response_url": f"{self._base_url()}/response/{self._response_urls.give(user, post)}",
            "actions": [self._action(block, element, value)],
        }
        if not post.seen_by:
            payload["message"] = wire.stored(post, self._roster, self._posts)
        return await self._send(payload)

    async def click_in_view(
        self, user: str, view_id: str, action_id: str, block_id: str, *, value: Any, values: Values
    ) -> Outcome:
        """Click an element of a modal that the person has open."""
        view = self._modals.find(user, view_id)
        block, element = _element(view["blocks"], action_id, block_id)
        payload = self._head("block_actions", user) | {
            "container": {"type": "view", "view_id": view_id},
            "view": view | {"state": {"values": _state(view["blocks"], values)}},
            "actions": [self._action(block, element, value)],
        }
        return await self._send(payload)

    async def submit(self, user: str, view_id: str, values: Values) -> Outcome:
        """Send a modal; what the app answers closes it, redraws it or puts errors at its inputs."""
        view = self._modals.find(user, view_id)
        state = _state(view["blocks"], values)
        missing = _missing(view["blocks"], state)
        if missing:
            return Outcome(ok=False, errors=missing)
        payload = self._head("view_submission", user) | {
            "view": view | {"state": {"values": state}},
            "response_urls": [],
        }
        try:
            answer = await self._courier.send_interaction(payload, answerable=True)
        except Refusal as refusal:
            return Outcome(ok=False, error=refusal.error)
        return self._answered(user, view_id, answer)

    async def close(self, user: str, view_id: str) -> Outcome:
        """Close a modal; the app is told when the view asks for it."""
        view = self._modals.find(user, view_id)
        self._modals.close(user, view_id)
        if view["clear_on_close"]:
            self._modals.clear(user)
        if not view["notify_on_close"]:
            return Outcome(ok=True)
        payload = {key: value for key, value in self._head("view_closed", user).items() if key != "trigger_id"}
        return await self._send(payload | {"view": view, "is_cleared": view["clear_on_close"]}, answerable=False)

    def _answered(self, user: str, view_id: str, answer: Json) -> Outcome:
        action = answer.get("response_action")
        try:
            if action == "errors":
                return Outcome(ok=False, errors=dict(answer.get("errors", {})))
            if action == "update":
                self._modals.update(checked_view(answer.get("view")), view_id=view_id)
            elif action == "push":
                self._modals.open(user, checked_view(answer.get("view")))
            elif action == "clear":
                self._modals.clear(user)
            elif action is None:
                self._modals.close(user, view_id)
            else:
                return Outcome(ok=False, error="invalid_response_action")
        except Refusal as refusal:
            return Outcome(ok=False, error=refusal.error)
        return Outcome(ok=True)

    async def _send(self, payload: Json, *, answerable: bool = True) -> Outcome:
        try:
            await self._courier.send_interaction(payload, answerable=answerable)
        except Refusal as refusal:
            return Outcome(ok=False, error=refusal.error)
        return Outcome(ok=True)

    def _head(self, kind: str, user: str) -> Json:
        app = self._roster.app
        member = self._roster.member(user)
        name = wire.user_name(member)
        team = member.team or app.team
        return {
            "type": kind,
            "user": {"id": user, "username": name, "name": name, "team_id": team},
            "api_app_id": app.id,
            "token": "local-verification-token",
            "team": {"id": app.team, "domain": app.domain},
            "enterprise": None,
            "is_enterprise_install": False,
            "trigger_id": self._triggers.give(user),
        }

    def _action(self, block: Json, element: Json, value: Any) -> Json:
        action = {
            "type": element["type"],
            "action_id": element["action_id"],
            "block_id": block["block_id"],
            "action_ts": self._posts.next_ts(),
        }
        if element["type"] == "button":
            return action | {key: element[key] for key in ("text", "value", "style") if key in element}
        state = state_of(element, value)
        if state is None:
            raise Refusal("invalid_value")
        return action | state


def _container(post: Post) -> Json:
    container = {
        "type": "message",
        "message_ts": post.ts,
        "channel_id": post.channel,
        "is_ephemeral": bool(post.seen_by),
    }
    return container | ({"thread_ts": post.thread_ts} if post.thread_ts else {})


def _elements(block: Json) -> list[Json]:
    single = [block[key] for key in ("accessory", "element") if key in block]
    return [one for one in (*block.get("elements", ()), *single) if "action_id" in one]


def _element(blocks: Any, action_id: str, block_id: str) -> tuple[Json, Json]:
    for block in blocks:
        for element in _elements(block):
            if element["action_id"] == action_id and block_id in ("", block["block_id"]):
                return block, element
    raise Refusal("action_not_found")


def _state(blocks: Any, values: Values) -> Json:
    state: Json = {}
    for block in blocks:
        for element in _elements(block):
            if element["type"] in ("button", "overflow"):
                continue
            given = values.get(block["block_id"], {})
            value = given.get(element["action_id"], initial_value(element))
            entry = state_of(element, value)
            if entry is None:
                raise Refusal("invalid_value")
            state.setdefault(block["block_id"], {})[element["action_id"]] = entry
    return state


def _missing(blocks: Any, state: Json) -> dict[str, str]:
    """Return what the client itself says of inputs, before the app is asked."""
    sentences: dict[str, str] = {}
    for block in blocks:
        if block["type"] != "input":
            continue
        element = block["element"]
        entry = state[block["block_id"]][element["action_id"]]
        length = len(entry.get("value") or "")
        if is_empty(entry):
            if not block.get("optional"):
                sentences[block["block_id"]] = "Please complete this required field."
        elif length < element.get("min_length", 0):
            sentences[block["block_id"]] = f"Must be at least {element['min_length']} characters."
        elif element["type"] == "plain_text_input" and length > element.get("max_length", 3000):
            sentences[block["block_id"]] = f"Must be at most {element.get('max_length', 3000)} characters."
    return sentences
