"""Whatever a button does can be typed: each button of ours has its words, and the help names them."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import hermes_bot.edge.views
from agents.texts import load_texts
from hermes_bot.approvals.request import ApprovalRequest, ApprovalStatus
from hermes_bot.edge.approval_clicks import approval_concern
from hermes_bot.edge.choice_clicks import choice_concern
from hermes_bot.edge.command_acts import ACTS, USAGE
from hermes_bot.edge.command_words import VERBS
from hermes_bot.edge.concerns import Concerns
from hermes_bot.edge.handoff_clicks import handoff_concern
from hermes_bot.edge.home_clicks import home_concern
from hermes_bot.edge.proposal_clicks import proposal_concern
from hermes_bot.errors import PermanentError
from hermes_bot.tools.refund_tools import issue_refund

TEXTS = load_texts(Path(__file__).parents[2] / "configs" / "texts")
IN_THE_THREAD = "(its words, written in the thread)"
TYPED = {
    "approval:approve": "approve",
    "approval:reject": "reject",
    "approval:edit": "edit",
    "approval:ask": "ask",
    "handoff:claim": "claim",
    "handoff:return": "return",
    "ticket:take": "take",
    "ticket:assign": "assign",
    "ticket:priority": "priority",
    "ticket:solve": "solve",
    "ticket:reopen": "reopen",
    "ticket:reply": "reply",
    "ticket:rate": "rate",
    "route:wrong": "wrong",
    "proposal:accept": "accept",
    "proposal:decline": "decline",
    "home:language": "language",
    "person:forget": "forget",
    "choice:*": IN_THE_THREAD,  # those for staff: take, continue
}


class NoApprovals:
    async def get(self, approval_id: str) -> ApprovalRequest:
        raise PermanentError(approval_id)

    async def listing(self, *, status: ApprovalStatus | None = None, limit: int = 50) -> list[ApprovalRequest]:
        return []


CONCERNS = [
    approval_concern(NoApprovals(), {issue_refund.name: issue_refund}.get),
    handoff_concern(),
    proposal_concern(None),
    choice_concern(),
    home_concern(),
]


def buttons() -> set[str]:
    """Return the ids of all buttons and menus that mean something."""
    return {action_id for each in CONCERNS for action_id in (*each.buttons, *each.openers)}


def drawn() -> set[str]:
    """Return the ids that stand as constants on what is drawn."""
    found: set[str] = set()
    for module in pkgutil.iter_modules(hermes_bot.edge.views.__path__):
        view = importlib.import_module(f"hermes_bot.edge.views.{module.name}")
        source = Path(str(view.__file__)).read_text(encoding="utf-8")
        names = re.findall(r"action_id\"?[=:] ?([A-Z_]+)\b", source)
        found |= {str(getattr(view, name)) for name in names}
    return found


def test_every_button_can_be_typed() -> None:
    assert buttons() == set(TYPED)


def test_every_button_that_is_drawn_means_something() -> None:
    known = Concerns(CONCERNS)

    assert len(drawn()) > 10
    assert [action_id for action_id in sorted(drawn()) if ":" in action_id and not known.knows(action_id)] == []


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_help_names_every_command(language: str) -> None:
    told = TEXTS.render(language, "command.help") + TEXTS.render(language, "command.help_staff")

    assert [verb for verb in sorted({*VERBS.values()}) if not re.search(rf"\b{verb}\b", told)] == []
    assert [verb for verb in TYPED.values() if verb != IN_THE_THREAD and verb not in VERBS.values()] == []


@pytest.mark.parametrize("verb", sorted(ACTS))
@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_act_says_how_it_is_written(language: str, verb: str) -> None:
    assert f"/hermes {verb} " in TEXTS.render(language, f"{USAGE}.{verb}")
