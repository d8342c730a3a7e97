"""A saved file is noticed once; one in the midst of a save is let be."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from routing.watch import FileWatch, Version, digest_of

START = datetime(2026, 11, 30, 12, tzinfo=UTC)


class Watched:
    """A file, a watch on it, and a clock that is moved by hand."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.now = START
        self.save("one")
        self.watch = FileWatch(file, clock=lambda: self.now, seen=digest_of(b"one"))

    def save(self, text: str, *, age_s: float = 0.0) -> None:
        self.file.write_text(text, encoding="utf-8")
        moment = self.now.timestamp() - age_s
        os.utime(self.file, (moment, moment))

    def polls(self, count: int) -> list[Version]:
        """Return what so many looks, half a second apart, have found."""
        found = []
        for _ in range(count):
            self.now += timedelta(seconds=0.5)
            version = self.watch.poll()
            if version is not None:
                found.append(version)
        return found


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    return Watched(tmp_path / "routing.yaml")


def contents(found: list[Version]) -> list[bytes | None]:
    return [version.content for version in found]


def test_an_unchanged_file_is_never_news(watched: Watched) -> None:
    assert watched.polls(10) == []


def test_a_save_is_news_once_and_on_the_second_look(watched: Watched) -> None:
    watched.save("two")

    assert contents(watched.polls(1)) == []
    assert contents(watched.polls(5)) == [b"two"]


def test_a_touched_file_with_the_same_content_is_no_news(watched: Watched) -> None:
    watched.polls(8)
    watched.save("one")

    assert watched.polls(5) == []


def test_a_half_written_save_is_let_be(watched: Watched) -> None:
    watched.save("tw")
    first = watched.polls(1)
    watched.save("two")

    assert contents(first + watched.polls(4)) == [b"two"]


def test_a_second_save_within_the_same_tick_of_the_clock_is_seen(watched: Watched) -> None:
    watched.save("two")
    seen = watched.polls(2)
    stat = watched.file.stat()
    watched.file.write_text("zwo", encoding="utf-8")
    os.utime(watched.file, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    assert contents(seen + watched.polls(3)) == [b"two", b"zwo"]


def test_a_file_that_vanishes_and_comes_back_is_news_twice(watched: Watched) -> None:
    watched.file.unlink()
    gone = watched.polls(4)
    watched.save("one")
    back = watched.polls(4)

    assert [(version.known, version.why) for version in gone] == [(False, "No such file or directory")]
    assert contents(back) == [b"one"]


def test_a_moment_without_the_file_is_no_news(watched: Watched) -> None:
    watched.file.unlink()
    gone = watched.polls(1)
    watched.save("one")

    assert gone + watched.polls(5) == []
