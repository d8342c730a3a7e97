"""`hermes-bot workspace`: the local workspace alone, for other people's bots."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hermes_bot.cli.output import AsJson, say_json
from hermes_bot.cli.run import serve

if TYPE_CHECKING:  # imported for their names alone, so that --help stays fast
    from hermes_bot.workspace.people import App
    from hermes_bot.workspace.server import WorkspaceServer

People = Annotated[
    Path | None,
    typer.Option("--file", help="Who is there: people, channels, bots (docs/workspace.md); default: a demo."),
]
Host = Annotated[str, typer.Option("--host", help="Address to listen on.")]
Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="Port; 0 takes a free one.")]
State = Annotated[Path | None, typer.Option("--state", help="Keep conversations in this file between runs.")]


def workspace(
    file: People = None,
    host: Host = "127.0.0.1",
    port: Port = 8070,
    state: State = None,
    as_json: AsJson = False,
) -> None:
    """Run a workspace that speaks Slack's own protocols, for a bot that is started beside it."""
    from hermes_bot.cli.ports import check_port
    from hermes_bot.workspace.people import demo_world
    from hermes_bot.workspace.server import WorkspaceServer
    from hermes_bot.workspace.world_file import Described, read_world

    described = read_world(file) if file is not None else Described(world=demo_world())
    check_port(host, port, "--port")
    server = WorkspaceServer(
        world=described.world, host=host, port=port, request_urls=described.request_urls, state_path=state
    )
    asyncio.run(serve(Alone(server), on_started=lambda: _announce(server, as_json=as_json)))


class Alone:
    """The workspace as a service that ends at a signal."""

    def __init__(self, server: WorkspaceServer) -> None:
        self._server = server

    async def start(self) -> None:
        """Listen."""
        await self._server.start()

    async def stop(self) -> None:
        """Stop listening, and keep what is to be kept."""
        await self._server.close()

    async def run_until_stopped(self) -> None:
        """Never return: only a signal ends it."""
        await asyncio.Event().wait()


def _announce(server: WorkspaceServer, *, as_json: bool) -> None:
    apps = (server.world.app, *server.world.more_apps)
    told: dict[str, Any] = {
        "page": server.url,
        "apps": [{"name": app.name, "user": app.user, "environment": _environment(server, app)} for app in apps],
    }
    if as_json:
        say_json({"event": "started", **told})
        return
    typer.echo(f"Workspace: {server.url} (stop it with Ctrl+C)")
    for app in apps:
        typer.echo(f"\n{app.name} ({app.user}):")
        for name, value in _environment(server, app).items():
            typer.echo(f"  export {name}={value}")


def _environment(server: WorkspaceServer, app: App) -> Mapping[str, str]:
    """Return what a bot's environment needs to live here."""
    return {
        "SLACK_API_URL": server.api_url,
        "SLACK_BOT_TOKEN": app.bot_token,
        "SLACK_APP_TOKEN": app.app_token,
        "SLACK_SIGNING_SECRET": app.signing_secret,
    }
