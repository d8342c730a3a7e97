"""Finds the configuration files: the user's own, else those that come with the package."""

from __future__ import annotations

from pathlib import Path

DEFAULT_CONFIG = Path("configs/hermes.yaml")


def packaged_folder() -> Path:
    """Return the folder of the files that come with Hermes: inside the wheel, or at the root of a source tree."""
    package = Path(__file__).resolve().parent.parent
    in_wheel = package / "configs"
    return in_wheel if in_wheel.is_dir() else package.parent / "configs"


def beside(folder: Path, name: Path) -> Path:
    """Return `name` relative to `folder`; the packaged file of that name where the user has none there."""
    own = folder / name.expanduser()
    packaged = packaged_folder() / name
    return packaged if not own.exists() and packaged.exists() else own
