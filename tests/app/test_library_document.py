"""What docs/library.md shows is run."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from hermes_bot.app import HermesApp
from hermes_bot.messages.message import Message

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", DOCUMENT, flags=re.DOTALL)


def test_the_program_in_the_document_prints_what_it_says(tmp_path: Path) -> None:
    given = {"HERMES_DATA__PATH": str(tmp_path), "HERMES_ENCODER__PROFILE": "light", "HERMES_BUS__BACKEND": "memory"}
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HERMES_", "SLACK_"))}

    done = subprocess.run(
        [sys.executable, "-c", blocks("python")[0]],
        cwd=ROOT,
        env={**kept, **given, "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )

    assert done.stderr == ""
    entry, order, terminal = done.stdout.strip().splitlines()[:3]
    assert (entry, order) == ("entry", "order")
    assert terminal.startswith("(terminal) ")


async def test_the_agent_in_the_document_answers_by_the_route_beside_it(tmp_path: Path) -> None:
    (tmp_path / "routing.yaml").write_text(blocks("yaml")[0], encoding="utf-8")
    config = tmp_path / "hermes.yaml"
    config.write_text(f"data: {{path: '{tmp_path}'}}\nencoder: {{profile: light}}\n", encoding="utf-8")
    names: dict[str, Any] = {}
    exec(blocks("python")[1], names)  # noqa: S102 - our own document

    app = HermesApp(config, environ={"HERMES_BUS__BACKEND": "memory"})
    app.route("ticket.after_sales", names["AfterSalesAgent"]())
    await app.start()
    await app.publish(
        Message(type="ticket.created", sender="demo", context_id="demo:1", data={"user": "1", "text": "我要售后"})
    )
    (reply,) = await app.drain()
    await app.stop()

    assert reply.data["text"] == "We look into it."
