"""Spoils a model's answers as real ones are spoilt: seeded, one slip an answer, and fewer where a schema forbids it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from typing import Any

from jsonschema import Draft202012Validator

from tests.llm.model_server import Asked, Says

Fields = dict[str, Any]
Slip = Callable[[Fields, random.Random], Says]

_NAMES = {"tool": "tool_name", "arguments": "parameters", "outcome": "result", "text": "message", "type": "agent"}
_KINDS = {"call_tool": "tool_call", "finish": "final_answer", "delegate": "handoff"}


def written(fields: Mapping[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=False)


def _words_around(fields: Fields, _: random.Random) -> Says:
    return Says(text=f"Sure, here is the next step:\n{written(fields)}\nLet me know!")


def _fenced(fields: Fields, _: random.Random) -> Says:
    return Says(text=f"```json\n{written(fields)}\n```")


def _prose(fields: Fields, _: random.Random) -> Says:
    return Says(text=str(fields.get("text") or "I am going to look that up for you now."))


def _cut_off(fields: Fields, rng: random.Random) -> Says:
    text = written(fields)
    return Says(text=text[: rng.randrange(1, len(text))], finish_reason="length")


def _single_quotes(fields: Fields, _: random.Random) -> Says:
    return Says(text=str(fields))


def _trailing_comma(fields: Fields, _: random.Random) -> Says:
    return Says(text=written(fields)[:-1] + ",}")


def _other_action(fields: Fields, _: random.Random) -> Says:
    return Says(text=written(fields | {"action": _KINDS[fields["action"]]}))


def _other_key(fields: Fields, rng: random.Random) -> Says:
    name = rng.choice(sorted(set(fields) & set(_NAMES)))
    return Says(text=written({_NAMES[name] if key == name else key: value for key, value in fields.items()}))


def _missing_key(fields: Fields, rng: random.Random) -> Says:
    gone = rng.choice(sorted(set(fields) & set(_NAMES)))
    return Says(text=written({key: value for key, value in fields.items() if key != gone}))


def _wrong_type(fields: Fields, rng: random.Random) -> Says:
    name = rng.choice(sorted(set(fields) & set(_NAMES)))
    return Says(text=written(fields | {name: [fields[name]]}))


def _thought(fields: Fields, _: random.Random) -> Says:
    return Says(text=written({"thought": "The customer wants to know something."} | fields))


def _unknown_word(fields: Fields, _: random.Random) -> Says:
    name = next(name for name in ("tool", "outcome", "type") if name in fields)
    return Says(text=written(fields | {name: f"{fields[name]}_now"}))


def _nested(fields: Fields, _: random.Random) -> Says:
    return Says(text=written({"action": dict(fields)}))


def _two_at_once(fields: Fields, _: random.Random) -> Says:
    return Says(text=f"{written(fields)}\n{written(fields)}")


SLIPS: Mapping[str, Slip] = {
    "words around it": _words_around,
    "in a fence": _fenced,
    "prose alone": _prose,
    "cut off": _cut_off,
    "single quotes": _single_quotes,
    "trailing comma": _trailing_comma,
    "another action": _other_action,
    "another key": _other_key,
    "a key is missing": _missing_key,
    "another type": _wrong_type,
    "an extra key": _thought,
    "an unknown word": _unknown_word,
    "nested": _nested,
    "two at once": _two_at_once,
}


class Noise:
    """Spoils a share of the answers.

    Where the request brings a JSON Schema, the endpoint keeps to it, as those do that decode under a grammar: a slip
    that it forbids cannot be made, and the answer comes as it was meant. A limit of length is above any grammar.
    """

    def __init__(self, seed: int, share: float) -> None:
        self._rng = random.Random(seed)
        self._share = share
        self.last = ""

    def spoilt(self, asked: Asked, fields: Fields) -> Says:
        """Return the action as the model writes it; `last` names the slip, empty where there is none."""
        self.last = ""
        meant = Says(text=written(fields))
        if self._rng.random() >= self._share:
            return meant
        name = self._rng.choice(list(SLIPS))
        said = SLIPS[name](fields, self._rng)
        if said.finish_reason == "stop" and not _allowed(asked, said.text):
            return meant
        self.last = name
        return said


def _allowed(asked: Asked, text: str) -> bool:
    """Return whether the request lets the endpoint write this text."""
    form = asked.body.get("response_format")
    if form is None:
        return True
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return Draft202012Validator(form["json_schema"]["schema"]).is_valid(value)
