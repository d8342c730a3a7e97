"""The shop's articles: a folder of Markdown that staff write and agents quote with its source."""

from __future__ import annotations

import asyncio
import logging
import re
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hermes_bot.errors import TransientError
from hermes_bot.memory.essence import identifiers, overlap
from hermes_bot.memory.fact_rows import Vector
from hermes_bot.memory.ranking import WORDS_WEIGHT
from routing.choice import Encoder
from routing.vectors import VectorCache

MOST_BYTES = 1_000_000
MOST_CHARACTERS = 1_200

_HEADING = re.compile(r"^(#{1,6})\s+(.+?)\s*#*\s*$")
_FENCE = re.compile(r"^\s*(?:```|~~~)")

log = logging.getLogger(__name__)

Signature = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A piece of an article: the text under one heading. `source` is `file.md#Heading`, `title` the headings above."""

    title: str
    text: str
    source: str

    @property
    def quoted(self) -> str:
        """The passage with its source, as a prompt or a person reads it."""
        return f"{self.text} [{self.source}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A passage that answers a question, and how well: cosine plus words in common."""

    passage: Passage
    score: float


class Knowledge:
    """The articles in `folder`, read again when a file changes; no folder, no articles. Only staff write here."""

    def __init__(self, folder: Path | None, encoder: Encoder, *, cache_folder: Path | None = None) -> None:
        self._folder = folder
        self._encoder = encoder
        self._cache = VectorCache(cache_folder)
        self._lock = threading.Lock()
        self._seen: Signature | None = None
        self._passages: tuple[Passage, ...] = ()
        self._vectors: Vector = np.zeros((0, 0), dtype=np.float32)

    async def find(self, query: str, k: int = 3) -> list[Found]:
        """Return the passages that answer best, the best first; raise TransientError while the encoder is away."""
        if self._folder is None or not query.strip():
            return []
        return await asyncio.to_thread(self._find, query, k)

    async def passages(self) -> Sequence[Passage]:
        """Return every passage as the files are now."""
        return await asyncio.to_thread(self._current)

    def _find(self, query: str, k: int) -> list[Found]:
        passages = self._current()
        if not passages:
            return []
        cosines = self._vectors @ self._encoder.encode([query])[0]
        named = identifiers(query)
        found = []
        for passage, cosine in zip(passages, cosines.tolist(), strict=True):
            words = f"{passage.title} {passage.text}"
            bonus = WORDS_WEIGHT if named & identifiers(words) else 0.0
            found.append(Found(passage=passage, score=cosine + WORDS_WEIGHT * overlap(query, words) + bonus))
        return sorted(found, key=lambda each: each.score, reverse=True)[:k]

    def _current(self) -> tuple[Passage, ...]:
        """Return the passages, read again where a file was changed, added or taken away."""
        with self._lock:
            signature = _signature(self._folder)
            if signature != self._seen:
                passages = tuple(_read(self._folder, signature))
                texts = [f"{passage.title}\n{passage.text}" for passage in passages]
                try:
                    self._vectors = self._cache.encode(self._encoder, texts)
                except TransientError:
                    if self._seen is None:
                        raise
                    return self._passages  # those of before, until the encoder is back
                self._passages, self._seen = passages, signature
            return self._passages


def _signature(folder: Path | None) -> Signature:
    if folder is None or not folder.is_dir():
        return ()
    found = []
    for path in sorted(folder.rglob("*.md")):
        try:
            stat = path.stat()
        except OSError:
            continue
        found.append((path.relative_to(folder).as_posix(), stat.st_mtime_ns, stat.st_size))
    return tuple(found)


def _read(folder: Path | None, signature: Signature) -> Iterator[Passage]:
    for name, _, size in signature:
        if folder is None or size > MOST_BYTES:
            log.warning("an article is too large and left out", extra={"file": name})
            continue
        try:
            text = (folder / name).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            log.warning("an article cannot be read", extra={"file": name, "error": str(error)})
            continue
        yield from passages_of(name, text)


def passages_of(name: str, text: str) -> Iterator[Passage]:
    """Yield the article's passages: one for each heading, a long one in several by paragraphs."""
    for headings, body in _sections(text):
        title = " › ".join(headings) or Path(name).stem
        source = f"{name}#{headings[-1]}" if headings else name
        for piece in _pieces(body):
            yield Passage(title=title, text=piece, source=source)


def _sections(text: str) -> Iterator[tuple[list[str], str]]:
    """Yield the headings above each stretch of text, and the text; headings inside code fences are none."""
    headings: list[tuple[int, str]] = []
    lines: list[str] = []
    fenced = False
    for line in text.splitlines():
        fenced = fenced != bool(_FENCE.match(line))
        heading = None if fenced else _HEADING.match(line)
        if heading is None:
            lines.append(line)
            continue
        yield [words for _, words in headings], "\n".join(lines)
        depth, lines = len(heading.group(1)), []
        headings = [each for each in headings if each[0] < depth] + [(depth, heading.group(2))]
    yield [words for _, words in headings], "\n".join(lines)


def _pieces(body: str) -> Iterator[str]:
    piece = ""
    for paragraph in re.split(r"\n\s*\n", body.strip()):
        while len(paragraph) > MOST_CHARACTERS:
            if piece:
                yield piece
                piece = ""
            cut = paragraph.rfind(" ", MOST_CHARACTERS // 2, MOST_CHARACTERS) + 1 or MOST_CHARACTERS
            yield paragraph[:cut].strip()
            paragraph = paragraph[cut:]
        if piece and len(piece) + len(paragraph) > MOST_CHARACTERS:
            yield piece
            piece = ""
        piece = f"{piece}\n\n{paragraph}" if piece else paragraph.strip()
    if piece.strip():
        yield piece.strip()
