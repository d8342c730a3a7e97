"""Makes sure that nobody else's package lies under one of our three top-level names.

`openai-agents`, for one, also installs a package `agents`, and pip lets one overwrite the other without a word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import packages_distributions

from hermes_bot.errors import SettingsError

DISTRIBUTION = "hermes-bot"
PACKAGES = ("hermes_bot", "agents", "routing")


def check_packages(owners: Mapping[str, Sequence[str]] | None = None) -> None:
    """Raise SettingsError where another distribution owns one of our names; `owners` are those installed, by name."""
    installed = packages_distributions() if owners is None else owners
    for package in PACKAGES:
        for other in sorted(set(installed.get(package, ())) - {DISTRIBUTION}):
            raise SettingsError(
                f"{other} has installed a package named {package!r} over ours; give Hermes an environment of its own"
            )
