"""chat.*: the bot's messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hermes_bot.workspace import wire
from hermes_bot.workspace.args import Args
from hermes_bot.workspace.content import Content, content_of
from hermes_bot.workspace.methods.method import Call, Method, errors, needs
from hermes_bot.workspace.people import Channel
from hermes_bot.workspace.posts import Json, Post
from hermes_bot.workspace.refusal import Refusal

CONTENT = errors(
    "no_text invalid_blocks invalid_blocks_format msg_blocks_too_long markdown_text_conflict msg_too_long "
    "too_many_attachments"
)
METADATA = errors("invalid_metadata_format metadata_too_large")
PLACE = errors("channel_not_found not_in_channel is_archived")
TAB = errors("messages_tab_disabled")


def _post_message(call: Call) -> Json:
    workspace, args = call.workspace, call.args
    channel = writable(call, args.required("channel"))
    content = content_of(args, call.new_id)
    post = draft(call, channel, content)
    if post.thread_ts and args.flag("reply_broadcast"):
        post = replace(post, broadcast=True, subtype="thread_broadcast")
    workspace.conversations.post(post)
    workspace.sessions.cleared(channel.id, post.thread_ts)
    shown = wire.stored(post, workspace.roster, workspace.posts)
    return {"channel": channel.id, "ts": post.ts, "message": shown} | content.warning


def _post_ephemeral(call: Call) -> Json:
    channel = writable(call, call.args.required("channel"))
    user = call.args.required("user")
    if user not in channel.members:
        raise Refusal("user_not_in_channel")
    content = content_of(call.args.without("metadata"), call.new_id)
    post = replace(draft(call, channel, content), seen_by=user)
    call.workspace.conversations.whisper(post)
    return {"message_ts": post.ts} | content.warning


def _me_message(call: Call) -> Json:
    channel = writable(call, call.args.required("channel"), no_tab="channel_not_found")
    content = content_of(call.args.without("metadata"), call.new_id)
    post = replace(draft(call, channel, content), subtype="me_message", thread_ts="", blocks=())
    call.workspace.conversations.post(post)
    return {"channel": channel.id, "ts": post.ts}


def _update(call: Call) -> Json:
    workspace, args = call.workspace, call.args
    channel = call.joined()
    if channel.archived:
        raise Refusal("is_inactive")
    old = _own(call, channel, args.required("ts"), wrong="cant_update_message")
    if old.streaming == "in_progress":
        raise Refusal("streaming_state_conflict")
    content = content_of(_with_old_text(args, old), call.new_id, update=True)
    new = replace(
        old,
        text=content.text if content.text_given else old.text,
        blocks=content.blocks,
        attachments=content.attachments,
        metadata=content.metadata if content.metadata is not None else old.metadata,
        edited_by=call.app.user,
        edited_ts=workspace.posts.next_ts(),
    )
    workspace.conversations.edit(old, new)
    shown = wire.stored(new, workspace.roster, workspace.posts)
    return {"channel": channel.id, "ts": new.ts, "text": new.text, "message": shown}


def _delete(call: Call) -> Json:
    channel = call.joined()
    post = _own(call, channel, call.args.required("ts"), wrong="cant_delete_message")
    call.workspace.conversations.delete(post)
    return {"channel": channel.id, "ts": post.ts}


def _get_permalink(call: Call) -> Json:
    channel = call.visible()
    post = call.workspace.posts.get(channel.id, call.args.required("message_ts"))
    if post is None:
        raise Refusal("message_not_found")
    link = f"{call.workspace.outside.base_url()}/archives/{channel.id}/p{post.ts.replace('.', '')}"
    if post.thread_ts:
        link += f"?thread_ts={post.thread_ts}&cid={channel.id}"
    return {"channel": channel.id, "permalink": link}


def writable(call: Call, reference: str, *, no_tab: str = "messages_tab_disabled") -> Channel:
    """Return the channel to write to; a person's id stands for their DM. `no_tab`: what an app without one is told."""
    roster = call.workspace.roster
    if reference.startswith(("U", "W")):
        try:
            reference = roster.open_dm(reference, call.app)[0].id
        except Refusal as refusal:
            raise Refusal("channel_not_found") from refusal
    channel = roster.joined_by_app(call.app, reference)
    if channel.archived:
        raise Refusal("is_archived")
    if channel.kind == "dm" and not call.app.messages_tab:
        raise Refusal(no_tab)
    return channel


def draft(call: Call, channel: Channel, content: Content) -> Post:
    """Return the bot's post. A reply to what is no parent (any more) lands at the channel's root, as in Slack."""
    workspace, args = call.workspace, call.args
    wanted = args.text("thread_ts")
    parent = workspace.posts.get(channel.id, wanted)
    is_parent = parent is not None and not parent.thread_ts and not parent.tombstone
    return Post(
        channel=channel.id,
        ts=workspace.posts.next_ts(),
        user=call.app.user,
        text=content.text,
        blocks=content.blocks,
        attachments=content.attachments,
        metadata=content.metadata,
        thread_ts=wanted if is_parent else "",
        username=args.text("username"),
        bot=True,
    )


def _own(call: Call, channel: Channel, ts: str, *, wrong: str) -> Post:
    post = call.workspace.posts.get(channel.id, ts)
    if post is None or post.tombstone:
        raise Refusal("message_not_found")
    if post.user != call.app.user or not post.bot:
        raise Refusal(wrong)
    return post


def _with_old_text(args: Args, old: Post) -> Args:
    """Return arguments with which `blocks=[]` alone is no empty message while the old text stays."""
    keeps_text = not args.given("text") and not args.given("markdown_text") and args.given("blocks")
    return args.with_text(old.text) if keeps_text and old.text else args


_CHANGED = errors("channel_not_found not_in_channel message_not_found")
_SAY = needs("chat:write")
METHODS: Mapping[str, Method] = {
    "chat.postMessage": Method(run=_post_message, errors=CONTENT | METADATA | PLACE | TAB, scopes=_SAY),
    "chat.postEphemeral": Method(
        run=_post_ephemeral, errors=CONTENT | PLACE | TAB | {"user_not_in_channel"}, scopes=_SAY, tier=100
    ),
    "chat.meMessage": Method(run=_me_message, errors=CONTENT | PLACE, scopes=_SAY, tier=50),
    "chat.update": Method(
        run=_update,
        errors=CONTENT | METADATA | _CHANGED | {"cant_update_message", "is_inactive", "streaming_state_conflict"},
        scopes=_SAY,
        tier=50,
    ),
    "chat.delete": Method(run=_delete, errors=_CHANGED | {"cant_delete_message"}, scopes=_SAY, tier=50),
    "chat.getPermalink": Method(run=_get_permalink, errors=errors("channel_not_found message_not_found")),
}
