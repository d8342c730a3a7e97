"""Which tokens the workspace takes, and for what."""

from __future__ import annotations

from collections.abc import Sequence

from hermes_bot.workspace.people import App
from hermes_bot.workspace.refusal import Refusal


class Tokens:
    """Each app's two tokens; any can be revoked, expire or have its bot deactivated while the workspace runs."""

    def __init__(self, apps: Sequence[App]) -> None:
        self._kinds = {app.bot_token: ("bot", app) for app in apps} | {app.app_token: ("app", app) for app in apps}
        self._refused: dict[str, str] = {}

    def check(self, token: str, kind: str) -> App:
        """Return the app; raise Slack's refusal unless `token` is good for methods that want a "bot" or "app" token."""
        app = self.owner(token)
        if self._kinds[token][0] != kind:
            raise Refusal("not_allowed_token_type")
        return app

    def owner(self, token: str) -> App:
        """Return the app whose token this is, of either kind; raise Slack's refusal when it is none, or no longer."""
        if not token:
            raise Refusal("not_authed")
        if token not in self._kinds:
            raise Refusal("invalid_auth")
        if token in self._refused:
            raise Refusal(self._refused[token])
        return self._kinds[token][1]

    def issue(self, token: str) -> str:
        """Return another token of the same app and kind, as a reinstalled app gets one; the old one stays as it is."""
        fresh = f"{token}-{len(self._kinds)}"
        self._kinds[fresh] = self._kinds[token]
        return fresh

    def revoke(self, token: str) -> None:
        """Answer `token_revoked` from now on."""
        self._refused[token] = "token_revoked"

    def expire(self, token: str) -> None:
        """Answer `token_expired` from now on."""
        self._refused[token] = "token_expired"

    def deactivate(self, token: str) -> None:
        """Answer `account_inactive` from now on: the app was uninstalled, or its bot deactivated."""
        self._refused[token] = "account_inactive"

    def restore(self, token: str) -> None:
        """Take the token again."""
        self._refused.pop(token, None)
