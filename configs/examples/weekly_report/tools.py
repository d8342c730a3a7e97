"""The tools of this example: what git says, what documents say, and a report as a file. `report.yaml` says where."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import Field, StringConstraints

from hermes_bot.errors import SettingsError
from hermes_bot.memory.essence import overlap
from hermes_bot.memory.knowledge import Passage, passages_of
from hermes_bot.tools.registry import Level, ToolRefusal, ToolUnavailable, tool

PLACES = Path(__file__).with_name("report.yaml")
GIT_LIMIT_S = 20.0
MOST_GROUPS, NEWEST, LONGEST_SUBJECT = 10, 3, 90
MOST_PASSAGES, LONGEST_PASSAGE = 4, 700
LARGEST_DOCUMENT = 1_000_000
FIELD, RECORD = "\x1f", "\x1e"

Days = Annotated[int, Field(ge=1, le=31, description="How many days back, such as 7.")]
Query = Annotated[str, StringConstraints(min_length=2, max_length=200), Field(description="A few words.")]
Title = Annotated[str, StringConstraints(min_length=1, max_length=120)]
Markdown = Annotated[
    str, StringConstraints(min_length=1, max_length=40_000), Field(description="The report, without its title.")
]


@tool(level=Level.L0, timeout_s=GIT_LIMIT_S + 5)
async def git_history(days: Days) -> dict[str, Any]:
    """Return the commits of the last days by what their subjects begin with, the most frequent first.

    Of each group it gives how many there are and the newest three: id and subject. Nobody's code is shown.
    """
    form = FIELD.join(("%h", "%an", "%s")) + RECORD
    told = await _git("log", "--no-merges", f"--since={days} days ago", f"--format={form}")
    rows = [record.strip().split(FIELD) for record in told.split(RECORD) if record.strip()]
    groups: dict[str, list[str]] = {}
    for id_, _, subject in rows:
        groups.setdefault(_group(subject), []).append(f"{id_} {subject[:LONGEST_SUBJECT]}")
    ranked = sorted(groups.items(), key=lambda each: -len(each[1]))
    return {
        "total": len(rows),
        "authors": dict(Counter(author for _, author, _ in rows).most_common(MOST_GROUPS)),
        "groups": [
            {"group": name, "commits": len(subjects), "newest": subjects[:NEWEST]}
            for name, subjects in ranked[:MOST_GROUPS]
        ],
        "commits_in_other_groups": sum(len(subjects) for _, subjects in ranked[MOST_GROUPS:]),
    }


@tool(level=Level.L0)
async def find_documents(query: Query) -> dict[str, Any]:
    """Return the passages of the team's documents that share most words with the query, each with its source."""
    passages = await asyncio.to_thread(_passages, _place("documents"))
    rated = [(overlap(query, f"{passage.title} {passage.text}"), passage) for passage in passages]
    best = sorted((each for each in rated if each[0] > 0), key=lambda each: -each[0])[:MOST_PASSAGES]
    return {"passages": [{"source": passage.source, "text": passage.text[:LONGEST_PASSAGE]} for _, passage in best]}


@tool(level=Level.L1)
async def write_report(title: Title, markdown: Markdown, *, key: str) -> dict[str, Any]:
    """Write the report to a new file and return its name; no other file is touched, and the same call writes once."""
    return await asyncio.to_thread(_write, _place("reports"), title, markdown, key)


def _group(subject: str) -> str:
    """Return what stands before the subject's colon; all others are one group."""
    head, colon, _ = subject.partition(":")
    return head.strip() if colon and len(head) <= LONGEST_SUBJECT // 3 else "other"


def _place(name: str) -> Path:
    places = yaml.safe_load(PLACES.read_text(encoding="utf-8"))
    if not isinstance(places, dict) or not isinstance(places.get(name), str):
        raise SettingsError(f"{name}: a path is missing", file=str(PLACES), key=name)
    return Path(places[name]).expanduser().absolute()


async def _git(*arguments: str) -> str:
    """Return what git prints about the repository; nothing of it can change it."""
    process = await asyncio.create_subprocess_exec(
        "git", "-C", str(_place("repository")), *arguments,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        async with asyncio.timeout(GIT_LIMIT_S):
            told, _ = await process.communicate()
    except TimeoutError as error:
        raise ToolUnavailable("git takes too long") from error
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise ToolRefusal("no_git_repository")
    return told.decode("utf-8", "replace")


def _passages(folder: Path) -> list[Passage]:
    found: list[Passage] = []
    for path in sorted(folder.rglob("*.md")):
        if path.is_file() and path.stat().st_size <= LARGEST_DOCUMENT:
            text = path.read_text(encoding="utf-8-sig", errors="replace")
            found += passages_of(path.relative_to(folder).as_posix(), text)
    return found


def _write(folder: Path, title: str, markdown: str, key: str) -> dict[str, Any]:
    """Write under a name that the same call has again; where the file is there already, its call has ended before."""
    mark = hashlib.sha256(key.encode()).hexdigest()[:8]
    earlier = sorted(folder.glob(f"*-{mark}.md"))
    if earlier:
        return {"file": earlier[0].name, "words": len(re.findall(r"\w+", markdown))}
    folder.mkdir(parents=True, exist_ok=True)
    now = datetime.now(UTC)
    year, week, _ = now.isocalendar()
    file, begun = folder / f"{year}-W{week:02}-{mark}.md", folder / f".{mark}.begun"
    begun.write_text(f"# {title}\n\n{markdown.strip()}\n", encoding="utf-8")
    begun.replace(file)
    return {"file": file.name, "words": len(re.findall(r"\w+", markdown))}
