"""What of an answer is the customer's alone, by what it looks like: moved out of the thread, whoever put it there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from hermes_bot.tools.order_number import order_numbers_in

_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_PHONE = re.compile(r"(?<![\w-])\+?\d[\d ()/-]{7,}\d(?![\w-])")
_DAY = re.compile(r"\d{4}-\d{1,2}-\d{1,2}")
_TRACKING = re.compile(r"(?<![\w-])(?=[A-Z0-9-]*\d{4})[A-Z]{2,}[A-Z0-9-]{6,}(?![\w-])")
_SENTENCE = re.compile(r"[^\n.!?。！？]*(?:[.!?](?=\S)[^\n.!?。！？]*)*[.!?。！？]*\n?")
_PRIVATE_KEYS = frozenset({"address", "tracking", "email", "phone", "new_address", "old_address"})
SHORTEST = 5


def parted(text: str, private_values: Iterable[str]) -> tuple[str, str]:
    """Return what the thread may read and what the owner alone may see, sentence by sentence.

    `private_values` are addresses, tracking numbers and the like that tools have shown.
    """
    values = [value.casefold() for value in private_values if len(value) >= SHORTEST]
    many = len(set(order_numbers_in(text))) > 1
    public: list[str] = []
    private: list[str] = []
    for sentence in _SENTENCE.findall(text):
        (private if _is_private(sentence, values, many) else public).append(sentence)
    return "".join(public).strip(), "".join(private).strip()


def private_values_in(data: Any, key: str = "") -> Iterator[str]:
    """Yield what stands under a private key, however deep, and the parts of an address that stand alone on a line."""
    if isinstance(data, dict):
        for name, each in data.items():
            yield from private_values_in(each, str(name))
    elif isinstance(data, list | tuple):
        for each in data:
            yield from private_values_in(each, key)
    elif isinstance(data, str) and key in _PRIVATE_KEYS:
        yield data
        if key.endswith("address"):
            yield from (part.strip() for part in re.split(r"[,，\n]", data))


def _is_private(sentence: str, values: list[str], many: bool) -> bool:
    if _EMAIL.search(sentence) or _PHONE.search(_DAY.sub(" ", sentence)) or _TRACKING.search(sentence):
        return True
    folded = sentence.casefold()
    return any(value in folded for value in values) or (many and bool(order_numbers_in(sentence)))
