"""What a Web API method is to the workspace: a function from arguments to the fields of its answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hermes_bot.workspace.args import Args
from hermes_bot.workspace.posts import Json
from hermes_bot.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Method:
    """`run` returns the answer without `ok` and raises Refusal; `token_kind` is "bot" or "app"."""

    run: Callable[[Workspace, Args], Json]
    token_kind: str = "bot"  # noqa: S105 - a kind, not a token
