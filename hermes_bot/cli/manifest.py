"""`hermes-bot manifest`: the Slack app that this version needs."""

from __future__ import annotations

from typing import Annotated

import typer

from hermes_bot.cli.output import AsJson, say_json
from hermes_bot.errors import SettingsError

Url = Annotated[
    str, typer.Option("--url", help="The https address that leads to Hermes, for Slack over HTTP; none = Socket Mode.")
]


def manifest(url: Url = "", as_json: AsJson = False) -> None:
    """Print the app manifest to paste at "Create New App", "From a manifest"."""
    from hermes_bot.edge.manifest import as_yaml
    from hermes_bot.edge.manifest import manifest as app_manifest

    if url and not url.startswith("https://"):
        raise SettingsError(f"--url {url}: Slack calls https addresses only", key="--url")
    content = app_manifest(url)
    if as_json:
        say_json(content)
    else:
        typer.echo(as_yaml(content), nl=False)
