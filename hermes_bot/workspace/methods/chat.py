"""chat.*: the bot's messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hermes_bot.workspace import wire
from hermes_bot.workspace.args import Args
from hermes_bot.workspace.content import Content, content_of
from hermes_bot.workspace.methods.method import Method
from hermes_bot.workspace.people import Channel
from hermes_bot.workspace.posts import Json, Post
from hermes_bot.workspace.refusal import Refusal
from hermes_bot.workspace.workspace import Workspace


def _post_message(workspace: Workspace, args: Args) -> Json:
    channel = _writable(workspace, args.required("channel"))
    content = content_of(args, lambda: workspace.ids.next("b"))
    post = _draft(workspace, channel, args, content)
    if post.thread_ts and args.flag("reply_broadcast"):
        post = replace(post, broadcast=True, subtype="thread_broadcast")
    workspace.conversations.post(post)
    shown = wire.stored(post, workspace.roster, workspace.posts)
    return {"channel": channel.id, "ts": post.ts, "message": shown} | content.warning


def _post_ephemeral(workspace: Workspace, args: Args) -> Json:
    channel = _writable(workspace, args.required("channel"))
    user = args.required("user")
    if user not in channel.members:
        raise Refusal("user_not_in_channel")
    content = content_of(args, lambda: workspace.ids.next("b"))
    post = replace(_draft(workspace, channel, args, content), seen_by=user, metadata=None)
    workspace.conversations.whisper(post)
    return {"message_ts": post.ts} | content.warning


def _update(workspace: Workspace, args: Args) -> Json:
    channel = workspace.roster.joined_by_bot(args.required("channel"))
    old = _own(workspace, channel, args.required("ts"), wrong="cant_update_message")
    content = content_of(_with_old_text(args, old), lambda: workspace.ids.next("b"), update=True)
    new = replace(
        old,
        text=content.text if content.text_given else old.text,
        blocks=content.blocks,
        attachments=content.attachments,
        metadata=content.metadata if content.metadata is not None else old.metadata,
        edited_by=workspace.app.user,
        edited_ts=workspace.posts.next_ts(),
    )
    workspace.conversations.edit(old, new)
    shown = wire.stored(new, workspace.roster, workspace.posts)
    return {"channel": channel.id, "ts": new.ts, "text": new.text, "message": shown}


def _delete(workspace: Workspace, args: Args) -> Json:
    channel = workspace.roster.joined_by_bot(args.required("channel"))
    post = _own(workspace, channel, args.required("ts"), wrong="cant_delete_message")
    workspace.conversations.delete(post)
    return {"channel": channel.id, "ts": post.ts}


def _get_permalink(workspace: Workspace, args: Args) -> Json:
    channel = workspace.roster.visible_to_bot(args.required("channel"))
    post = workspace.posts.get(channel.id, args.required("message_ts"))
    if post is None:
        raise Refusal("message_not_found")
    link = f"{workspace.outside.base_url()}/archives/{channel.id}/p{post.ts.replace('.', '')}"
    if post.thread_ts:
        link += f"?thread_ts={post.thread_ts}&cid={channel.id}"
    return {"channel": channel.id, "permalink": link}


def _writable(workspace: Workspace, reference: str) -> Channel:
    """Return the channel to write to; a person's id stands for their DM."""
    if reference.startswith(("U", "W")) and any(one.id == reference for one in workspace.roster.members()):
        reference = workspace.open_dm(reference)
    channel = workspace.roster.joined_by_bot(reference)
    if channel.archived:
        raise Refusal("is_archived")
    return channel


def _draft(workspace: Workspace, channel: Channel, args: Args, content: Content) -> Post:
    """Return the bot's post. A reply to what is no parent (any more) lands at the channel's root, as in Slack."""
    wanted = args.text("thread_ts")
    parent = workspace.posts.get(channel.id, wanted)
    is_parent = parent is not None and not parent.thread_ts and not parent.tombstone
    return Post(
        channel=channel.id,
        ts=workspace.posts.next_ts(),
        user=workspace.app.user,
        text=content.text,
        blocks=content.blocks,
        attachments=content.attachments,
        metadata=content.metadata,
        thread_ts=wanted if is_parent else "",
        username=args.text("username"),
        bot=True,
    )


def _own(workspace: Workspace, channel: Channel, ts: str, *, wrong: str) -> Post:
    post = workspace.posts.get(channel.id, ts)
    if post is None or post.tombstone:
        raise Refusal("message_not_found")
    if not post.bot:
        raise Refusal(wrong)
    return post


def _with_old_text(args: Args, old: Post) -> Args:
    """Return arguments with which `blocks=[]` alone is no empty message while the old text stays."""
    keeps_text = not args.given("text") and not args.given("markdown_text") and args.given("blocks")
    return args.with_text(old.text) if keeps_text and old.text else args


METHODS: Mapping[str, Method] = {
    "chat.postMessage": Method(_post_message),
    "chat.postEphemeral": Method(_post_ephemeral),
    "chat.update": Method(_update),
    "chat.delete": Method(_delete),
    "chat.getPermalink": Method(_get_permalink),
}
