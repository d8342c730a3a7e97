"""Which tokens the workspace takes, and for what."""

from __future__ import annotations

from hermes_bot.workspace.people import App
from hermes_bot.workspace.refusal import Refusal


class Tokens:
    """The app's two tokens; either can be revoked while the workspace runs."""

    def __init__(self, app: App) -> None:
        self._kinds = {app.bot_token: "bot", app.app_token: "app"}
        self._revoked: set[str] = set()

    def check(self, token: str, kind: str) -> None:
        """Raise Slack's refusal unless `token` is good for methods that want a "bot" or an "app" token."""
        if not token:
            raise Refusal("not_authed")
        if token not in self._kinds:
            raise Refusal("invalid_auth")
        if token in self._revoked:
            raise Refusal("token_revoked")
        if self._kinds[token] != kind:
            raise Refusal("not_allowed_token_type")

    def revoke(self, token: str) -> None:
        """Answer `token_revoked` from now on."""
        self._revoked.add(token)

    def restore(self, token: str) -> None:
        """Take the token again."""
        self._revoked.discard(token)
