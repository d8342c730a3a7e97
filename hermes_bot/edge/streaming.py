"""Shows a long answer piece by piece, to the one who asked, before it stands there like any other.

What appears is the answer that code has checked, never what a model is just writing; see DECISIONS.md. At the end the
message is redrawn as it would have been posted, with its key. Where Slack does not stream, there is none of it, and the
caller posts the answer. A message that was begun without our hearing of it has no key yet, and is looked for: it is
taken over, or taken back. https://docs.slack.dev/reference/methods/chat.startStream
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from hermes_bot.edge.post_search import PostSearch
from hermes_bot.edge.posts import Post, Posts
from hermes_bot.edge.slack_api import SlackApi
from hermes_bot.edge.slack_errors import OutcomeUnknown
from hermes_bot.edge.text import UPDATE_CHARACTERS, escape
from hermes_bot.edge.views.look import Json, Look, fault_in
from hermes_bot.errors import SlackRefused, TransientError

PIECES = 4
LEAST_CHARACTERS = 200
STOPPED = "stopped_by_user"
NO_BLOCKS = frozenset({"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long"})
_SENTENCES = re.compile(r"(?<=\n)|(?<=[.!?…]\s)|(?<=[。！？])")
_MARKDOWN = re.compile(r"([\\`*_\[\]~])")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """What is to appear piece by piece: plain text, and the person before whom it does, with their own team.

    `since` is the ts of the message that it answers.
    """

    text: str
    user: str
    team: str
    since: str = ""


class Streams:
    """Streams answers. The message that was begun for a key is remembered, so that a repeat goes on with it."""

    def __init__(self, api: SlackApi, posts: Posts) -> None:
        self._api = api
        self._posts = posts
        self._search = PostSearch(api)
        self._doubtful: set[str] = set()

    async def send(
        self,
        key: str,
        place: dict[str, Any],
        spoken: Spoken,
        looks: Sequence[Look],
        metadata: dict[str, Any],
        *,
        repeated: bool,
    ) -> Post | None:
        """Return where the answer stands; None where it has to be posted. Raise TransientError to be tried again.

        `repeated`: an earlier attempt may have begun it.
        """
        if len(looks[0].text) > UPDATE_CHARACTERS:
            return None
        begun = await self._posts.find(_key(key))
        if begun is not None:
            refused = await self._write(begun, "")
        else:
            begun = await self._taken_over(key, place, spoken) if repeated else None
            begun = begun or await self._begin(key, place, spoken)
            if begun is None:
                return None
            refused = await self._write(begun, spoken.text)
        done = Post(key=key, channel=begun.channel, ts=begun.ts)
        if refused == STOPPED:
            return done
        return done if await self._finished(done, looks, metadata) else None

    def doubtful(self, key: str) -> bool:
        """Return, once, whether a message may have been begun for the key that could not be found yet."""
        found = key in self._doubtful
        self._doubtful.discard(key)
        return found

    async def sweep(self, channel: str, thread_ts: str, *, since: str, before: str) -> None:
        """Take back what was begun in the thread between two messages, and was never written."""
        for post in await self._orphans(channel, thread_ts, since):
            if post.ts < before:
                await self._taken_back(post)

    async def _begin(self, key: str, place: dict[str, Any], spoken: Spoken) -> Post | None:
        person: Json = {"recipient_user_id": spoken.user, "recipient_team_id": spoken.team}
        try:
            answer = await self._api.call("chat.startStream", key=key, **place, **person)
        except OutcomeUnknown as error:
            log.warning("perhaps a message was begun", extra={"key": key, "error": str(error)})
            begun = await self._taken_over(key, place, spoken)
            if begun is None:
                self._doubtful.add(key)
            return begun
        except (SlackRefused, TransientError) as error:
            log.info("not streamed", extra={"key": key, "error": str(error)})
            return None
        begun = Post(key=_key(key), channel=str(answer.get("channel")), ts=str(answer.get("ts")))
        await self._posts.record(begun)
        return begun

    async def _taken_over(self, key: str, place: dict[str, Any], spoken: Spoken) -> Post | None:
        """Return the message that was begun without our hearing of it, if there is one; what is too many goes."""
        orphans = await self._orphans(str(place["channel"]), str(place["thread_ts"]), spoken.since)
        for other in orphans[:-1]:
            await self._taken_back(other)
        if not orphans:
            return None
        taken = replace(orphans[-1], key=_key(key))
        await self._posts.record(taken)
        return taken

    async def _orphans(self, channel: str, thread_ts: str, since: str) -> list[Post]:
        found = await self._search.unwritten(channel, thread_ts, since)
        return [post for post in found if not await self._posts.is_known(post)]

    async def _taken_back(self, post: Post) -> None:
        log.warning("a message that was begun and never written is taken back", extra={"channel": post.channel})
        await self._api.attempt("chat.stopStream", channel=post.channel, ts=post.ts)
        try:
            await self._api.call("chat.delete", channel=post.channel, ts=post.ts)
        except SlackRefused as error:
            log.info("it stays", extra={"channel": post.channel, "error": error.error})

    async def _write(self, begun: Post, text: str) -> str:
        """Return why the person or Slack ended it early, empty when nobody did; what is missing is drawn at the end."""
        where: Json = {"channel": begun.channel, "ts": begun.ts}
        refused = ""
        # A repeat writes nothing; it learns from an empty line whether the person has stopped it.
        for piece in _pieces(text) or ["\n"]:
            refused = await self._api.attempt("chat.appendStream", **where, markdown_text=_as_markdown(piece))
            if refused:
                break
        if refused != STOPPED:
            await self._api.attempt("chat.stopStream", **where)
        return refused

    async def _finished(self, post: Post, looks: Sequence[Look], metadata: dict[str, Any]) -> bool:
        """Draw the whole answer; return False for a message that cannot be drawn any more."""
        where: Json = {"channel": post.channel, "ts": post.ts, "metadata": metadata}
        for look in (*(look for look in looks if not fault_in(look.blocks)), looks[0].plain):
            try:
                await self._api.call("chat.update", **where, text=look.text, blocks=list(look.blocks))
            except SlackRefused as error:
                log.warning("a streamed answer was not redrawn", extra={"key": post.key, "error": error.error})
                if error.error not in NO_BLOCKS:
                    break
            else:
                return True
        try:
            await self._api.call("chat.delete", channel=post.channel, ts=post.ts)  # it is posted instead
        except SlackRefused as error:
            log.info("what was streamed stays", extra={"key": post.key, "error": error.error})
        return False


def _key(key: str) -> str:
    return f"stream:{key}"


def _pieces(text: str) -> list[str]:
    """Return the text in a few pieces, cut after sentences and lines, which put together are the text again."""
    size, pieces = max(LEAST_CHARACTERS, len(text) // PIECES), [""]
    for sentence in _SENTENCES.split(text):
        if len(pieces[-1]) >= size:
            pieces.append("")
        pieces[-1] += sentence
    return [piece for piece in pieces if piece]


def _as_markdown(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", escape(text))
