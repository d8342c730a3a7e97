"""What an agent works with on a ticket, as a value: the newest entries whole, older ones short, constraints always."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

import msgspec

from hermes_bot.memory.tokens import cut_to, estimated_tokens

MOST_ENTRIES = 50
WHOLE_ENTRIES = 20
MODEL_INPUT_TOKENS = 5_000
LINE_TOKENS = 40
MOST_LINES = 60
_LINE_START = 3  # a line break and a dash


class EntryKind(StrEnum):
    """What an entry is."""

    CUSTOMER = "customer"
    STEP = "step"  # a tool called, something delegated, and what came of it
    ANSWER = "answer"
    DECISION = "decision"
    CONSTRAINT = "constraint"  # what must be kept to; never leaves


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that happened. `task` names the sub-task that it belongs to, empty where it is the ticket's own."""

    kind: EntryKind
    text: str
    at: datetime
    task: str = ""

    @property
    def line(self) -> str:
        """The entry in short: one line."""
        return cut_to(" ".join(self.text.split()), LINE_TOKENS)


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """What a model reads of it. `tokens` is the estimate for `text`, never above the limit that was asked for."""

    constraints: tuple[str, ...]
    decisions: tuple[str, ...]
    steps: tuple[str, ...]
    newest: tuple[Entry, ...]
    text: str
    tokens: int


class Window(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """At most 50 entries, oldest first; of what left them a line each is kept, and of those the count of the oldest."""

    constraints: tuple[Entry, ...] = ()
    entries: tuple[Entry, ...] = ()
    decisions: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    gone: int = 0

    def added(self, *new: Entry) -> Window:
        """Return the window with the entries; the same constraint twice is one."""
        known = {entry.text for entry in self.constraints}
        constraints = [*self.constraints]
        for entry in new:
            if entry.kind is EntryKind.CONSTRAINT and entry.text not in known:
                constraints.append(entry)
                known.add(entry.text)
        entries = (*self.entries, *(entry for entry in new if entry.kind is not EntryKind.CONSTRAINT))
        whole = msgspec.structs.replace(self, constraints=tuple(constraints), entries=entries[-MOST_ENTRIES:])
        return whole._noted(entries[:-MOST_ENTRIES])

    def finished(self, task: str, result: str) -> Window:
        """Return the window without the entries of the sub-task; one line tells what came of it."""
        left = tuple(entry for entry in self.entries if entry.task != task)
        line = cut_to(f"{task}: {' '.join(result.split())}", LINE_TOKENS)
        return msgspec.structs.replace(self, entries=left)._with_steps((line,))

    def of(self, task: str) -> tuple[Entry, ...]:
        """Return the entries of a sub-task."""
        return tuple(entry for entry in self.entries if entry.task == task)

    def shown(self, limit_tokens: int = MODEL_INPUT_TOKENS) -> Shown:
        """Return what fits the limit: constraints first, from the first on, then the newest entries, then the rest."""
        constraints = _fitting([entry.text for entry in self.constraints], limit_tokens // 3, each=limit_tokens // 6)
        left = limit_tokens - _cost(constraints) - 40  # the headings
        older, newest = self.entries[:-WHOLE_ENTRIES], self.entries[-WHOLE_ENTRIES:]
        whole = _newest(newest, left * 2 // 3)
        left -= _cost([_said(entry) for entry in whole])
        decided = [*self.decisions, *(entry.line for entry in older if entry.kind is EntryKind.DECISION)]
        decisions = _fitting(decided[::-1], left // 2)[::-1]
        done = [*self.steps, *(entry.line for entry in older if entry.kind is not EntryKind.DECISION)]
        steps = _fitting(done[::-1], left - _cost(decisions))[::-1]
        text = _text(constraints, decisions, steps, whole)
        return Shown(
            constraints=tuple(constraints),
            decisions=tuple(decisions),
            steps=tuple(steps),
            newest=tuple(whole),
            text=text,
            tokens=estimated_tokens(text),
        )

    def _noted(self, leaving: tuple[Entry, ...]) -> Window:
        """Return the window with a line for each entry that leaves."""
        decisions = tuple(entry.line for entry in leaving if entry.kind is EntryKind.DECISION)
        steps = tuple(entry.line for entry in leaving if entry.kind is not EntryKind.DECISION)
        kept = (*self.decisions, *decisions)
        return msgspec.structs.replace(self, decisions=kept[-MOST_LINES:])._with_steps(steps)

    def _with_steps(self, steps: tuple[str, ...]) -> Window:
        every = (*self.steps, *steps)
        gone = self.gone + max(0, len(every) - MOST_LINES)
        return msgspec.structs.replace(self, steps=every[-MOST_LINES:], gone=gone)


def _newest(entries: tuple[Entry, ...], limit_tokens: int) -> list[Entry]:
    """Return the entries, the longest cut where all are too much, so that the newest stay."""
    each = limit_tokens
    while each > LINE_TOKENS:
        cut = [msgspec.structs.replace(entry, text=cut_to(entry.text, each)) for entry in entries]
        if _cost([_said(entry) for entry in cut]) <= limit_tokens:
            return cut
        each = each * 3 // 4
    cut = [msgspec.structs.replace(entry, text=entry.line) for entry in entries]
    while cut and _cost([_said(entry) for entry in cut]) > limit_tokens:
        cut.pop(0)
    return cut


def _fitting(lines: list[str], limit_tokens: int, *, each: int = MODEL_INPUT_TOKENS) -> list[str]:
    """Return the first lines that fit the limit together; one that is long is cut."""
    taken: list[str] = []
    for line in lines:
        cut = cut_to(line, each)
        if _cost([*taken, cut]) > limit_tokens:
            break
        taken.append(cut)
    return taken


def _said(entry: Entry) -> str:
    return f"{entry.kind}: {entry.text}"


def _cost(lines: list[str]) -> int:
    return sum(estimated_tokens(line) + _LINE_START for line in lines)


def _text(constraints: list[str], decisions: list[str], steps: list[str], newest: list[Entry]) -> str:
    blocks = (
        ("Constraints", constraints),
        ("Decisions", decisions),
        ("Steps done", steps),
        ("Newest", [_said(entry) for entry in newest]),
    )
    return "\n".join(f"{title}:\n" + "\n".join(f"- {line}" for line in lines) for title, lines in blocks if lines)
