"""`hermes-bot routes diff`: which texts would go elsewhere under another routes file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hermes_bot.cli.offline import Offline, with_offline
from hermes_bot.cli.output import AsJson, Config, say_json, say_table
from hermes_bot.cli.progress import progress
from hermes_bot.errors import SettingsError

if TYPE_CHECKING:  # imported for their names alone, so that --help stays fast
    from routing.compare import Comparison, Move, Text

SHOWN_CHARACTERS = 80
Routes = Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="A routes file.")]
On = Annotated[Path | None, typer.Option("--on", metavar="FILE", help="JSON Lines with text and perhaps label.")]
Tickets = Annotated[bool, typer.Option("--tickets", help="Compare on the first words of past tickets.")]
Limit = Annotated[int, typer.Option("--limit", min=1, help="How many of the last tickets.")]


def diff(
    old: Routes,
    new: Routes,
    on: On = None,
    tickets: Tickets = False,
    limit: Limit = 500,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Show which texts go elsewhere under NEW than under OLD."""
    if (on is None) == (not tickets):
        raise typer.BadParameter("give --on FILE or --tickets")
    texts = None if on is None else _read(on)
    result = with_offline(config, lambda parts: _compared(parts, old, new, texts, limit))
    if as_json:
        say_json(_plain(result))
    else:
        _say(result)


async def _compared(parts: Offline, old: Path, new: Path, texts: Sequence[Text] | None, limit: int) -> Comparison:
    import asyncio

    from routing.compare import Text, compare

    bench = parts.routes
    tables = [bench.table(old), bench.table(new)]  # both are read before the encoder is loaded, which takes a while
    before, after = [await asyncio.to_thread(bench.router, table) for table in tables]
    if texts is None:
        past = await parts.tickets.listing(limit=limit)
        texts = [Text(text=each.subject, source=each.id) for each in past if each.subject]
    with progress(len(texts), "Routing") as done:
        return await compare(before, after, texts, progress=done)


def _read(file: Path) -> list[Text]:
    """Return the texts of a file; raise SettingsError that names the first line which is none."""
    from routing.compare import Text

    texts = []
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"cannot be read: {error}", file=str(file)) from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            texts.append(Text(text=str(row["text"]), source=f"{file.name}:{number}", label=str(row.get("label", ""))))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise SettingsError("must be an object with text", file=str(file), line=number) from error
    return texts


def _plain(result: Comparison) -> dict[str, object]:
    return {
        "n": result.n,
        "changed": len(result.moves),
        "labelled": result.labelled,
        "right_before": result.right_before,
        "right_after": result.right_after,
        "changes": [_change(move) for move in result.moves],
    }


def _change(move: Move) -> dict[str, object]:
    from routing.compare import target

    sides = {
        side: {"route": target(choice), "score": choice.score, "reason": choice.reason, "matched": choice.matched}
        for side, choice in (("old", move.old), ("new", move.new))
    }
    about = {"text": move.text.text, "source": move.text.source, "label": move.text.label, "better": move.better}
    return {**about, **sides}


def _say(result: Comparison) -> None:
    from routing.compare import target

    marks = {True: "better", False: "worse", None: ""}
    rows = [
        (
            move.text.source,
            " ".join(move.text.text.split())[:SHOWN_CHARACTERS],
            target(move.old),
            target(move.new),
            f"{move.new.reason} {move.new.matched}".strip(),
            marks[move.better] if move.text.label else "",
        )
        for move in result.moves
    ]
    if rows:
        say_table(["from", "text", "old", "new", "why now", ""], rows, empty="")
        typer.echo()
    typer.echo(f"{len(result.moves)} of {result.n} texts go elsewhere.")
    if result.labelled:
        typer.echo(
            f"Of {result.labelled} labelled texts {result.right_before} were right, {result.right_after} are now."
        )
