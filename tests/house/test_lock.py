from __future__ import annotations

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
PINS = re.findall(r"^([a-z0-9.-]+)==([^\s;]+)", LOCK, flags=re.MULTILINE)


def test_every_dependency_is_pinned_at_a_version_that_is_allowed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]

    for text in wanted:
        requirement = Requirement(text)
        pinned = [version for name, version in PINS if name == canonicalize_name(requirement.name)]
        assert pinned, f"{requirement.name} is not in requirements.lock; run make lock"
        assert all(version in requirement.specifier for version in pinned), f"{requirement}: run make lock"


def test_every_pin_has_hashes_and_nothing_names_a_place_of_one_machine() -> None:
    content = LOCK.split("\n", 1)[1].strip()

    assert not re.search(r"https?:|file:|--find-links|--index-url|--extra-index-url|/", content)
    blocks = re.split(r"\n(?=[a-z0-9])", content)
    assert len(blocks) == len(PINS) > 50
    assert all("--hash=sha256:" in block for block in blocks)


def test_torch_stands_apart_and_brings_nothing_for_nvidia_cards() -> None:
    apart = [name for name, _ in PINS if re.match(r"(torch|triton|nvidia|cuda)\b", name)]

    assert apart == []
    assert "torch==2.13.0" in (ROOT / "deploy" / "torch.txt").read_text(encoding="utf-8").splitlines()
