"""The bot of docs/workspace.md, run as a stranger would run it."""

import asyncio
import os
import re
import sys
from pathlib import Path

from hermes_bot.workspace.server import WorkspaceServer

PAGE = Path(__file__).parents[2] / "docs/workspace.md"


def program() -> str:
    """The first whole program in Python on the page."""
    blocks: list[str] = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return next(block for block in blocks if "SocketModeHandler" in block)


async def test_the_bot_of_the_page_answers(workspace: WorkspaceServer) -> None:
    app, people = workspace.world.app, workspace.workspace
    tokens = {"SLACK_BOT_TOKEN": app.bot_token, "SLACK_APP_TOKEN": app.app_token}
    environment = {**os.environ, **tokens, "SLACK_API_URL": workspace.api_url}
    bot = await asyncio.create_subprocess_exec(sys.executable, "-c", program(), env=environment)
    try:
        await people.wait_for(lambda: workspace.sockets.connected, limit_s=120)
        ts = await people.post("U0EMMA", "C0SUPPORT", "@Hermes hello")
        await people.wait_for(lambda: len(people.messages("C0SUPPORT", ts)) == 2, limit_s=120)
    finally:
        bot.terminate()
        await bot.wait()

    assert people.messages("C0SUPPORT", ts)[1]["text"] == "You said: <@U0HERMES> hello"
