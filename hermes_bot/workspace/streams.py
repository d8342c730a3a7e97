"""Messages that are written piece by piece: chat.startStream, appendStream and stopStream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from hermes_bot.workspace.blocks import MAX_MESSAGE_BLOCKS, faults_of, with_ids
from hermes_bot.workspace.clock import Clock, Timer
from hermes_bot.workspace.conversations import Conversations
from hermes_bot.workspace.ids import Ids
from hermes_bot.workspace.newer_blocks import MAX_MARKDOWN
from hermes_bot.workspace.people import App
from hermes_bot.workspace.posts import Json, Post, PostStore
from hermes_bot.workspace.refusal import Refusal
from hermes_bot.workspace.rich_text import rich_text
from hermes_bot.workspace.typed_text import escape

IDLE_LIMIT_S = 300.0
MAX_TASK_TEXT = 256


@dataclass(slots=True)
class _Written:
    """What a stream holds so far."""

    started: Post
    timer: Timer
    markdown: str = ""
    plan: str = ""
    tasks: dict[str, Json] = field(default_factory=dict)
    extra: list[Json] = field(default_factory=list)

    def blocks(self) -> list[Json]:
        cards = list(self.tasks.values())
        working: list[Json] = [{"type": "plan", "title": self.plan, "tasks": cards}] if self.plan else cards
        said = [{"type": "markdown", "text": self.markdown}] if self.markdown else []
        return [*working, *said, *self.extra]


class Streams:
    """The streams that are being written."""

    def __init__(self, clock: Clock, ids: Ids, posts: PostStore, conversations: Conversations) -> None:
        self._clock = clock
        self._ids = ids
        self._posts = posts
        self._conversations = conversations
        self._writing: dict[tuple[str, str], _Written] = {}
        self._stopped_by_user: set[tuple[str, str]] = set()

    def start(self, draft: Post, markdown: str, chunks: Sequence[object]) -> Post:
        """Return the message that was begun; its event goes out at once, the next one when it is finished."""
        post = replace(draft, streaming="in_progress")
        written = _Written(post, self._clock.call_later(IDLE_LIMIT_S, lambda: self._idle(post)))
        try:
            _take(written, markdown, chunks)
        except Refusal:
            written.timer.cancel()
            raise
        self._writing[(post.channel, post.ts)] = written
        post = self._drawn(written, post)
        self._conversations.post(post)
        return post

    def append(self, app: App, channel: str, ts: str, markdown: str, chunks: Sequence[object]) -> Post:
        """Return the message with more of it."""
        post, written = self._find(app, channel, ts, wrong="stopped_by_user")
        if not markdown and not chunks:
            raise Refusal("no_text")
        _take(written, markdown, chunks)
        written.timer.cancel()
        written.timer = self._clock.call_later(IDLE_LIMIT_S, lambda: self._idle(post))
        post = self._drawn(written, post)
        self._conversations.redraw(post, only_for=post.recipient)
        return post

    def stop(
        self, app: App, channel: str, ts: str, markdown: str, chunks: Sequence[object], blocks: Sequence[Json]
    ) -> Post:
        """Return the finished message."""
        post, written = self._find(app, channel, ts, wrong="message_not_in_streaming_state")
        _take(written, markdown, chunks)
        written.extra = list(blocks)
        return self._finish(post, written)

    def running(self, channel: str, thread_ts: str) -> list[Post]:
        """Return the messages that are being written in a thread."""
        posts = [self._posts.get(*place) for place in self._writing]
        return [post for post in posts if post is not None and (post.channel, post.thread_ts) == (channel, thread_ts)]

    def stop_by_user(self, channel: str, thread_ts: str) -> list[str]:
        """Return the ts of those messages, which end as they are, because a person pressed Stop."""
        stopped: list[str] = []
        for post in self.running(channel, thread_ts):
            self._stopped_by_user.add((channel, post.ts))
            self._finish(post, self._writing[(channel, post.ts)])
            stopped.append(post.ts)
        return stopped

    def _idle(self, post: Post) -> None:
        written = self._writing.get((post.channel, post.ts))
        now = self._posts.get(post.channel, post.ts)
        if written is not None and now is not None:
            self._finish(now, written)

    def _finish(self, post: Post, written: _Written) -> Post:
        written.timer.cancel()
        del self._writing[(post.channel, post.ts)]
        done = replace(self._drawn(written, post), streaming="completed")
        self._conversations.edit(written.started, done)
        return done

    def _find(self, app: App, channel: str, ts: str, *, wrong: str) -> tuple[Post, _Written]:
        post = self._posts.get(channel, ts)
        if post is None:
            raise Refusal("message_not_found")
        if post.user != app.user:
            raise Refusal("message_not_owned_by_app")
        if (channel, ts) in self._stopped_by_user:
            raise Refusal(wrong)
        if (channel, ts) not in self._writing:
            raise Refusal("message_not_in_streaming_state")
        return post, self._writing[(channel, ts)]

    def _drawn(self, written: _Written, post: Post) -> Post:
        blocks = written.blocks()
        if len(blocks) > MAX_MESSAGE_BLOCKS:
            raise Refusal("msg_blocks_too_many")
        return replace(post, text=written.markdown, blocks=with_ids(blocks, lambda: self._ids.next("b")))


def _take(written: _Written, markdown: str, chunks: Sequence[object]) -> None:
    """Add a piece; raise Slack's refusal for what it would not take."""
    if len(markdown) > MAX_MARKDOWN:
        raise Refusal("msg_too_long")
    added = markdown
    for chunk in chunks:
        if not isinstance(chunk, dict):
            raise Refusal("invalid_chunks")
        if chunk.get("type") == "markdown_text" and isinstance(chunk.get("text"), str):
            added += chunk["text"]
        elif chunk.get("type") == "plan_update" and isinstance(chunk.get("title"), str):
            written.plan = _short(chunk["title"])
        elif chunk.get("type") == "task_update":
            task = _task(chunk)
            written.tasks[task["task_id"]] = task
        elif chunk.get("type") == "blocks" and isinstance(chunk.get("blocks"), list) and not faults_of(chunk["blocks"]):
            written.extra += chunk["blocks"]
        else:
            raise Refusal("invalid_chunks")
    written.markdown += added


def _task(chunk: Json) -> Json:
    named = all(isinstance(chunk.get(key), str) and chunk[key] for key in ("id", "title"))
    if not named or chunk.get("status") not in ("pending", "in_progress", "complete", "error"):
        raise Refusal("invalid_chunks")
    task: Json = {"type": "task_card", "task_id": chunk["id"], "title": _short(chunk["title"])}
    task["status"] = chunk["status"]
    for key in ("details", "output"):
        if isinstance(chunk.get(key), str) and chunk[key]:
            task[key] = rich_text(escape(_short(chunk[key])), f"{chunk['id']}-{key}")
    return task | ({"sources": chunk["sources"]} if chunk.get("sources") else {})


def _short(text: str) -> str:
    if len(text) > MAX_TASK_TEXT:
        raise Refusal("invalid_chunks")
    return text
