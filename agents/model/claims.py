"""Claims that something was done, and whether what tools have shown bears them out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agents.planner import Step

REFUND, CANCEL, ADDRESS = "refund", "cancel", "address"

_DONE = r"(?:has|have|was|were|is|are|been) (?:now |already |just |been |successfully )*"
_CLAIMS = {
    REFUND: re.compile(
        rf"\b{_DONE}(?:refunded|paid back)\b"
        rf"|\brefund (?:of .{{1,20}})?{_DONE}(?:approved|issued|processed|completed|paid)\b"
        r"|\bi(?:'ve| have)? (?:just |already )?(?:refunded|approved|issued)\b"
        r"|已(?:经)?(?:为您|帮您|给您)?(?:退款|批准|退还)|退款(?:已|成功)",
        re.IGNORECASE,
    ),
    CANCEL: re.compile(
        rf"\b{_DONE}cancell?ed\b|\bi(?:'ve| have)? (?:just |already )?cancell?ed\b"
        r"|已(?:经)?(?:为您|帮您|给您)?取消|取消成功",
        re.IGNORECASE,
    ),
    ADDRESS: re.compile(
        rf"\baddress {_DONE}(?:changed|updated)\b"
        r"|\bi(?:'ve| have)? (?:just |already )?(?:changed|updated) (?:the|your)(?: \w+)? address\b"
        r"|地址已(?:经)?(?:为您)?(?:修改|更改|更新|改)|已(?:经)?(?:为您|帮您|给您)?(?:修改|更改|更新).{0,6}地址",
        re.IGNORECASE,
    ),
}
_VALUES = {
    "issued": REFUND,
    "refunded": REFUND,
    "already_refunded": REFUND,
    "cancelled": CANCEL,
    "canceled": CANCEL,
}
_TOOLS = {"refund": REFUND, "cancel": CANCEL, "address": ADDRESS}
_WRITES = re.compile(r"^(?:issue|cancel|change|modify|update|set|make|pay)_")


def unproven(text: str, steps: Iterable[Step]) -> tuple[str, ...]:
    """Return what the text claims to be done and no step shows: refund, cancel, address."""
    claimed = [kind for kind, claim in _CLAIMS.items() if claim.search(text)]
    if not claimed:
        return ()
    shown = {kind for step in steps for kind in _shown_by(step)}
    return tuple(kind for kind in claimed if kind not in shown)


def _shown_by(step: Step) -> Iterator[str]:
    if step.observation.status != "done":
        return
    if _WRITES.match(step.call.tool):
        yield from (kind for word, kind in _TOOLS.items() if word in step.call.tool)
    yield from _shown_in(step.observation.result)


def _shown_in(value: Any, key: str = "") -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield from _shown_in(each, str(name))
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _shown_in(each, key)
    elif isinstance(value, str) and value in _VALUES:
        yield _VALUES[value]
    elif key == "refunded_cents" and isinstance(value, int) and value > 0:
        yield REFUND
