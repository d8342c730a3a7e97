"""views.*: modals."""

from __future__ import annotations

from collections.abc import Mapping

from hermes_bot.workspace.args import Args
from hermes_bot.workspace.methods.method import Method
from hermes_bot.workspace.posts import Json
from hermes_bot.workspace.refusal import Refusal
from hermes_bot.workspace.view_rules import checked_view
from hermes_bot.workspace.workspace import Workspace


def _open(workspace: Workspace, args: Args) -> Json:
    trigger = args.required("trigger_id")
    view = _view(args)
    return {"view": workspace.modal_stacks.open(workspace.triggers.take(trigger), view)}


def _update(workspace: Workspace, args: Args) -> Json:
    if not args.text("view_id") and not args.text("external_id"):
        raise Refusal("invalid_arguments", ["[ERROR] missing required field: view_id"])
    view = workspace.modal_stacks.update(
        _view(args),
        view_id=args.text("view_id"),
        external_id=args.text("external_id"),
        expected_hash=args.text("hash"),
    )
    return {"view": view}


def _view(args: Args) -> Json:
    if not args.given("view"):
        raise Refusal("invalid_arguments", ["[ERROR] missing required field: view"])
    return checked_view(args.structure("view", wrong="invalid_arguments"))


METHODS: Mapping[str, Method] = {
    "views.open": Method(_open),
    "views.update": Method(_update),
}
