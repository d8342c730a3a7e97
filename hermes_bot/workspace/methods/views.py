"""views.*: modals and homes; and blocks.validate."""

from __future__ import annotations

from collections.abc import Mapping

from hermes_bot.workspace.blocks import faults_of
from hermes_bot.workspace.methods.method import Call, Method, errors
from hermes_bot.workspace.posts import Json
from hermes_bot.workspace.refusal import Refusal
from hermes_bot.workspace.view_rules import checked_view, view_faults


def _open(call: Call) -> Json:
    trigger = call.args.required("trigger_id")
    view = _view(call)
    user = call.workspace.triggers.take(trigger, call.app.id)
    try:
        return {"view": call.workspace.modal_stacks.open(user, view, call.app)}
    except Refusal as refusal:
        if refusal.error == "push_limit_reached":
            raise Refusal("invalid_arguments", ["[ERROR] no more than 3 views in a stack"]) from refusal
        raise


def _push(call: Call) -> Json:
    trigger = call.args.required("trigger_id")
    view = _view(call)
    user = call.workspace.triggers.take(trigger, call.app.id)
    if not call.workspace.modals(user):
        raise Refusal("not_found")
    return {"view": call.workspace.modal_stacks.open(user, view, call.app)}


def _update(call: Call) -> Json:
    workspace, args = call.workspace, call.args
    if not args.text("view_id") and not args.text("external_id"):
        raise Refusal("invalid_arguments", ["[ERROR] missing required field: view_id"])
    given = args.structure("view", wrong="invalid_arguments")
    if isinstance(given, dict) and given.get("type") == "home":
        home = workspace.homes.redraw(_view(call, "home"), call.app, args.text("view_id"))
        if home is None:
            raise Refusal("not_found")
        return {"view": home}
    view = workspace.modal_stacks.update(
        _view(call),
        call.app,
        view_id=args.text("view_id"),
        external_id=args.text("external_id"),
        expected_hash=args.text("hash"),
    )
    return {"view": view}


def _publish(call: Call) -> Json:
    workspace = call.workspace
    view = _view(call, "home")
    known = any(member.id == call.args.required("user_id") for member in workspace.roster.members())
    if not known:
        raise Refusal("invalid_arguments", ["[ERROR] invalid user id [json-pointer:/user_id]"])
    hash_ = call.args.text("hash")
    return {"view": workspace.homes.publish(call.args.text("user_id"), view, call.app, expected_hash=hash_)}


def _view(call: Call, kind: str = "modal") -> Json:
    if not call.args.given("view"):
        raise Refusal("invalid_arguments", ["[ERROR] missing required field: view"])
    return checked_view(call.args.structure("view", wrong="invalid_arguments"), kind)


def _validate(call: Call) -> Json:
    """Say what is wrong with blocks, a message or a view, of which exactly one is given."""
    given = [name for name in ("blocks", "message", "view") if call.args.given(name)]
    if len(given) != 1:
        raise Refusal("invalid_arguments", ["[ERROR] exactly one of `blocks`, `message`, `view`"])
    value = call.args.structure(given[0], wrong="invalid_blocks_format")
    if given[0] == "view":
        wrong = view_faults(value, str(value.get("type"))) if isinstance(value, dict) else ["[ERROR] must be an object"]
    else:
        wrong = faults_of(value.get("blocks", []) if given[0] == "message" and isinstance(value, dict) else value)
    if wrong:
        raise Refusal("invalid_blocks", wrong)
    return {}


_TRIGGERED = errors("expired_trigger_id exchanged_trigger_id invalid_trigger_id view_too_large duplicate_external_id")
_REDRAWN = errors("duplicate_external_id hash_conflict not_found view_too_large")
METHODS: Mapping[str, Method] = {
    "views.open": Method(run=_open, errors=_TRIGGERED, tier=100),
    "views.push": Method(run=_push, errors=_TRIGGERED | {"push_limit_reached", "not_found"}, tier=100),
    "views.update": Method(run=_update, errors=_REDRAWN, tier=100),
    "views.publish": Method(
        run=_publish, errors=errors("duplicate_external_id hash_conflict not_enabled view_too_large"), tier=100
    ),
    "blocks.validate": Method(run=_validate, errors=errors("invalid_blocks invalid_blocks_format"), tier=50),
}
