"""conversations.history and conversations.replies: what was said, page by page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from hermes_bot.workspace import wire
from hermes_bot.workspace.args import Args, page_of
from hermes_bot.workspace.methods.method import Call, Method, by_channel, errors
from hermes_bot.workspace.posts import Json, Post
from hermes_bot.workspace.refusal import Refusal
from hermes_bot.workspace.workspace import Workspace

_TIME = re.compile(r"\d{1,12}(?:\.\d{1,6})?")


def _history(call: Call) -> Json:
    workspace, args = call.workspace, call.args
    channel = call.joined()
    posts = _between(workspace.posts.roots(channel.id), args)
    return _page(workspace, posts[::-1], args, default=100)


def _replies(call: Call) -> Json:
    workspace, args = call.workspace, call.args
    channel = call.joined()
    post = workspace.posts.get(channel.id, args.required("ts"))
    if post is None:
        raise Refusal("thread_not_found")
    parent_ts = post.thread_ts or post.ts
    parent, *replies = workspace.thread(channel.id, parent_ts)
    return _page(workspace, [parent, *_between(replies, args)], args, default=1000)


def _page(workspace: Workspace, posts: Sequence[Post], args: Args, *, default: int) -> Json:
    page, paging = page_of(posts, args, default=default, most=1000)
    metadata = args.flag("include_all_metadata")
    shown = [wire.stored(post, workspace.roster, workspace.posts, metadata=metadata) for post in page]
    return {"messages": shown, "has_more": bool(paging["response_metadata"]["next_cursor"])} | paging


def _between(posts: Sequence[Post], args: Args) -> list[Post]:
    """Return the posts after `oldest` and before `latest`; `inclusive` takes those at the very time as well."""
    oldest, latest = _micros(args, "oldest"), _micros(args, "latest")
    inclusive = args.flag("inclusive")

    def fits(post: Post) -> bool:
        at = _as_micros(post.ts)
        after = oldest is None or at > oldest or (inclusive and at == oldest)
        return after and (latest is None or at < latest or (inclusive and at == latest))

    return [post for post in posts if fits(post)]


def _micros(args: Args, name: str) -> int | None:
    value = args.text(name)
    if value in ("", "0"):
        return None
    if not _TIME.fullmatch(value):
        raise Refusal(f"invalid_ts_{name}")
    return _as_micros(value)


def _as_micros(ts: str) -> int:
    seconds, _, fraction = ts.partition(".")
    return int(seconds) * 1_000_000 + int(fraction.ljust(6, "0"))


_READ = errors("channel_not_found not_in_channel invalid_cursor invalid_ts_latest invalid_ts_oldest")
METHODS: Mapping[str, Method] = {
    "conversations.history": Method(run=_history, errors=_READ, scopes=by_channel("history"), tier=50),
    "conversations.replies": Method(
        run=_replies, errors=_READ | {"thread_not_found"}, scopes=by_channel("history"), tier=50
    ),
}
