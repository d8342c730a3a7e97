"""Writes docs/schemas/*.json and the schemas in configs/ from our types; run it after one has changed."""

from __future__ import annotations

import json
from pathlib import Path

from agents import spec_file
from hermes_bot.messages.schemas import all_schemas
from routing.schema import schema_text

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "schemas"


def rendered() -> dict[str, str]:
    """Return the text of each file by its name."""
    return {
        f"{name}.json": json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
        for name, schema in all_schemas().items()
    }


def main() -> None:
    """Write the files, and remove those whose type is gone."""
    FOLDER.mkdir(exist_ok=True)
    files = rendered()
    for stale in (file for file in FOLDER.glob("*.json") if file.name not in files):
        stale.unlink()
    for name, text in files.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    (ROOT / "configs" / "routing.schema.json").write_text(schema_text(), encoding="utf-8")
    (ROOT / "configs" / "agents.schema.json").write_text(spec_file.schema_text(), encoding="utf-8")


if __name__ == "__main__":
    main()
