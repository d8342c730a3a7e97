"""Whatever an app sends, a method answers something, or refuses it with an error that it declares."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from hermes_bot.workspace.args import Args
from hermes_bot.workspace.clock import SettableClock
from hermes_bot.workspace.methods.method import EVERY_METHOD, Call, Method
from hermes_bot.workspace.posts import Post
from hermes_bot.workspace.refusal import Refusal
from hermes_bot.workspace.server import WorkspaceServer
from hermes_bot.workspace.web_api import METHODS

TS = "1764500000.000001"
NAMES = (
    *("channel", "channel_id", "user", "users", "ts", "thread_ts", "message_ts", "timestamp", "text", "markdown_text"),
    *("blocks", "attachments", "metadata", "view", "view_id", "external_id", "trigger_id", "user_id", "hash", "name"),
    *("status", "title", "prompts", "loading_messages", "chunks", "files", "file", "filename", "length", "limit"),
    *("cursor", "types", "post_at", "scheduled_message_id", "usergroup", "email", "recipient_user_id", "oldest"),
    *("recipient_team_id", "session_status", "latest", "inclusive", "return_im", "reply_broadcast", "bot", "message"),
    *("initial_comment", "team", "include_locale", "username"),
)
WORDS = (
    "C0SUPPORT",
    "C0GENERAL",
    "D0EMMA",
    "U0EMMA",
    "U0HERMES",
    "S0APPROVERS",
    TS,
    "T0HERMES",
    "processing",
    "im",
    "",
)
BLOCKS = [{"type": "section", "text": {"type": "mrkdwn", "text": "x"}}, {"type": "divider"}, {"type": "markdown"}]
LEAVES = some.one_of(
    some.none(), some.booleans(), some.integers(-1, 10**10), some.text(max_size=8), some.sampled_from(WORDS)
)
KEYS = some.sampled_from(("type", "text", "blocks", "elements", "id", "title", "message", "options", "rows", "value"))
KINDS = some.sampled_from(("modal", "home", "section", "actions", "table", "plan", "card", "container", "carousel"))
NESTED = some.recursive(
    some.one_of(LEAVES, some.sampled_from(BLOCKS), KINDS),
    lambda inner: some.one_of(some.lists(inner, max_size=3), some.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=8,
)
GOOD: dict[str, Any] = {
    **{"channel": "C0SUPPORT", "channel_id": "C0SUPPORT", "user": "U0EMMA", "users": "U0EMMA", "user_id": "U0EMMA"},
    **{"ts": TS, "thread_ts": TS, "message_ts": TS, "timestamp": TS, "text": "hello", "name": "eyes", "limit": 5},
    **{"status": "active", "title": "Order", "filename": "a.txt", "length": 3, "post_at": 1764500100, "types": "im"},
    **{"recipient_user_id": "U0EMMA", "recipient_team_id": "T0HERMES", "usergroup": "S0APPROVERS", "bot": "B0HERMES"},
    **{"prompts": [{"title": "a", "message": "b"}], "view": {"type": "modal"}, "email": "li.na@example.com"},
}
WRONG = some.dictionaries(some.sampled_from(NAMES), some.one_of(LEAVES, NESTED), max_size=4)
GIVEN = some.one_of(WRONG, WRONG.map(lambda wrong: GOOD | wrong))


def staged() -> WorkspaceServer:
    """Return a workspace that is not served, in which Emma asked and the bot answered."""
    server = WorkspaceServer(clock=SettableClock())
    server.workspace.posts.add(Post(channel="C0SUPPORT", ts=TS, user="U0EMMA", text="hello"))
    answer = Post(channel="C0SUPPORT", ts="1764500000.000002", user="U0HERMES", text="yes?", thread_ts=TS, bot=True)
    server.workspace.posts.add(answer)
    return server


@pytest.mark.parametrize("name", sorted(set(METHODS) - {"api.test"}))
@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(values=GIVEN)
def test_any_arguments_are_answered_or_refused_as_declared(name: str, values: dict[str, Any]) -> None:
    server, method = staged(), METHODS[name]
    call = Call(server.workspace, Args(values), server.world.app)

    assert answered(method, call) in {"ok", *method.errors, *EVERY_METHOD}


def answered(method: Method, call: Call) -> str:
    """Return "ok", or the error."""
    try:
        method.check_scopes(call)
        json.dumps(method.run(call))
    except Refusal as refusal:
        return refusal.error
    return "ok"
