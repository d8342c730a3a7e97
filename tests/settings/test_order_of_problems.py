"""Where a problem of the settings is said to be, in which order, and that a name is no id."""

from pathlib import Path

import pytest

from hermes_bot import settings
from hermes_bot.errors import SettingsError

SLACK = {
    "SLACK_BOT_TOKEN": "xoxb-1",
    "SLACK_APP_TOKEN": "xapp-1",
    "HERMES_SLACK__HANDOFF_CHANNEL": "C1",
    "HERMES_APPROVALS__APPROVERS": "[U1]",
}


def test_problems_are_told_from_the_top_of_the_file_to_its_end(tmp_path: Path) -> None:
    file = tmp_path / "hermes.yaml"
    file.write_text("http:\n  prot: 1\n  port: no\nbus:\n  lease_s: 0\nslack:\n  chanels: {}\n", encoding="utf-8")

    with pytest.raises(SettingsError) as refused:
        settings.load(file, {}, folder=tmp_path)

    lines = [int(line.split(":")[1]) for line in str(refused.value).splitlines()]
    assert lines == [2, 3, 5, 7]


def test_a_problem_of_a_whole_section_names_the_variable_that_changed_it(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"^HERMES_ENCODER__PROFILE: encoder: profile .* need a model"):
        settings.load(None, {"HERMES_ENCODER__PROFILE": "openai"}, folder=tmp_path)


@pytest.mark.parametrize("key", ["APPROVALS__APPROVERS", "PEOPLE__OPERATORS", "PEOPLE__ADMINS"])
def test_with_slack_a_name_where_an_id_belongs_is_refused(tmp_path: Path, key: str) -> None:
    with pytest.raises(SettingsError, match="holds 'omar', which is no id of a user"):
        settings.load(None, {**SLACK, f"HERMES_{key}": "[U1, omar]"}, folder=tmp_path)


def test_without_slack_the_ids_are_a_programs_own(tmp_path: Path) -> None:
    loaded = settings.load(None, {"HERMES_APPROVALS__APPROVERS": "[omar]"}, folder=tmp_path)

    assert loaded.approvals.approvers == ("omar",)
