"""`hermes-bot run`: starts the bot, says where it is, and stops it gracefully at SIGINT or SIGTERM."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import sys
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack, suppress
from typing import Annotated, Any, Protocol

import typer

from hermes_bot import settings
from hermes_bot.cli.output import AsJson, Config
from hermes_bot.cli.progress import steps
from hermes_bot.errors import SettingsError
from hermes_bot.settings import Mode, Settings

LOG_FILE = "hermes.log"

Host = Annotated[str | None, typer.Option("--host", help="Address of Slack over HTTP and the health pages.")]
Port = Annotated[int | None, typer.Option("--port", min=0, max=65535, help="Their port (default 8080).")]
PagePort = Annotated[
    int | None, typer.Option("--workspace-port", min=0, max=65535, help="Port of the local workspace (default 8070).")
]
NoWorkspace = Annotated[bool, typer.Option("--no-workspace", help="Never start the local workspace.")]
Agents = Annotated[
    str | None, typer.Option("--agents", help="Run these agents only, by name, with commas; other workers the rest.")
]
Debug = Annotated[bool, typer.Option("--debug", help="Print one line for each hop of a message, and tracebacks.")]


class Service(Protocol):
    """What is run: the whole bot."""

    async def start(self) -> None:
        """Return once it is ready; raise HermesError where it cannot be."""
        ...

    async def stop(self) -> None:
        """Stop gracefully; also after a `start` that failed or was cut short."""
        ...

    async def run_until_stopped(self) -> None:
        """Return when it stopped by itself; raise what broke it."""
        ...


def run(
    host: Host = None,
    port: Port = None,
    workspace_port: PagePort = None,
    no_workspace: NoWorkspace = False,
    agents: Agents = None,
    debug: Debug = False,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Run the bot; without a Slack token it starts a local workspace to try it in."""
    options = {"HTTP__HOST": host, "HTTP__PORT": port, "WORKSPACE__PORT": workspace_port}
    given = {f"HERMES_{name}": str(value) for name, value in options.items() if value is not None}
    loaded = settings.load(config, {**os.environ, **given})
    if no_workspace and loaded.mode is Mode.WORKSPACE:
        raise SettingsError("--no-workspace needs Slack: set SLACK_BOT_TOKEN and SLACK_APP_TOKEN, or leave it out")
    run_bot(loaded, None if agents is None else named(agents), debug=debug, as_json=as_json)


def named(agents: str) -> tuple[str, ...]:
    """Return the names in a list with commas; raise SettingsError where there is none."""
    names = tuple(dict.fromkeys(name.strip() for name in agents.split(",") if name.strip()))
    if not names:
        raise SettingsError("--agents needs the names of agents, for example --agents order,refund")
    return names


def run_bot(loaded: Settings, agents: Collection[str] | None, *, debug: bool, as_json: bool) -> None:
    """Run the bot, or these of its agents, until a signal ends it."""
    from hermes_bot.app.sharing import check_shared, listens
    from hermes_bot.cli.packages import check_packages
    from hermes_bot.cli.ports import check_ports

    check_shared(loaded, agents, edge=True)
    check_packages()
    if listens(agents):
        check_ports(loaded)
    log = log_name(agents)
    _configure_logging(loaded, log, debug=debug)
    from hermes_bot.app import HermesApp

    typer.echo("Starting Hermes; the first start takes longest.", err=True)
    bar = ExitStack()
    bot = HermesApp(settings=loaded, edge=True, agents=agents, progress=bar.enter_context(steps("Reading examples")))

    def announce() -> None:
        bar.close()
        told = summary(loaded, page=bot.workspace.url if bot.workspace else "", agents=agents, log=log)
        paused_since = bot.bus.paused_since if bot.bus else None
        if paused_since is not None:
            since = f"{paused_since.astimezone():%Y-%m-%d %H:%M:%S}"
            told = {**told, "Paused": f"since {since}, nothing is executed or posted; hermes-bot resume ends it"}
        _announce(told, as_json=as_json)

    with bar:
        asyncio.run(serve(bot, on_started=announce))


async def serve(service: Service, *, on_started: Callable[[], None]) -> None:
    """Run the service until it ends or a signal asks for it; a second signal ends the process at once."""
    asked = asyncio.Event()
    forget_signals = _on_signals(asked)
    running = asyncio.create_task(_start_and_run(service, on_started), name="service")
    waiting = asyncio.create_task(asked.wait(), name="signals")
    try:
        await asyncio.wait({running, waiting}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
        running.cancel()
        try:
            with suppress(asyncio.CancelledError):
                await running
        finally:
            await service.stop()
            forget_signals()


async def _start_and_run(service: Service, on_started: Callable[[], None]) -> None:
    await service.start()
    gc.collect()
    gc.freeze()  # what is loaded by now stays: to look through it again and again cost a third of a message's time
    on_started()
    await service.run_until_stopped()


def _on_signals(asked: asyncio.Event) -> Callable[[], None]:
    """Set `asked` at the first signal and let the second one end the process; return what undoes both."""
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def ask() -> None:
        asked.set()
        for number in before:
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL)
        with suppress(OSError):  # whoever read this may be gone; it stops all the same
            typer.echo("Stopping; the same again stops at once.", err=True)

    def forget() -> None:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)

    for number in before:
        loop.add_signal_handler(number, ask)
    return forget


def log_name(agents: Collection[str] | None) -> str:
    """Return the name of the log file: each process that shares the data folder has its own, for it is rotated."""
    return LOG_FILE if agents is None else f"hermes-{socket.gethostname()}-{os.getpid()}.log"


def _configure_logging(loaded: Settings, log: str, *, debug: bool) -> None:
    """Log until the process ends: what breaks it must still be written."""
    from rich.console import Console

    from hermes_bot import observe

    access, key = loaded.access, loaded.models.api_key
    secrets = [
        each.get_secret_value() for each in (access.bot_token, access.app_token, access.signing_secret, key) if each
    ]
    colour = Console(stderr=True).color_system is not None
    file = loaded.data.path / log
    observe.configure(stream=sys.stderr, debug=debug, colour=colour, file=file, secrets=secrets)


def summary(
    loaded: Settings, *, page: str, agents: Collection[str] | None = None, log: str = LOG_FILE
) -> Mapping[str, str]:
    """Return what a person wants to know at the start: where it is, what it runs on, where its data lies.

    `page` is the local workspace's address, empty where there is none; `agents` are those that are run here, None
    for all.
    """
    health = f"http://{loaded.http.host}:{loaded.http.port}"
    slack = {
        Mode.WORKSPACE: "local workspace (no SLACK_BOT_TOKEN is set)",
        Mode.SOCKET: f"Socket Mode{_at(loaded)}",
        Mode.HTTP: f"HTTP{_at(loaded)}, requests come to {health}/slack/events",
    }
    orders = "demo shop" if loaded.demo_shop else _scheme(loaded.orders_url)
    runs_on = f"bus {loaded.bus.backend}, store {_scheme(loaded.store_url)}, orders {orders}"
    return {
        **({"Page": page} if page else {}),
        **({"Agents": ", ".join(agents)} if agents is not None else {}),
        "Slack": slack[loaded.mode],
        "Health": f"{health}/healthz",
        "Runs on": f"{runs_on}, encoder {loaded.encoder.profile}",
        "Settings": loaded.source,
        "Data": str(loaded.data.path),
        "Log": str(loaded.data.path / log),
    }


def _at(loaded: Settings) -> str:
    return f" at {loaded.access.api_url}" if loaded.access.api_url else ""


def _scheme(url: str) -> str:
    return url.split(":", 1)[0].split("+", 1)[0]


def _announce(told: Mapping[str, str], *, as_json: bool) -> None:
    if as_json:
        import json

        line: dict[str, Any] = {key.lower().replace(" ", "_"): value for key, value in told.items()}
        typer.echo(json.dumps({"event": "started", **line}, ensure_ascii=False))
    else:
        _show(told)
    sys.stdout.flush()


def _show(told: Mapping[str, str]) -> None:
    from rich.console import Console
    from rich.panel import Panel
    from rich.table import Table

    import hermes_bot

    console = Console(highlight=False)
    title = f"Hermes {hermes_bot.__version__}"
    if not console.is_terminal:
        typer.echo(f"{title} is running; stop it with Ctrl+C")
        for label, value in told.items():
            typer.echo(f"  {label + ':':<10}{value}")
        return
    grid = Table.grid(padding=(0, 2))
    for label, value in told.items():
        style = "bold cyan" if label == "Page" else ""
        grid.add_row(f"[dim]{label}[/dim]", f"[{style}]{value}[/{style}]" if style else value.replace("[", r"\["))
    console.print(Panel(grid, title=f"[bold]{title}[/bold]", subtitle="Ctrl+C stops it", expand=False))
