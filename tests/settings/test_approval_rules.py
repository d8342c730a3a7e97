"""Rules that nobody could satisfy, or that say the same twice, are refused at the start with their line."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes_bot import settings
from hermes_bot.errors import SettingsError

REFUSED = [
    ("{tool: issue_refund, needed: 2, approvers: [U1]}", r"yaml:3: approvals\.rules\[0\]\.needed is 2, but only 1 may"),
    ("{tool: issue_refund, currency: euro}", r"yaml:3: approvals\.rules\[0\]\.currency"),
    ("{tool: issue_refund, needed: 0}", r"yaml:3: approvals\.rules\[0\]\.needed"),
    ("{tool: issue_refund, from_cents: -1}", r"yaml:3: approvals\.rules\[0\]\.from_cents"),
    ("{tool: issue_refund, form_cents: 1}", r"unknown key 'approvals\.rules\[0\]\.form_cents'; did you mean"),
    ("{tool: a}\n  - {tool: a, needed: 2, approvers: [S1]}", r"yaml:4: approvals\.rules\[1\] is about the same"),
]


def loaded(tmp_path: Path, rules: str, **variables: str) -> settings.Settings:
    file = tmp_path / "configs" / "hermes.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"approvals:\n  rules:\n  - {rules}\n", encoding="utf-8")
    return settings.load(None, variables, folder=tmp_path)


@pytest.mark.parametrize("rules, said", REFUSED)
def test_a_rule_that_cannot_be_meant_is_refused_with_its_place(tmp_path: Path, rules: str, said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        loaded(tmp_path, rules)


def test_a_name_where_an_id_belongs_is_refused_in_a_rule_as_well(tmp_path: Path) -> None:
    token = {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1"}
    more = {"HERMES_APPROVALS__APPROVERS": "[U1]", "HERMES_SLACK__HANDOFF_CHANNEL": "C1"}

    with pytest.raises(SettingsError, match=r"yaml:3: approvals\.rules\[0\]\.approvers holds 'omar'"):
        loaded(tmp_path, "{tool: issue_refund, approvers: [omar]}", **token, **more)


def test_what_a_rule_leaves_out_has_its_default_and_everyone_is_known(tmp_path: Path) -> None:
    approvals = loaded(tmp_path, "{approvers: [U2, S3]}", HERMES_APPROVALS__APPROVERS="[U1, U2]").approvals
    (rule,) = approvals.rules

    assert (rule.tool, rule.from_cents, rule.currency, rule.needed, rule.channel) == ("*", 0, "", 1, "")
    assert approvals.everyone == ("U1", "U2", "S3")
