"""agents.sessions.* and assistant.threads.*: what an agent says of its work."""

from __future__ import annotations

from collections.abc import Mapping

from hermes_bot.workspace.methods.method import Call, Method, errors, needs
from hermes_bot.workspace.people import Channel
from hermes_bot.workspace.posts import Json
from hermes_bot.workspace.refusal import Refusal
from hermes_bot.workspace.sessions import STATUSES

MAX_TITLE = 200
MAX_PROMPTS = 4
MAX_LOADING_MESSAGES = 10
_UNHEARD = "missing_agent_session_stopped_event_subscription"


def _set_session(call: Call) -> Json:
    if not call.app.agent:
        raise Refusal("no_permission")
    channel, thread_ts = _thread(call)
    status, title = call.args.required("status"), call.args.text("title")
    if status not in STATUSES:
        raise _wrong("failed to match any of the allowed values", "status")
    if len(title) > MAX_TITLE:
        raise _wrong(f"must be less than {MAX_TITLE + 1} characters", "title")
    session = call.workspace.sessions.set_status(call.app, channel.id, thread_ts, status, title)
    answer: Json = {"status": status, "agent_status": status, "title": session.title}
    unheard = {"warning": _UNHEARD, "response_metadata": {"warnings": [_UNHEARD]}}
    return answer | ({} if call.app.subscribed("agent_session_stopped") else unheard)


def _rename(call: Call) -> Json:
    channel, thread_ts = _thread(call)
    title = call.args.required("title")
    if len(title) > MAX_TITLE:
        raise _wrong(f"must be less than {MAX_TITLE + 1} characters", "title")
    session = call.workspace.sessions.of(channel.id, thread_ts)
    if session is None or not session.status:
        raise Refusal("invalid_thread_ts")
    return {"title": call.workspace.sessions.rename(session, title).title}


def _set_text(call: Call) -> Json:
    channel, thread_ts = _thread(call)
    loading = call.args.structure("loading_messages", wrong="invalid_arguments") or []
    if not isinstance(loading, list) or not all(isinstance(one, str) for one in loading):
        raise _wrong("must be an array of strings", "loading_messages")
    if len(loading) > MAX_LOADING_MESSAGES:
        raise _wrong(f"no more than {MAX_LOADING_MESSAGES} items allowed", "loading_messages")
    call.workspace.sessions.set_text(call.app, channel.id, thread_ts, call.args.text("status"), loading)
    return {}


def _suggest(call: Call) -> Json:
    channel, thread_ts = _thread(call, optional=True)
    prompts = call.args.structure("prompts", wrong="invalid_arguments")
    if not isinstance(prompts, list) or not prompts or not all(_is_prompt(one) for one in prompts):
        raise _wrong("must be an array of prompts", "prompts")
    if len(prompts) > MAX_PROMPTS:
        raise _wrong(f"no more than {MAX_PROMPTS} items allowed", "prompts")
    call.workspace.sessions.suggest(call.app, channel.id, thread_ts, prompts, call.args.text("title"))
    return {}


def _set_title(call: Call) -> Json:
    channel, thread_ts = _thread(call)
    call.workspace.sessions.set_title(call.app, channel.id, thread_ts, call.args.required("title"))
    return {}


def _thread(call: Call, *, optional: bool = False) -> tuple[Channel, str]:
    """Return the conversation and the thread's root, which must be there."""
    channel = call.visible("channel_id")
    thread_ts = call.args.text("thread_ts")
    root = call.workspace.posts.get(channel.id, thread_ts)
    if not (optional and not thread_ts) and (root is None or root.thread_ts):
        raise Refusal("invalid_thread_ts")
    return channel, thread_ts


def _is_prompt(prompt: object) -> bool:
    return isinstance(prompt, dict) and all(
        isinstance(prompt.get(key), str) and prompt[key] for key in ("title", "message")
    )


def _wrong(sentence: str, name: str) -> Refusal:
    return Refusal("invalid_arguments", [f"[ERROR] {sentence} [json-pointer:/{name}]"])


_PLACE = errors("channel_not_found invalid_thread_ts")
_SAY, _ASSIST = needs("chat:write"), needs("assistant:write")
METHODS: Mapping[str, Method] = {
    "agents.sessions.setStatus": Method(run=_set_session, errors=_PLACE | {"no_permission"}, scopes=_SAY, tier=50),
    "agents.sessions.rename": Method(run=_rename, errors=_PLACE, scopes=_SAY, tier=50),
    "assistant.threads.setStatus": Method(run=_set_text, errors=_PLACE, scopes=_SAY),
    "assistant.threads.setSuggestedPrompts": Method(run=_suggest, errors=_PLACE, scopes=_ASSIST, tier=100),
    "assistant.threads.setTitle": Method(run=_set_title, errors=_PLACE, scopes=_ASSIST, tier=100),
}
