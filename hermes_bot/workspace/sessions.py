"""What an agent says of its work in a thread: status, title, suggested prompts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hermes_bot.workspace.clock import Clock, Timer
from hermes_bot.workspace.feed import Change, Feed
from hermes_bot.workspace.people import App
from hermes_bot.workspace.posts import Json

STATUSES = ("processing", "active", "suspended", "closed")
STATUS_TEXT_LIFE_S = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """An agent's session in a thread. `status` is empty until the app set one; `text` is the passing line beside it."""

    app: App
    channel: str
    thread_ts: str
    status: str = ""
    title: str = ""
    text: str = ""
    loading_messages: tuple[str, ...] = ()
    prompts: tuple[Json, ...] = ()
    prompts_title: str = ""

    def shown(self) -> Json:
        """Return it for the page."""
        return {
            "app": self.app.id,
            "channel": self.channel,
            "thread_ts": self.thread_ts,
            "status": self.status,
            "title": self.title,
            "text": self.text,
            "loading_messages": list(self.loading_messages),
            "prompts": list(self.prompts),
            "prompts_title": self.prompts_title,
        }


class Sessions:
    """The sessions, by conversation and thread; suggested prompts of a whole DM stand at an empty thread."""

    def __init__(self, clock: Clock, feed: Feed) -> None:
        self._clock = clock
        self._feed = feed
        self._sessions: dict[tuple[str, str], Session] = {}
        self._timers: dict[tuple[str, str], Timer] = {}

    def of(self, channel: str, thread_ts: str) -> Session | None:
        """Return the session in this thread, None where there is none."""
        return self._sessions.get((channel, thread_ts))

    def in_channel(self, channel: str) -> list[Session]:
        """Return all sessions of a conversation."""
        return [session for (place, _), session in self._sessions.items() if place == channel]

    def set_status(self, app: App, channel: str, thread_ts: str, status: str, title: str = "") -> Session:
        """Return the session in its new status; the title is kept by a new session alone."""
        old = self.of(channel, thread_ts)
        kept = old if old is not None and old.status else replace(self._of(app, channel, thread_ts), title=title)
        return self._put(replace(kept, status=status))

    def rename(self, session: Session, title: str) -> Session:
        """Return the session under its new title."""
        return self._put(replace(session, title=title))

    def set_title(self, app: App, channel: str, thread_ts: str, title: str) -> Session:
        """Return the thread's session with this title, new where there was none."""
        return self._put(replace(self._of(app, channel, thread_ts), title=title))

    def set_text(self, app: App, channel: str, thread_ts: str, text: str, loading: Sequence[str] = ()) -> None:
        """Show a passing line: a reply, an empty one or two minutes end it."""
        place = (channel, thread_ts)
        if place in self._timers:
            self._timers.pop(place).cancel()
        self._put(replace(self._of(app, channel, thread_ts), text=text, loading_messages=tuple(loading)))
        if text:
            self._timers[place] = self._clock.call_later(STATUS_TEXT_LIFE_S, lambda: self.cleared(channel, thread_ts))

    def cleared(self, channel: str, thread_ts: str) -> None:
        """Take the passing line away, where there is one: the app replied."""
        session = self.of(channel, thread_ts)
        if session is not None and session.text:
            self.set_text(session.app, channel, thread_ts, "")

    def suggest(self, app: App, channel: str, thread_ts: str, prompts: Sequence[Json], title: str) -> None:
        """Offer prompts to press."""
        session = self._of(app, channel, thread_ts)
        self._put(replace(session, prompts=tuple(prompts), prompts_title=title))

    def _of(self, app: App, channel: str, thread_ts: str) -> Session:
        return self.of(channel, thread_ts) or Session(app=app, channel=channel, thread_ts=thread_ts)

    def _put(self, session: Session) -> Session:
        self._sessions[(session.channel, session.thread_ts)] = session
        self._feed.publish(Change(kind="session", channel=session.channel, data={"session": session.shown()}))
        return session
