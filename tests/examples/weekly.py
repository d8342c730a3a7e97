"""What the tests of the weekly report and its benchmark share: a repository, documents, and a script for its agents."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.examples.kit import EXAMPLES, role_of
from tests.llm.model_server import Asked, answer, call

REQUEST = "Please make the weekly report on refunds."
EDITOR, HISTORIAN, LIBRARIAN, WRITER = "You have weekly", "You say what", "You look things", "You write a"
SUBJECTS = ("Refunds: a part can be paid back", "Refunds: the window is checked", "Docs: how refunds work", "Fix typo")
DOCUMENTS = {
    "refunds.md": "# Refunds\n\n## Window\n\nA refund can be asked for within 30 days.\n",
    "cats.md": "# Cats\n\nThey sleep.\n",
}
QUERY = "refund window"


def laid_out(folder: Path, subjects: Iterable[str] = SUBJECTS, documents: Mapping[str, str] = DOCUMENTS) -> Path:
    """Return the folder of examples, with a repository and documents of the test's own in `report.yaml`."""
    configs = shutil.copytree(EXAMPLES.parent, folder / "configs")
    places = {"repository": "repository", "documents": "documents", "reports": "reports"}
    whole = {name: str(folder / place) for name, place in places.items()}
    (configs / "examples" / "weekly_report" / "report.yaml").write_text(yaml.safe_dump(whole), encoding="utf-8")
    for name, text in documents.items():
        (folder / "documents").mkdir(exist_ok=True)
        (folder / "documents" / name).write_text(text, encoding="utf-8")
    _commit(folder / "repository", subjects)
    return configs / "examples"


def _commit(repository: Path, subjects: Iterable[str]) -> None:
    repository.mkdir()
    who = {"GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.com"}
    who |= {"GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.com"}
    who |= {"PATH": os.environ["PATH"], "HOME": str(repository), "GIT_CONFIG_NOSYSTEM": "1"}
    for arguments in (["init", "-q"], *(["commit", "-q", "--allow-empty", "-m", subject] for subject in subjects)):
        subprocess.run(["git", "-C", str(repository), *arguments], check=True, env=who, timeout=60)


def script(asked: Asked) -> Any:
    """Answer as the example's prompts tell its agents to."""
    seen = asked.fenced.get("what you did and what came of it", "")
    return _OF_ROLE[role_of(asked)](asked, seen)


def _editor(asked: Asked, seen: str) -> Any:
    if not asked.done:
        tasks = [
            {"name": "history", "type": "job.history", "text": "The last 7 days."},
            {"name": "documents", "type": "job.documents", "text": "What holds for refunds?"},
            {"name": "write", "type": "job.write", "text": "The report.", "after": ["history", "documents"]},
        ]
        return {"action": "delegate", "tasks": tasks}
    file = re.findall(r'"file":"([^"]+)"', seen)[0]
    return answer(f"The report is in {file}. Refunds can be made in part.")


def _historian(asked: Asked, seen: str) -> Any:
    if not asked.done:
        return call("git_history", days=7)
    told = json.JSONDecoder().raw_decode(seen[seen.index('{"total"') :])[0]
    changes = [f"{group['group']}: {group['newest'][0]}" for group in told["groups"]]
    return answer("", result={"commits": told["total"], "changes": changes})


def _librarian(asked: Asked, seen: str) -> Any:
    if not asked.done:
        return call("find_documents", query=QUERY)
    source = re.findall(r'"source":"([^"]+)"', seen)[0]
    return answer("", result={"facts": [f"A refund can be asked for within 30 days [{source}]"]})


def _writer(asked: Asked, seen: str) -> Any:
    if not asked.done:
        results = json.loads(asked.text.partition("\n")[2])["results"]
        lines = [*results["history"]["changes"], *results["documents"]["facts"]]
        return call("write_report", title="Refunds", markdown="\n".join(f"- {line}" for line in lines))
    file = re.findall(r'"file":"([^"]+)"', seen)[0]
    return answer("", result={"file": file, "summary": "Refunds can be made in part."})


_OF_ROLE = {EDITOR: _editor, HISTORIAN: _historian, LIBRARIAN: _librarian, WRITER: _writer}
