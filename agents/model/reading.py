"""Reads what a model answered as exactly one action, or says in its own words what is wrong with it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator

from agents.action import Action, CallTool, Delegate, Finish, Outcome, Private
from agents.model.offer import CALL_TOOL, DELEGATE, FINISH, Offer
from hermes_bot.errors import PermanentError
from hermes_bot.llm.chat import ChatAnswer
from hermes_bot.tasks.expectation import problems
from hermes_bot.tasks.task import Part

MOST_SHOWN = 3
LONGEST_SHOWN = 200
MOST_CHARACTERS = 60_000

_FENCE = re.compile(r"```[a-zA-Z]*\s*\n?(?P<body>.*?)```", re.DOTALL)
_THINKING = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)


class NotAnAction(PermanentError):
    """What came is no action; `problems` say why, each in a sentence for the model."""

    def __init__(self, *problems: str) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


def read_action(answer: ChatAnswer, offer: Offer, *, task_timeout_s: float) -> Action:
    """Return the action; raise NotAnAction."""
    if not answer.complete:
        raise NotAnAction("Your answer was cut off before its end. Be shorter.")
    fields = _from_call(answer, offer) if answer.calls else _from_text(answer.text)
    return _action(_checked(fields, offer), task_timeout_s)


def _from_call(answer: ChatAnswer, offer: Offer) -> dict[str, Any]:
    """Return the function call as an action; of several the first counts, since each needs what came of the others."""
    call = answer.calls[0]
    given = _object_in(call.arguments) if call.arguments.strip() else {}
    if call.name in {DELEGATE, FINISH}:
        if given is None:
            raise NotAnAction(f"The arguments of {call.name} are no JSON object.")
        return {"action": call.name, **given}
    if call.name == CALL_TOOL and given is not None:
        return {"action": CALL_TOOL, **given}
    return {"action": CALL_TOOL, "tool": call.name, "arguments": call.arguments if given is None else given}


def _from_text(text: str) -> dict[str, Any]:
    if len(text) > MOST_CHARACTERS:
        raise NotAnAction("Your answer is too long.")
    found = _object_in(_THINKING.sub("", text))
    if found is None:
        raise NotAnAction("Your answer is no JSON object. Answer with one JSON object and nothing else.")
    return found


def _object_in(text: str) -> dict[str, Any] | None:
    """Return the JSON object that the text is or holds: alone, in a code fence, or between words."""
    fenced = [match["body"] for match in _FENCE.finditer(text)]
    start, end = text.find("{"), text.rfind("}")
    for candidate in (text, *fenced, text[start : end + 1] if 0 <= start < end else ""):
        try:
            found = json.loads(candidate)
            if isinstance(found, str):  # encoded twice
                found = json.loads(found)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            return found
    return None


def _checked(fields: Mapping[str, Any], offer: Offer) -> dict[str, Any]:
    """Return the fields that stand for something, with what the action's own schema says of them."""
    given = {name: value for name, value in fields.items() if value is not None}
    kind = given.pop("action", None)
    schema = offer.exact(kind) if isinstance(kind, str) else None
    if kind is None or schema is None:
        raise NotAnAction(f"`action` must be one of {', '.join(offer.actions)}.")
    if kind != DELEGATE:  # flat answers often fill what belongs to other kinds with nothing
        given = {name: value for name, value in given.items() if value or name in schema["properties"]}
    found = sorted(Draft202012Validator(schema).iter_errors(given), key=lambda error: error.json_path)
    if found:
        raise NotAnAction(*(f"{each.json_path}: {each.message}"[:LONGEST_SHOWN] for each in found[:MOST_SHOWN]))
    if offer.expects is not None and kind == FINISH and given["outcome"] == Outcome.ANSWERED:
        _check_result(given, offer.expects)
    return {"action": kind, **given}


def _check_result(given: Mapping[str, Any], expects: Mapping[str, Any]) -> None:
    wrong = problems(dict(expects), given.get("result", {}))
    if wrong:
        raise NotAnAction(*(f"`result` {each}" for each in wrong))


def _action(fields: dict[str, Any], task_timeout_s: float) -> Action:
    match fields["action"]:
        case "call_tool":
            arguments = fields["arguments"]
            written = arguments if isinstance(arguments, str) else ""
            return CallTool(tool=fields["tool"], arguments={} if written else dict(arguments), written=written)
        case "delegate" if "type" in fields:
            return Delegate(type=fields["type"])
        case "delegate":
            return Delegate(parts=tuple(_part(each, task_timeout_s) for each in fields["tasks"]))
        case _:
            return _finish(fields)


def _part(task: Mapping[str, Any], timeout_s: float) -> Part:
    after = tuple(task.get("after", ()))
    return Part(name=task["name"], type=task["type"], data={"text": task["text"]}, after=after, timeout_s=timeout_s)


def _finish(fields: Mapping[str, Any]) -> Finish:
    outcome, text = Outcome(fields["outcome"]), str(fields.get("text", "")).strip()
    result = dict(fields.get("result", {}))
    if outcome is Outcome.HANDOFF:
        return Finish(outcome=outcome, reason=str(fields.get("reason", "default")))
    if not text and not result:
        raise NotAnAction(f"outcome {outcome.value} needs a `text`.")
    private = str(fields.get("private", "")).strip()
    return Finish(
        outcome=outcome, text=text, private=Private(text=private, tells=True) if private else None, result=result
    )
