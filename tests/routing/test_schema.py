"""The schema that editors check a routes file with."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from routing.schema import schema, schema_text

CONFIGS = Path(__file__).resolve().parents[2] / "configs"


@pytest.fixture(scope="module")
def checker() -> jsonschema.Draft202012Validator:
    jsonschema.Draft202012Validator.check_schema(schema())
    return jsonschema.Draft202012Validator(schema())


def test_the_file_for_editors_is_the_one_that_the_model_makes() -> None:
    shipped = (CONFIGS / "routing.schema.json").read_text(encoding="utf-8")

    assert shipped == schema_text(), "run python deploy/write_schemas.py"


def test_the_shipped_routes_name_the_schema_and_pass_it(checker: jsonschema.Draft202012Validator) -> None:
    text = (CONFIGS / "routing.yaml").read_text(encoding="utf-8")

    checker.validate(yaml.safe_load(text))
    assert text.startswith("# yaml-language-server: $schema=routing.schema.json\n")


@pytest.mark.parametrize(
    "route, good",
    [
        ({"keywords": {"any": ["tea"]}}, True),
        ({"keywords": [{"any": ["tea"]}, {"patterns": ["x+"]}]}, True),
        ({"keywords": {"anny": ["tea"]}}, False),
        ({"utterances": {"en": ["tea"]}}, True),
        ({"utterances": {"English": ["tea"]}}, False),
        ({"score_threshold": 2}, False),
        ({"scoer_threshold": 0.5}, False),
    ],
)
def test_an_editor_sees_what_is_wrong(
    checker: jsonschema.Draft202012Validator, route: dict[str, Any], good: bool
) -> None:
    table = {"routes": [{"name": "tea", "type": "drink.tea", "agent": "tea", **route}]}

    assert checker.is_valid(json.loads(json.dumps(table))) == good
