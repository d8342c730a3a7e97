"""The home that an app shows each person, and the opening of its tabs."""

from __future__ import annotations

from hermes_bot.workspace.events import Events
from hermes_bot.workspace.feed import Change, Feed
from hermes_bot.workspace.ids import Ids
from hermes_bot.workspace.modals import completed
from hermes_bot.workspace.people import App
from hermes_bot.workspace.posts import Json, PostStore
from hermes_bot.workspace.refusal import Refusal
from hermes_bot.workspace.roster import Roster


class Homes:
    """What each app published for each person."""

    def __init__(self, roster: Roster, posts: PostStore, events: Events, ids: Ids, feed: Feed) -> None:
        self._roster = roster
        self._posts = posts
        self._events = events
        self._ids = ids
        self._feed = feed
        self._views: dict[tuple[str, str], Json] = {}

    def of(self, user: str, app: App | None = None) -> Json | None:
        """Return what the person sees in the app's home, None where nothing was published yet."""
        return self._views.get((user, (app or self._roster.app).id))

    def find(self, user: str, view_id: str) -> Json | None:
        """Return the person's home with this id."""
        return next((view for (whose, _), view in self._views.items() if whose == user and view["id"] == view_id), None)

    def publish(self, user: str, view: Json, app: App, *, expected_hash: str = "") -> Json:
        """Return the home, published anew; raise `hash_conflict` when it changed since, `not_enabled` without a tab."""
        if not app.home_tab:
            raise Refusal("not_enabled")
        old = self._views.get((user, app.id))
        if expected_hash and (old is None or old["hash"] != expected_hash):
            raise Refusal("hash_conflict")
        view_id = old["id"] if old is not None else self._ids.next("V")
        root = {"root_view_id": view_id, "previous_view_id": None}
        new = completed(view, view_id, app, self._ids) | root
        self._views[(user, app.id)] = new
        self._feed.publish(Change(kind="home", view=new, only_for=user))
        return new

    def redraw(self, view: Json, app: App, view_id: str) -> Json | None:
        """Return the home with this id, redrawn; None when it is none."""
        for (user, owner), old in self._views.items():
            if owner == app.id and old["id"] == view_id:
                return self.publish(user, view, app)
        return None

    def open(self, user: str, tab: str, app: App | None = None) -> str:
        """Tell the app that the person opened its "home" or "messages" tab; return the channel of their DM."""
        app = app or self._roster.app
        if tab not in ("home", "messages") or not (app.home_tab if tab == "home" else app.messages_tab):
            raise Refusal("not_enabled")
        channel, _ = self._roster.open_dm(user, app)
        event: Json = {"type": "app_home_opened", "user": user, "tab": tab, "event_ts": self._posts.next_ts()}
        view = self.of(user, app)
        if tab == "home" and view is not None:
            event["view"] = view
        self._events.tell(channel, event, author=user, only=app)
        return channel.id
