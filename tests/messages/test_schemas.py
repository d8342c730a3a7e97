import json
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, get_type_hints

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from hermes_bot.messages import approval_payloads, payloads, surface_payloads, task_payloads, ticket_payloads
from hermes_bot.messages.message import Message, encode
from hermes_bot.messages.schemas import PAYLOADS, all_schemas, data_schema, envelope_schema

SHIPPED = {
    name: value
    for each in (payloads, approval_payloads, task_payloads, ticket_payloads, surface_payloads)
    for name, value in vars(each).items()
}
ROOT = Path(__file__).parents[2]


def script() -> ModuleType:
    spec = spec_from_file_location("write_schemas", ROOT / "deploy" / "write_schemas.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def any_of(struct: type[msgspec.Struct]) -> st.SearchStrategy[msgspec.Struct]:
    fields = {name: _any(hint) for name, hint in get_type_hints(struct).items()}
    return st.builds(struct, **fields)


def _any(hint: Any) -> st.SearchStrategy[Any]:
    if hint == dict[str, Any]:
        return st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5), max_size=2)
    if hint == dict[str, task_payloads.TaskResult]:
        return st.just({"stock": task_payloads.TaskResult(task="t", status=task_payloads.TaskStatus.DONE)})
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return any_of(hint)
    if hint is float:
        return st.floats(allow_nan=False, allow_infinity=False)
    if hint == payloads.Inbound | None:
        return st.none() | any_of(payloads.Inbound)
    if hint in (tuple[payloads.Choice, ...], tuple[task_payloads.ToolUse, ...], tuple[ticket_payloads.Change, ...]):
        return st.lists(any_of(hint.__args__[0]), max_size=2).map(tuple)
    return st.from_type(hint)


def test_every_type_that_has_a_name_has_a_schema() -> None:
    named = {value for name, value in SHIPPED.items() if name.isupper() and isinstance(value, str) and "." in value}

    assert named <= set(PAYLOADS)


def test_every_payload_belongs_to_a_type() -> None:
    nested = {
        payloads.Choice,
        payloads.Part,
        payloads.Said,
        payloads.SaidInPrivate,
        task_payloads.TaskSummary,
        task_payloads.ToolUse,
        ticket_payloads.Change,
    }
    structs = {value for value in SHIPPED.values() if isinstance(value, type) and issubclass(value, msgspec.Struct)}

    assert structs - nested - {msgspec.Struct, Message} == set(PAYLOADS.values())


def test_the_files_in_docs_are_what_the_code_says() -> None:
    files = {file.name: file.read_text(encoding="utf-8") for file in (ROOT / "docs" / "schemas").glob("*.json")}

    assert files == script().rendered(), "run deploy/write_schemas.py"


@pytest.mark.parametrize("name", sorted(all_schemas()))
def test_a_schema_is_one(name: str) -> None:
    Draft202012Validator.check_schema(all_schemas()[name])


@pytest.mark.parametrize("message_type", sorted(PAYLOADS))
@given(data=st.data())
def test_what_the_struct_writes_satisfies_its_schema(message_type: str, data: st.DataObject) -> None:
    body = msgspec.to_builtins(data.draw(any_of(PAYLOADS[message_type])))

    Draft202012Validator(data_schema(message_type)).validate(json.loads(json.dumps(body)))


@pytest.mark.parametrize("message_type", sorted(PAYLOADS))
def test_a_schema_refuses_data_without_what_is_required(message_type: str) -> None:
    assert not Draft202012Validator(data_schema(message_type)).is_valid({})


def test_a_newer_field_in_data_is_no_error() -> None:
    body = {"ticket_id": "T-1", "colour": "red"}

    assert Draft202012Validator(data_schema("handoff.changed")).is_valid(body)


def test_an_envelope_satisfies_the_envelopes_schema() -> None:
    message = Message(type="a.b", sender="c", context_id="d", extra={"colour": "red"}, expects={"type": "object"})

    Draft202012Validator(envelope_schema()).validate(json.loads(encode(message)))
