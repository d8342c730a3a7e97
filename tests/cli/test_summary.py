from __future__ import annotations

from pathlib import Path

import pytest

from hermes_bot import settings
from hermes_bot.cli.run import summary

TOKENS = {
    "SLACK_BOT_TOKEN": "xoxb-1",
    "HERMES_APPROVALS__APPROVERS": "[U1]",
    "HERMES_SLACK__HANDOFF_CHANNEL": "C1",
}


def test_without_a_token_it_tells_the_page_and_why_and_where_data_lies(tmp_path: Path) -> None:
    told = summary(settings.load(None, {}, folder=tmp_path), page="http://127.0.0.1:8070")

    assert told["Page"] == "http://127.0.0.1:8070"
    assert "no SLACK_BOT_TOKEN" in told["Slack"]
    assert told["Data"] == str(tmp_path / "data")
    assert "demo shop" in told["Runs on"]


@pytest.mark.parametrize(
    "token, told_as", [({"SLACK_APP_TOKEN": "xapp-1"}, "Socket Mode"), ({"SLACK_SIGNING_SECRET": "s"}, "HTTP")]
)
def test_with_tokens_there_is_no_page_and_the_way_to_slack_is_told(
    tmp_path: Path, token: dict[str, str], told_as: str
) -> None:
    told = summary(settings.load(None, TOKENS | token, folder=tmp_path), page="")

    assert "Page" not in told
    assert told["Slack"].startswith(told_as)


def test_a_database_password_is_not_told(tmp_path: Path) -> None:
    url = {"HERMES_DATABASE_URL": "postgresql+psycopg://hermes:hunter22@db/hermes"}

    told = summary(settings.load(None, url, folder=tmp_path), page="")

    assert "hunter22" not in str(told)
    assert "store postgresql," in told["Runs on"]
