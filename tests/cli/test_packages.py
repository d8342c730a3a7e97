from __future__ import annotations

import pytest

from hermes_bot.cli.packages import check_packages
from hermes_bot.errors import SettingsError


def test_here_nobody_else_owns_our_packages() -> None:
    check_packages()


def test_a_package_of_somebody_else_under_our_name_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"openai-agents has installed a package named 'agents'"):
        check_packages({"agents": ["hermes-bot", "openai-agents"], "routing": ["hermes-bot"]})
