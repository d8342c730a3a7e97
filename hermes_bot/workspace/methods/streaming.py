"""chat.startStream, chat.appendStream, chat.stopStream: messages that are written piece by piece."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from hermes_bot.workspace import wire
from hermes_bot.workspace.blocks import MAX_MESSAGE_BLOCK_TEXT, faults_of, text_length
from hermes_bot.workspace.content import Content
from hermes_bot.workspace.methods.chat import draft, writable
from hermes_bot.workspace.methods.method import Call, Method, errors, needs
from hermes_bot.workspace.people import Channel
from hermes_bot.workspace.posts import Json
from hermes_bot.workspace.refusal import Refusal
from hermes_bot.workspace.sessions import STATUSES

_PERSON = re.compile(r"[UW][A-Z0-9]{2,}")


def _start(call: Call) -> Json:
    channel = writable(call, call.args.required("channel"))
    thread_ts = call.args.required("thread_ts")
    root = call.workspace.posts.get(channel.id, thread_ts)
    if root is None or root.thread_ts or root.tombstone:
        raise Refusal("invalid_thread_ts")
    recipient = _recipient(call, channel)
    post = replace(draft(call, channel, Content()), recipient=recipient)
    post = call.workspace.streams.start(post, call.args.text("markdown_text"), _chunks(call))
    call.workspace.sessions.cleared(channel.id, thread_ts)
    return {"channel": channel.id, "ts": post.ts}


def _append(call: Call) -> Json:
    channel, ts = call.joined(), call.args.required("ts")
    post = call.workspace.streams.append(call.app, channel.id, ts, call.args.text("markdown_text"), _chunks(call))
    return {"channel": channel.id, "ts": post.ts}


def _stop(call: Call) -> Json:
    channel, ts = call.joined(), call.args.required("ts")
    status = call.args.text("session_status")
    if status and status not in STATUSES:
        raise Refusal("invalid_arguments", ["[ERROR] failed to match any of the allowed values: session_status"])
    post = call.workspace.streams.stop(
        call.app, channel.id, ts, call.args.text("markdown_text"), _chunks(call), _blocks(call)
    )
    if status:
        call.workspace.sessions.set_status(call.app, channel.id, post.thread_ts, status)
    shown = wire.stored(post, call.workspace.roster, call.workspace.posts)
    return {"channel": channel.id, "ts": post.ts, "message": shown}


def _recipient(call: Call, channel: Channel) -> str:
    """Return the person who sees the text while it is written; outside of a DM the app must name them."""
    user, team = call.args.text("recipient_user_id"), call.args.text("recipient_team_id")
    if channel.kind == "dm":
        return user or next(one for one in channel.members if one != call.app.user)
    if not user:
        raise Refusal("missing_recipient_user_id")
    if not team:
        raise Refusal("missing_recipient_team_id")
    if not _PERSON.fullmatch(user):
        raise Refusal("invalid_arguments", ["[ERROR] must match ^[UW][A-Z0-9]{2,}$ [json-pointer:/recipient_user_id]"])
    if call.workspace.roster.member(user).bot:
        raise Refusal("user_not_found")
    if call.workspace.roster.team_of(user) != team:
        raise Refusal("team_not_found")
    return user


def _chunks(call: Call) -> list[object]:
    chunks = call.args.structure("chunks", wrong="invalid_chunks") or []
    if not isinstance(chunks, list):
        raise Refusal("invalid_chunks")
    return chunks


def _blocks(call: Call) -> list[Json]:
    blocks = call.args.structure("blocks", wrong="invalid_blocks") or []
    sentences = faults_of(blocks)
    if sentences:
        raise Refusal("invalid_blocks", sentences)
    if text_length(blocks) > MAX_MESSAGE_BLOCK_TEXT:
        raise Refusal("msg_blocks_too_long")
    return list(blocks)


_ANY = errors("channel_not_found not_in_channel msg_too_long invalid_chunks msg_blocks_too_many")
_RUNNING = errors("message_not_found message_not_owned_by_app message_not_in_streaming_state")
_SAY = needs("chat:write")
METHODS: Mapping[str, Method] = {
    "chat.startStream": Method(
        run=_start,
        errors=_ANY
        | errors(
            "is_archived messages_tab_disabled invalid_thread_ts missing_recipient_user_id missing_recipient_team_id "
            "user_not_found team_not_found"
        ),
        scopes=_SAY,
        tier=20,
    ),
    "chat.appendStream": Method(
        run=_append, errors=_ANY | _RUNNING | {"no_text", "stopped_by_user"}, scopes=_SAY, tier=100
    ),
    "chat.stopStream": Method(
        run=_stop, errors=_ANY | _RUNNING | {"invalid_blocks", "msg_blocks_too_long"}, scopes=_SAY, tier=20
    ),
}
