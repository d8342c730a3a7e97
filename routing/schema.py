"""The JSON Schema of a routes file, for editors. It is made from the model; a test holds the shipped file in step."""

from __future__ import annotations

import json
from typing import Any

from routing.routes_file import RoutesFile


def schema() -> dict[str, Any]:
    """Return the schema. A single keyword rule may stand without its list, as the reader allows."""
    made = RoutesFile.model_json_schema()
    made["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    made["title"] = "Hermes routes"
    made["description"] = "Who gets a message; see docs/routing.md."
    made["$defs"]["Route"]["properties"]["utterances"]["additionalProperties"] = False
    keywords = made["$defs"]["Route"]["properties"]["keywords"]
    rule = keywords["items"]
    made["$defs"]["Route"]["properties"]["keywords"] = {"default": [], "anyOf": [{**keywords}, rule]}
    return made


def schema_text() -> str:
    """Return the schema as it is written to a file."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"
