"""Runs an example as a user would: its settings file, the whole bot, a workspace, and a scripted model behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from hermes_bot import settings
from hermes_bot.app import HermesApp
from hermes_bot.workspace.server import WorkspaceServer
from tests.llm.model_server import Asked, ModelServer
from tests.scenario.bot_process import environment
from tests.scenario.crowd import dead_letters
from tests.scenario.stage import Stage

EXAMPLES = Path(__file__).parents[2] / "configs" / "examples"
EMMA, SUPPORT = "U0EMMA", "C0SUPPORT"
LIMIT_S = 150.0


class Scene(Stage):
    """A stage whose people wait as long as a team of agents on a busy machine may take."""

    async def until(self, true: Callable[[], object]) -> None:
        """Wait for a state of the workspace."""
        await self.workspace.wait_for(true, LIMIT_S)


@asynccontextmanager
async def example(
    name: str, folder: Path, *, model: ModelServer | None = None, examples: Path = EXAMPLES
) -> AsyncIterator[Scene]:
    """Run `configs/examples/<name>` in a folder of its own; at the end no letter may be dead."""
    data = folder / "data"
    variables = {"HERMES_MODEL__NAME": "scripted", "OPENAI_BASE_URL": model.base_url} if model else {}
    async with WorkspaceServer(port=0) as server:
        loaded = settings.load(examples / name / "hermes.yaml", environment(server, data, **variables), folder=folder)
        bot = HermesApp(settings=loaded, edge=True)
        try:
            await bot.start()
            stage = Scene(server, data)
            yield stage
            await stage.quiet()
        finally:
            await bot.stop()
    assert not dead_letters(data)


def role_of(asked: Asked) -> str:
    """Return the first words of the prompt, by which a script tells the agents apart."""
    return " ".join(asked.system.split()[:3])
