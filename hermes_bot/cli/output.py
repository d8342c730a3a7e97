"""How commands print: tables for people, JSON with `--json`. Results go to stdout, everything else to stderr."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Config = Annotated[
    Path | None, typer.Option("--config", help="Settings file; default: HERMES_CONFIG, then configs/hermes.yaml.")
]

Limit = Annotated[int, typer.Option("--limit", min=1, help="How many at most.")]


def say_json(data: Any) -> None:
    """Print one JSON document, indented."""
    typer.echo(json.dumps(data, ensure_ascii=False, indent=2, default=_plain))


def say_table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, empty: str) -> None:
    """Print a table that fits a terminal, or tab-separated lines when piped; `empty` when there are no rows."""
    from rich.console import Console
    from rich.table import Table

    lines = [[_word(cell) for cell in row] for row in rows]
    console = Console()
    if not lines:
        typer.echo(empty)
    elif not console.is_terminal:
        for line in ([*columns], *lines):
            typer.echo("\t".join(cell.replace("\t", " ").replace("\n", " ") for cell in line))
    else:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for column, widest in zip(columns, _widths(lines), strict=True):
            first = not table.columns  # mostly an id, which is copied whole
            table.add_column(column, overflow="fold", no_wrap=first and widest <= console.width // 3)
        for line in lines:
            table.add_row(*(cell.replace("[", r"\[") for cell in line))
        console.print(table)


def _widths(lines: Sequence[Sequence[str]]) -> list[int]:
    """Return how wide the widest cell of each column is."""
    return [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]


def _word(cell: object) -> str:
    if isinstance(cell, datetime):
        return cell.astimezone().strftime("%Y-%m-%d %H:%M:%S")
    return "" if cell is None else str(_plain(cell))


def _plain(value: object) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, frozenset | set | tuple):
        return list(value)
    return str(value)
