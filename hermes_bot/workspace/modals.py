"""The modals that people have open, each person's as a stack of at most three."""

from __future__ import annotations

from hermes_bot.workspace.blocks import with_ids
from hermes_bot.workspace.feed import Change, Feed
from hermes_bot.workspace.ids import Ids
from hermes_bot.workspace.people import App
from hermes_bot.workspace.posts import Json
from hermes_bot.workspace.refusal import Refusal

MAX_STACK = 3


class Modals:
    """Opens, redraws and closes modals, and shows each to its person."""

    def __init__(self, ids: Ids, feed: Feed) -> None:
        self._ids = ids
        self._feed = feed
        self._stacks: dict[str, list[Json]] = {}

    def of(self, user: str) -> list[Json]:
        """Return the person's open views, the topmost last."""
        return list(self._stacks.get(user, ()))

    def find(self, user: str, view_id: str) -> Json:
        """Return the person's open view; raise `view_not_found` when it is not open."""
        for view in self._stacks.get(user, ()):
            if view["id"] == view_id:
                return view
        raise Refusal("view_not_found")

    def open(self, user: str, view: Json, app: App) -> Json:
        """Return the app's new view, on top of those that the person has open."""
        stack = self._stacks.setdefault(user, [])
        if len(stack) >= MAX_STACK:
            raise Refusal("push_limit_reached")
        self._refuse_duplicate(str(view.get("external_id", "")), own="")
        view_id = self._ids.next("V")
        root = stack[0]["id"] if stack else view_id
        opened = completed(view, view_id, app, self._ids) | {
            "root_view_id": root,
            "previous_view_id": stack[-1]["id"] if stack else None,
        }
        stack.append(opened)
        self._feed.publish(Change(kind="view_opened", view=opened, only_for=user))
        return opened

    def update(
        self, view: Json, app: App, *, view_id: str = "", external_id: str = "", expected_hash: str = ""
    ) -> Json:
        """Return the app's view redrawn; raise `not_found` when it is not open, `hash_conflict` when it changed."""
        user, at, old = self._open_view(app, view_id, external_id)
        if expected_hash and expected_hash != old["hash"]:
            raise Refusal("hash_conflict")
        self._refuse_duplicate(str(view.get("external_id", "")), own=old["id"])
        kept = {key: old[key] for key in ("root_view_id", "previous_view_id")}
        new = completed(view, old["id"], app, self._ids) | kept
        self._stacks[user][at] = new
        self._feed.publish(Change(kind="view_opened", view=new, only_for=user))
        return new

    def close(self, user: str, view_id: str) -> None:
        """Close one of the person's views."""
        view = self.find(user, view_id)
        self._stacks[user].remove(view)
        self._feed.publish(Change(kind="view_closed", view=view, only_for=user))

    def clear(self, user: str) -> None:
        """Close all of the person's views."""
        for view in reversed(self.of(user)):
            self.close(user, view["id"])

    def _open_view(self, app: App, view_id: str, external_id: str) -> tuple[str, int, Json]:
        for user, stack in self._stacks.items():
            for at, view in enumerate(stack):
                named = (view_id and view["id"] == view_id) or (external_id and view["external_id"] == external_id)
                if named and view["app_id"] == app.id:
                    return user, at, view
        raise Refusal("not_found")

    def _refuse_duplicate(self, external_id: str, *, own: str) -> None:
        for stack in self._stacks.values():
            for view in stack:
                if external_id and view["external_id"] == external_id and view["id"] != own:
                    raise Refusal("duplicate_external_id")


def completed(view: Json, view_id: str, app: App, ids: Ids) -> Json:
    """Return the view as Slack keeps it: with whose it is, a hash of this drawing, and ids at all blocks."""
    defaults = {
        "private_metadata": "",
        "callback_id": "",
        "external_id": "",
        "clear_on_close": False,
        "notify_on_close": False,
        "submit": None,
        "close": None,
    }
    own = {
        "id": view_id,
        "team_id": app.team,
        "app_id": app.id,
        "bot_id": app.bot,
        "app_installed_team_id": app.team,
        "hash": ids.next("h"),
        "state": {"values": {}},
        "blocks": list(with_ids(view["blocks"], lambda: ids.next("b"))),
    }
    return defaults | view | own
