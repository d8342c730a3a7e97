"""What a bot without facts, in the profile `light`, does not load."""

import subprocess
import sys
from pathlib import Path

LOADED = """
import asyncio, sys
from hermes_bot import settings
from hermes_bot.app import HermesApp
from hermes_bot.llm.light_encoder import LightEncoder

async def main():
    loaded = settings.load(None, {"HERMES_ENCODER__PROFILE": "light", "HERMES_BUS__BACKEND": "memory"})
    app = HermesApp(settings=loaded)
    await app.start()
    await app.drain()
    await app.stop()

asyncio.run(main())
print(sorted({"faiss", "torch", "sentence_transformers"} & set(sys.modules)))
"""


def test_a_bot_that_knows_nobody_loads_neither_faiss_nor_torch(tmp_path: Path) -> None:
    program = [sys.executable, "-c", LOADED]
    ended = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, timeout=200, check=False)

    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip() == "[]"
