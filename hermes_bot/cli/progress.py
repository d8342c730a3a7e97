"""A progress bar on stderr, for people at a terminal and for nobody else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager


@contextmanager
def progress(total: int, label: str) -> Iterator[Callable[[int], None]]:
    """Yield what has to be called with the number of things done so far."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _done: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda done: bar.update(task, completed=done)


@contextmanager
def steps(label: str) -> Iterator[Callable[[int, int], None]]:
    """Yield what has to be called with the number of things done so far and of all; no call draws no bar."""
    with ExitStack() as stack:
        bars: list[Callable[[int], None]] = []

        def heard(done: int, whole: int) -> None:
            if not bars:
                bars.append(stack.enter_context(progress(whole, label)))
            bars[0](done)

        yield heard
