"""Shows a long answer piece by piece, to the one who asked, before it stands there like any other.

What appears is the answer that code has checked, never what a model is just writing; see DECISIONS.md. At the end the
message is redrawn as it would have been posted, with its key. Where Slack does not stream, there is none of it, and the
caller posts the answer. https://docs.slack.dev/reference/methods/chat.startStream
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hermes_bot.edge.posts import Post, Posts
from hermes_bot.edge.slack_api import SlackApi
from hermes_bot.edge.text import UPDATE_CHARACTERS, escape, split
from hermes_bot.edge.views.look import Json, Look, fault_in
from hermes_bot.errors import SlackRefused, TransientError

PIECES = 4
LEAST_CHARACTERS = 200
STOPPED = "stopped_by_user"
NO_BLOCKS = frozenset({"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long"})
_MARKDOWN = re.compile(r"([\\`*_\[\]~])")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """What is to appear piece by piece: plain text, and the person before whom it does, with their own team."""

    text: str
    user: str
    team: str


class Streams:
    """Streams answers. The message that was begun for a key is remembered, so that a repeat goes on with it."""

    def __init__(self, api: SlackApi, posts: Posts) -> None:
        self._api = api
        self._posts = posts

    async def send(
        self, key: str, place: dict[str, Any], spoken: Spoken, looks: Sequence[Look], metadata: dict[str, Any]
    ) -> Post | None:
        """Return where the answer stands; None where it has to be posted. Raise TransientError to be tried again."""
        if len(looks[0].text) > UPDATE_CHARACTERS:
            return None
        begun = await self._posts.find(_key(key))
        if begun is None:
            begun = await self._begin(key, place, spoken)
            if begun is None:
                return None
            if await self._write(begun, spoken.text) == STOPPED:
                return Post(key=key, channel=begun.channel, ts=begun.ts)
        else:
            await self._api.attempt("chat.stopStream", channel=begun.channel, ts=begun.ts)
        done = Post(key=key, channel=begun.channel, ts=begun.ts)
        return done if await self._finished(done, looks, metadata) else None

    async def _begin(self, key: str, place: dict[str, Any], spoken: Spoken) -> Post | None:
        person: Json = {"recipient_user_id": spoken.user, "recipient_team_id": spoken.team}
        try:
            answer = await self._api.call("chat.startStream", key=key, **place, **person)
        except (SlackRefused, TransientError) as error:
            log.info("not streamed", extra={"key": key, "error": str(error)})
            return None
        begun = Post(key=_key(key), channel=str(answer.get("channel")), ts=str(answer.get("ts")))
        await self._posts.record(begun)
        return begun

    async def _write(self, begun: Post, text: str) -> str:
        """Return why the person or Slack ended it early, empty when nobody did; what is missing is drawn at the end."""
        where: Json = {"channel": begun.channel, "ts": begun.ts}
        refused = ""
        for piece in split(text, max(LEAST_CHARACTERS, len(text) // PIECES)):
            refused = await self._api.attempt("chat.appendStream", **where, markdown_text=f"{_as_markdown(piece)}\n")
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
        await self._api.attempt("chat.delete", channel=post.channel, ts=post.ts)  # it is posted instead
        return False


def _key(key: str) -> str:
    return f"stream:{key}"


def _as_markdown(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", escape(text))
