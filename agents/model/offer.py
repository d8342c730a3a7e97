"""What a model may do at one step, told in the two ways that endpoints take: functions, or one JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.action import Outcome
from hermes_bot.llm.chat import ChatFunction
from hermes_bot.tasks.graph import MOST_PARTS
from hermes_bot.tasks.task import PART_NAME
from hermes_bot.tools.registry import Tool

CALL_TOOL, DELEGATE, FINISH = "call_tool", "delegate", "finish"
REASONS = ("asked", "cancel", "address", "no_identity", "not_found", "tool_refused", "several", "default")
LONGEST_TEXT = 8_000
HAND_OVER = "ticket."

Schema = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """Tools, types of work that others take over (`hand_over`) or do and give back (`tasks`), and how to end.

    `expects` is the JSON Schema of the result where the agent works on a task; without one a customer is answered.
    """

    tools: Sequence[Tool] = ()
    hand_over: Sequence[str] = ()
    tasks: Sequence[str] = ()
    expects: Mapping[str, Any] | None = None
    customer: bool = True

    @classmethod
    def of(
        cls, tools: Sequence[Tool], delegates: Sequence[str], *, expects: Mapping[str, Any] | None, customer: bool
    ) -> Offer:
        """Return the offer: a `ticket.…` type is handed over with the customer, any other is a task."""
        return cls(
            tools=tuple(tools),
            hand_over=tuple(type_ for type_ in delegates if type_.startswith(HAND_OVER)) if customer else (),
            tasks=tuple(type_ for type_ in delegates if not type_.startswith(HAND_OVER)),
            expects=expects,
            customer=customer,
        )

    @property
    def actions(self) -> tuple[str, ...]:
        """The kinds of action that are possible."""
        offered = ((CALL_TOOL, self.tools), (DELEGATE, self.hand_over or self.tasks), (FINISH, True))
        return tuple(name for name, wanted in offered if wanted)

    @property
    def functions(self) -> tuple[ChatFunction, ...]:
        """Every tool as a function, and one for each other kind of action."""
        made = [
            ChatFunction(name=tool.name, description=tool.description, parameters=tool.parameters)
            for tool in self.tools
        ]
        if DELEGATE in self.actions:
            made.append(ChatFunction(name=DELEGATE, description=_DELEGATE, parameters=_object(self._delegate)))
        return (*made, ChatFunction(name=FINISH, description=_FINISH, parameters=self._finish))

    @property
    def schema(self) -> Schema:
        """One flat object for all kinds of action, as endpoints take it."""
        fields: Schema = {"action": {"enum": list(self.actions)}}
        if self.tools:
            fields |= {"tool": {"enum": [tool.name for tool in self.tools]}, "arguments": {"type": "object"}}
        return _object(fields | self._delegate | self._finish["properties"], "action")

    def exact(self, kind: str) -> Schema | None:
        """Return the schema that an action of this kind is checked against, None where it is not possible."""
        if kind not in self.actions:
            return None
        if kind == CALL_TOOL:
            call = {"tool": {"enum": [tool.name for tool in self.tools]}, "arguments": {"type": ["object", "string"]}}
            return _object(call, "tool", "arguments")
        if kind == DELEGATE:
            return _object(self._delegate) | {"minProperties": 1, "maxProperties": 1}
        return self._finish

    @property
    def _delegate(self) -> Schema:
        fields: Schema = {}
        if self.hand_over:
            fields["type"] = {"enum": list(self.hand_over), "description": "hands the customer over for good"}
        if self.tasks:
            part = {
                "name": {"type": "string", "pattern": f"^{PART_NAME.pattern}$"},
                "type": {"enum": list(self.tasks)},
                "text": {"type": "string", "minLength": 1, "maxLength": LONGEST_TEXT},
                "after": {"type": "array", "items": {"type": "string"}, "description": "names of tasks it waits for"},
            }
            items = _object(part, "name", "type", "text")
            fields["tasks"] = {"type": "array", "minItems": 1, "maxItems": MOST_PARTS, "items": items}
        return fields

    @property
    def _finish(self) -> Schema:
        outcomes = [each.value for each in Outcome if self.customer or each is not Outcome.ASK_CUSTOMER]
        text = {"type": "string", "maxLength": LONGEST_TEXT}
        fields: Schema = {"outcome": {"enum": outcomes}, "text": text}
        if self.customer:
            fields["private"] = text
        fields["reason"] = {"enum": list(REASONS)} if self.customer else text
        if self.expects is not None:  # references would point elsewhere from in here; the result is checked apart
            plain = "$ref" not in json.dumps(self.expects)
            fields["result"] = dict(self.expects) if plain else {"type": "object"}
        return _object(fields, "outcome")


def _object(fields: Schema, *required: str) -> Schema:
    return {"type": "object", "properties": fields, "required": list(required), "additionalProperties": False}


_DELEGATE = "Let others do work: `tasks` come back to you with their results, `type` hands the customer over for good."
_FINISH = (
    "End your work. outcome answered: `text` is the answer. ask_customer: `text` is one question. handoff: a person"
    " takes over and is told by us; give no text. What only the customer may see goes into `private`."
)
