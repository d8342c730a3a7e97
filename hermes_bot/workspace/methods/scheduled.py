"""chat.scheduleMessage and its two companions."""

from __future__ import annotations

from collections.abc import Mapping

from hermes_bot.workspace.args import page_of
from hermes_bot.workspace.content import content_of
from hermes_bot.workspace.methods.chat import CONTENT, METADATA, PLACE, draft, writable
from hermes_bot.workspace.methods.method import Call, Method, errors, needs
from hermes_bot.workspace.posts import Json
from hermes_bot.workspace.refusal import Refusal
from hermes_bot.workspace.schedule import Scheduled

MOST_DAYS = 120


def _schedule(call: Call) -> Json:
    workspace = call.workspace
    channel = writable(call, call.args.required("channel"), no_tab="channel_not_found")
    content = content_of(call.args, call.new_id)
    at = str(call.args.any("post_at"))
    if not at.isdigit():
        raise Refusal("invalid_time")
    post_at, now = int(at), workspace.clock.now()
    if post_at <= now:
        raise Refusal("time_in_past")
    if post_at > now + MOST_DAYS * 86_400:
        raise Refusal("time_too_far")
    post = draft(call, channel, content)
    planned = workspace.schedule.add(post, post_at)
    return {
        "channel": channel.id,
        "scheduled_message_id": planned.id,
        "post_at": post_at,
        "message": {"text": post.text},
    }


def _list(call: Call) -> Json:
    wanted = call.args.text("channel")
    mine = [one for one in call.workspace.schedule.waiting() if one.post.user == call.app.user]
    page, paging = page_of([one for one in mine if wanted in ("", one.post.channel)], call.args, default=100, most=1000)
    return {"scheduled_messages": [_shown(one) for one in page]} | paging


def _delete(call: Call) -> Json:
    call.joined()
    found = call.workspace.schedule.find(call.args.required("scheduled_message_id"))
    if found is None or found.post.user != call.app.user:
        raise Refusal("invalid_scheduled_message_id")
    call.workspace.schedule.cancel(found)
    return {}


def _shown(planned: Scheduled) -> Json:
    shown: Json = {"id": planned.id, "channel_id": planned.post.channel, "post_at": planned.post_at}
    return shown | {"date_created": 0, "text": planned.post.text}


_SAY = needs("chat:write")
METHODS: Mapping[str, Method] = {
    "chat.scheduleMessage": Method(
        run=_schedule,
        errors=CONTENT | METADATA | PLACE | errors("invalid_time time_in_past time_too_far"),
        scopes=_SAY,
        tier=50,
    ),
    "chat.scheduledMessages.list": Method(run=_list, errors=errors("invalid_cursor"), tier=50),
    "chat.deleteScheduledMessage": Method(
        run=_delete,
        errors=errors("channel_not_found not_in_channel invalid_scheduled_message_id"),
        scopes=_SAY,
        tier=50,
    ),
}
