"""Fences around what others wrote, so that a model can tell it from what we tell it; no text can close its own."""

from __future__ import annotations

import secrets
from collections.abc import Callable

MARK_BYTES = 6


class Fence:
    """One mark for one prompt. Whoever wrote a text before the prompt was made cannot have known it."""

    def __init__(self, make: Callable[[], str] = lambda: secrets.token_hex(MARK_BYTES)) -> None:
        self.mark = make()

    def around(self, label: str, text: str) -> str:
        """Return the text between two lines that nothing inside it can imitate."""
        inside = text.replace(self.mark, "")
        return f"<<{label} {self.mark}>>\n{inside}\n<<end of {label} {self.mark}>>"
