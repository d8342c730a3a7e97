"""What a Web API method is to the workspace: a function from a call to the fields of its answer."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from hermes_bot.workspace.args import Args
from hermes_bot.workspace.people import App, Channel
from hermes_bot.workspace.posts import Json
from hermes_bot.workspace.refusal import Refusal
from hermes_bot.workspace.workspace import Workspace

EVERY_METHOD = frozenset(
    {
        "not_authed",
        "invalid_auth",
        "account_inactive",
        "token_revoked",
        "token_expired",
        "not_allowed_token_type",
        "missing_scope",
        "invalid_arguments",
        "ratelimited",
    }
)
"""The errors that any method may answer."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call: by which app, with what."""

    workspace: Workspace
    args: Args
    app: App

    def new_id(self) -> str:
        """Return an id for a block that came without one."""
        return self.workspace.ids.next("b")

    def visible(self, name: str = "channel") -> Channel:
        """Return the conversation that an argument names, if the app may know of it."""
        return self.workspace.roster.visible_to(self.app, self.args.required(name))

    def joined(self, name: str = "channel") -> Channel:
        """Return the conversation that an argument names, if the app's bot is in it."""
        return self.workspace.roster.joined_by_app(self.app, self.args.required(name))


Scopes = Callable[[Call], Collection[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """`run` returns the answer without `ok` and raises Refusal.

    `errors` are all that it may answer beside those of every method; `scopes` says what this call needs; `tier` is
    Slack's: calls a minute, 0 for none of its own; `token_kind` is "bot", "app" or "none".
    """

    run: Callable[[Call], Json]
    errors: frozenset[str] = frozenset()
    scopes: Scopes = lambda _call: ()
    tier: int = 0
    token_kind: str = "bot"  # noqa: S105 - a kind, not a token

    def check_scopes(self, call: Call) -> None:
        """Raise `missing_scope`, with what is needed and what was granted, unless the app has what the call needs."""
        for scope in self.scopes(call):
            if not call.app.granted(scope):
                more = {"needed": scope, "provided": ",".join(call.app.scopes or ())}
                raise Refusal("missing_scope", more=more)


def errors(names: str) -> frozenset[str]:
    """Return the error codes in a text."""
    return frozenset(names.split())


def needs(*scopes: str) -> Scopes:
    """Return what says that a call needs these scopes, whatever it is about."""
    return lambda _call: scopes


def by_channel(right: str, name: str = "channel") -> Scopes:
    """Return what says which scope ("history", "read", …) is needed for the conversation that a call names."""

    def scopes(call: Call) -> Collection[str]:
        try:
            channel = call.workspace.roster.channel(call.args.text(name))
        except Refusal:
            return ()
        return (f"{kind_of(channel)}:{right}",)

    return scopes


def kind_of(channel: Channel) -> str:
    """Return the word under which scopes know a conversation's kind."""
    return {"dm": "im", "mpim": "mpim"}.get(channel.kind) or ("groups" if channel.private else "channels")
