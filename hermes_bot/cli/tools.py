"""`hermes-bot tools`: what agents can do, how much care each takes, who may use it, and what comes of a call."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hermes_bot.cli.offline import Offline, with_offline
from hermes_bot.cli.output import AsJson, Config, say_json, say_table

if TYPE_CHECKING:  # imported for their names alone, so that --help stays fast
    from hermes_bot.tools.outcome import Caller, Outcome
    from hermes_bot.tools.registry import Tool
    from hermes_bot.tools.toolbox import Toolbox

app = typer.Typer(help="What agents can do: list the tools, show one, call one.", no_args_is_help=True)

TERMINAL = "terminal"  # whose name stands in the record where no agent is given
CALLED = ("done", "needs_approval")

Name = Annotated[str, typer.Argument(help="The tool's name, as tools list shows it.")]
AsCustomer = Annotated[str, typer.Option("--as-customer", help="E-mail of the customer on whose behalf it runs.")]
AsAgent = Annotated[str, typer.Option("--agent", help="Call as this agent, with its allow-list; default: any tool.")]
Language = Annotated[str, typer.Option("--language", help="Language of the answer: en or zh.")]


@app.command("list")
def list_tools(as_json: AsJson = False, config: Config = None) -> None:
    """List tools with their level and the agents that may call them."""

    async def listing(parts: Offline) -> list[dict[str, Any]]:
        toolbox = await parts.connected_tools()
        _warn(parts)
        return [asdict(each) for each in toolbox.listing()]

    found = with_offline(config, listing)
    if as_json:
        say_json(found)
        return
    rows = [(each["name"], each["level"], ", ".join(each["agents"]), each["description"]) for each in found]
    say_table(("tool", "level", "agents", "description"), rows, empty="There are no tools.")


@app.command("show")
def show_tool(name: Name, as_json: AsJson = False, config: Config = None) -> None:
    """Show one tool: level, agents, arguments, limits, and what becomes of a repeat."""

    async def look(parts: Offline) -> dict[str, Any]:
        toolbox = await parts.connected_tools()
        _warn(parts)
        return _told(_known(toolbox, name), toolbox)

    found = with_offline(config, look)
    if as_json:
        say_json(found)
        return
    parameters = found.pop("parameters")
    say_table(("key", "value"), [(key, _word(value)) for key, value in found.items()], empty="")
    rows = [
        (key, each.get("type", ""), "yes" if key in parameters.get("required", ()) else "no", _word(each))
        for key, each in parameters.get("properties", {}).items()
    ]
    say_table(("argument", "type", "required", "schema"), rows, empty="It takes no arguments.")


@app.command("call")
def call_tool(
    name: Name,
    arguments: Annotated[str, typer.Argument(help="The arguments, as JSON.")] = "{}",
    as_customer: AsCustomer = "",
    agent: AsAgent = "",
    language: Language = "en",
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Call a tool as an agent would. L0 and L1 run; of L2 and L3 it says what the approval card would show.

    Without --as-customer nobody's data is read: a tool that needs a customer refuses. Arguments that cannot be used
    are wrong use: exit code 2.
    """

    async def work(parts: Offline) -> dict[str, Any]:
        toolbox = await parts.connected_tools()
        _warn(parts)
        _known(toolbox, name)
        caller = await _caller(parts, as_customer, agent, language)
        chosen = toolbox if agent else toolbox.opened_to(TERMINAL)
        return _outcome(await chosen.call(name, arguments, caller, key=_key(name)))

    told = with_offline(config, work)
    if as_json:
        say_json(told)
    else:
        _say(told)
    raise typer.Exit(2 if told["outcome"] == "invalid" else 0 if told["outcome"] in CALLED else 1)


def _known(toolbox: Toolbox, name: str) -> Tool:
    from hermes_bot.errors import HermesError

    tool = toolbox.get(name)
    if tool is None and not toolbox.comes_later(name):
        raise HermesError(f"there is no tool {name!r}; hermes-bot tools list shows them")
    if tool is None:
        raise HermesError(f"the server of {name!r} does not answer, or has no such tool")
    return tool


async def _caller(parts: Offline, email: str, agent: str, language: str) -> Caller:
    from hermes_bot.errors import HermesError
    from hermes_bot.tools.outcome import Caller

    customer = await parts.customer(email) if email else None
    if email and customer is None:
        raise HermesError("no customer of the shop has that e-mail address")
    return Caller(customer=customer, agent=agent or TERMINAL, ticket_id="", user=TERMINAL, language=language)


def _key(name: str) -> str:
    """Return a key of its own: whoever types the command again means it again."""
    from ulid import ULID

    return f"{TERMINAL}:{ULID()}:{name}"


def _told(tool: Tool, toolbox: Toolbox) -> dict[str, Any]:
    agents = next(each.agents for each in toolbox.listing() if each.name == tool.name)
    return {
        "name": tool.name,
        "level": tool.level.name,
        "level_depends_on_arguments": tool.rule is not None,
        "agents": list(agents),
        "description": tool.description,
        "timeout_s": tool.timeout_s or toolbox.timeout_s,
        "recognises_a_repeat": tool.takes_key,
        "from": tool.source,
        "parameters": dict(tool.parameters),
    }


def _outcome(outcome: Outcome) -> dict[str, Any]:
    from hermes_bot.tools.outcome import Done, Invalid, NeedsApproval

    if isinstance(outcome, Done):
        return {"outcome": "done", "result": outcome.result}
    if isinstance(outcome, NeedsApproval):
        return {"outcome": "needs_approval", **asdict(outcome)}
    if isinstance(outcome, Invalid):
        return {"outcome": "invalid", "problems": list(outcome.problems)}
    return {"outcome": "refused", "code": outcome.code}


def _say(told: dict[str, Any]) -> None:
    if told["outcome"] == "done":
        say_json(told["result"])
    elif told["outcome"] == "needs_approval":
        typer.echo(f"This is {told['level']} and was not run: it needs an approval. The card would say:")
        typer.echo(told["title"])
        say_table(("label", "value"), told["shown"], empty="")
    elif told["outcome"] == "invalid":
        typer.echo("The arguments cannot be used:\n" + "\n".join(told["problems"]), err=True)
    else:
        typer.echo(f"The tool refused: {told['code']}", err=True)


def _warn(parts: Offline) -> None:
    for server, reason in parts.servers_away.items():
        typer.echo(f"hermes-bot: MCP server {server}: {reason}; its tools are missing here", err=True)


def _word(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}: {each}" for key, each in value.items() if key not in {"title", "type"})
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
