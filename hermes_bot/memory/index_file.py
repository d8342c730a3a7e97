"""The index as a file: a header that says what it holds, FAISS's own bytes, and a checksum over both.

A file that is missing, cut short, damaged, of another encoder or of another program is no index: `load` returns None
and the caller builds one from SQL. FAISS never sees bytes whose checksum is wrong.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from hermes_bot.errors import StoreError

if TYPE_CHECKING:  # loads a library of 15 MB
    import faiss

_MAGIC = b"HRMSFAISS1\n"
_DIGEST_BYTES = 32
_CHUNK = 1 << 20


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """What the file holds: vectors of this encoder, as of this version of the facts."""

    encoder: str
    dimension: int
    version: int
    size: int


def save(path: Path, index: faiss.IndexIDMap2, header: Header) -> None:
    """Write the file anew and put it in place of the old one at once; raise StoreError where that cannot be."""
    import faiss

    draft = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("wb") as file:
            digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)

            def write(some: bytes) -> int:
                digest.update(some)
                return file.write(some)

            write(_MAGIC + msgspec.json.encode(header) + b"\n")
            faiss.write_index(index, faiss.PyCallbackIOWriter(write))  # type: ignore[attr-defined]  # FAISS' stub leaves it out
            file.write(digest.digest())
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            draft.unlink()
        raise StoreError(f"the index of the memory {path} cannot be written: {error.strerror}") from error


def read_header(path: Path) -> Header | None:
    """Return what the file says it holds, None where there is none that can be read."""
    try:
        with path.open("rb") as file:
            return _header(file)
    except (OSError, msgspec.DecodeError):
        return None


def load(path: Path, *, encoder: str) -> tuple[faiss.IndexIDMap2, Header] | None:
    """Return the index and its header, None unless the file is whole and of this encoder."""
    try:
        with path.open("rb") as file:
            header = _header(file)
            if header is None or header.encoder != encoder:
                return None
            start = file.tell()
            if not _is_whole(file):
                return None
            return _read(file, start, header)
    except (OSError, msgspec.DecodeError):
        return None


def _read(file: BinaryIO, start: int, header: Header) -> tuple[faiss.IndexIDMap2, Header] | None:
    import faiss

    file.seek(start)
    index = faiss.read_index(faiss.PyCallbackIOReader(file.read))  # type: ignore[attr-defined]  # as above
    if not isinstance(index, faiss.IndexIDMap2) or index.ntotal != header.size or index.d != header.dimension:
        return None
    return index, header


def _header(file: BinaryIO) -> Header | None:
    if file.read(len(_MAGIC)) != _MAGIC:
        return None
    return msgspec.json.decode(file.readline(_CHUNK), type=Header)


def _is_whole(file: BinaryIO) -> bool:
    size = file.seek(0, os.SEEK_END) - _DIGEST_BYTES
    file.seek(0)
    digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    while size > 0:
        some = file.read(min(_CHUNK, size))
        if not some:
            return False
        digest.update(some)
        size -= len(some)
    return file.read() == digest.digest()
