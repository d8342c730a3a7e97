"""Slack's secrets given as files, as Docker and Kubernetes mount them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hermes_bot import settings
from hermes_bot.errors import SettingsError
from hermes_bot.settings import Mode
from hermes_bot.settings.slack_access import APP_TOKEN, BOT_TOKEN, SIGNING_SECRET, renewed, variable_of

OTHERS = {"HERMES_APPROVALS__APPROVERS": '["U1", "S2"]', "HERMES_SLACK__HANDOFF_CHANNEL": "C9"}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """Return the variables that name the two tokens' files."""
    (tmp_path / "bot").write_text("xoxb-of-a-file\n", encoding="utf-8")
    (tmp_path / "app").write_text("  xapp-of-a-file", encoding="utf-8")
    return {**OTHERS, "SLACK_BOT_TOKEN_FILE": str(tmp_path / "bot"), "SLACK_APP_TOKEN_FILE": "app"}


def refusal(variables: dict[str, str], folder: Path) -> str:
    """Return why the start is refused."""
    with pytest.raises(SettingsError) as caught:
        settings.load(None, variables, folder=folder)
    return str(caught.value)


def test_a_token_is_what_its_file_holds_without_the_blanks_around_it(tmp_path: Path, files: dict[str, str]) -> None:
    loaded = settings.load(None, files, folder=tmp_path)

    assert loaded.mode is Mode.SOCKET
    assert loaded.access.bot_token is not None
    assert loaded.access.bot_token.get_secret_value() == "xoxb-of-a-file"
    assert loaded.access.app_token is not None
    assert loaded.access.app_token.get_secret_value() == "xapp-of-a-file"
    assert "of-a-file" not in repr(loaded) + repr(loaded.access)


def test_a_signing_secret_may_be_a_file_too(tmp_path: Path, files: dict[str, str]) -> None:
    (tmp_path / "secret").write_text("s3cret", encoding="utf-8")
    given = files | {"SLACK_APP_TOKEN_FILE": "", "SLACK_SIGNING_SECRET_FILE": "secret"}

    assert settings.load(None, given, folder=tmp_path).mode is Mode.HTTP


def test_a_secret_is_looked_for_where_it_was_given(tmp_path: Path, files: dict[str, str]) -> None:
    access = settings.load(None, files, folder=tmp_path).access

    assert variable_of(access, BOT_TOKEN) == "SLACK_BOT_TOKEN_FILE"
    assert variable_of(access, SIGNING_SECRET) == "SLACK_SIGNING_SECRET"


def test_a_file_is_read_again_when_asked_and_a_variable_stays_what_it_is(tmp_path: Path, files: dict[str, str]) -> None:
    access = settings.load(None, files, folder=tmp_path).access
    (tmp_path / "bot").write_text("xoxb-another\n", encoding="utf-8")
    (tmp_path / "app").unlink()

    assert renewed(access, BOT_TOKEN) == "xoxb-another"
    assert renewed(access, APP_TOKEN) == ""
    assert renewed(access, SIGNING_SECRET) == ""


@pytest.mark.parametrize(
    "content, reason",
    [
        (None, "No such file or directory"),
        (b"", "nothing else"),
        (b"xoxb-1\nxoxb-2\n", "nothing else"),
        (b"\xff", "text"),
        (b"xoxb-1\x00", "nothing else"),
        ("xoxb-ü".encode(), "nothing else"),
        (b"x" * 20_000, "too large"),
    ],
)
def test_a_file_that_is_of_no_use_is_named_with_its_variable_and_the_remedy(
    tmp_path: Path, files: dict[str, str], content: bytes | None, reason: str
) -> None:
    path = tmp_path / "bot"
    path.unlink() if content is None else path.write_bytes(content)

    said = refusal(files, tmp_path)

    assert "SLACK_BOT_TOKEN_FILE" in said
    assert str(path) in said
    assert reason in said
    assert "or set SLACK_BOT_TOKEN" in said
    assert "xoxb-" not in said


@pytest.mark.parametrize("place", ["pipe", "~nobody-of-this-name/bot"])
def test_what_is_no_ordinary_file_is_refused_and_not_waited_for(
    tmp_path: Path, files: dict[str, str], place: str
) -> None:
    os.mkfifo(tmp_path / "pipe")

    assert f"SLACK_BOT_TOKEN_FILE names {tmp_path / place}" in refusal(
        files | {"SLACK_BOT_TOKEN_FILE": place}, tmp_path
    )


def test_a_wrong_kind_of_token_in_a_file_is_refused_without_being_shown(tmp_path: Path, files: dict[str, str]) -> None:
    (tmp_path / "bot").write_text("xoxp-of-a-person", encoding="utf-8")

    said = refusal(files, tmp_path)

    named = f"SLACK_BOT_TOKEN_FILE names {tmp_path / 'bot'}, which holds another kind of token"
    assert f"{named}: it must start with xoxb-" in said
    assert "of-a-person" not in said


def test_a_token_that_is_given_twice_is_refused(tmp_path: Path, files: dict[str, str]) -> None:
    said = refusal(files | {"SLACK_BOT_TOKEN": "xoxb-1"}, tmp_path)

    assert "SLACK_BOT_TOKEN_FILE is set, and so is SLACK_BOT_TOKEN; unset one of them" in said
