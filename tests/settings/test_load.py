from __future__ import annotations

from pathlib import Path

import pytest

from hermes_bot import settings
from hermes_bot.errors import SettingsError
from hermes_bot.settings import Mode
from hermes_bot.settings.agent_limits import AGENT_NAMES, AgentOverride
from hermes_bot.settings.files import packaged_folder
from hermes_bot.settings.models import FileSettings
from hermes_bot.settings.yaml_file import read_yaml

SLACK = {
    "SLACK_BOT_TOKEN": "xoxb-1",
    "SLACK_APP_TOKEN": "xapp-1",
    "HERMES_APPROVALS__APPROVERS": '["U1", "S2"]',
    "HERMES_SLACK__HANDOFF_CHANNEL": "C9",
}


def written(folder: Path, text: str) -> Path:
    path = folder / "configs" / "hermes.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_without_any_file_the_packaged_one_is_used_and_says_so(tmp_path: Path) -> None:
    loaded = settings.load(None, {}, folder=tmp_path)

    assert loaded.source.startswith("the files that come with Hermes")
    assert loaded.mode is Mode.WORKSPACE
    assert loaded.data.path == tmp_path / "data"
    assert loaded.routing.file == packaged_folder() / "routing.yaml"


def test_the_shipped_file_holds_every_key_with_its_default() -> None:
    data = read_yaml(packaged_folder() / "hermes.yaml").data
    own = {name: data["agents"].pop(name) for name in AGENT_NAMES if name in data["agents"]}
    shipped = FileSettings.model_validate(data)

    assert shipped == FileSettings()
    for name, overrides in own.items():
        assert AgentOverride.model_validate(overrides) == getattr(FileSettings().agents, name), name
    assert set(data) == set(FileSettings.model_fields)
    for name, section in data.items():
        expected = set(type(getattr(shipped, name)).model_fields) - set(AGENT_NAMES)
        assert set(section) == expected, name


def test_a_variable_of_a_key_wins_over_its_short_name_and_both_over_the_file(tmp_path: Path) -> None:
    written(tmp_path, "store:\n  url: sqlite:///file.db\n")
    short = {"HERMES_DATABASE_URL": "sqlite:///short.db"}
    long = {"HERMES_STORE__URL": "sqlite:///long.db"}

    assert settings.load(None, {}, folder=tmp_path).store_url == "sqlite:///file.db"
    assert settings.load(None, short, folder=tmp_path).store_url == "sqlite:///short.db"
    assert settings.load(None, short | long, folder=tmp_path).store_url == "sqlite:///long.db"
    assert settings.load(None, {"HERMES_REDIS_URL": "redis://r/1"}, folder=tmp_path).bus.url == "redis://r/1"


def test_variables_are_read_as_yaml_or_json(tmp_path: Path) -> None:
    environ = {
        "HERMES_HTTP__PORT": "9090",
        "HERMES_APPROVALS__ALLOW_REQUESTER": "true",
        "HERMES_PEOPLE__OPERATORS": "[U1, U2]",
        "HERMES_SLACK__CHANNELS__C0ABC__MODE": "off",
        "HERMES_AGENTS__ORDER__RETRY_POLICY__MAX_RETRIES": "7",
        "HERMES_SLACK__HANDOFF_CHANNEL": "123",
    }

    loaded = settings.load(None, environ, folder=tmp_path)

    assert loaded.http.port == 9090
    assert loaded.approvals.allow_requester is True
    assert loaded.people.operators == ("U1", "U2")
    assert loaded.slack.channels["C0ABC"].mode == "off"
    assert loaded.agents.limits("order").max_retries == 7
    assert loaded.agents.limits("refund").max_retries == 3
    assert loaded.slack.handoff_channel == "123"


def test_an_unknown_key_is_refused_with_file_line_key_and_the_nearest_known_one(tmp_path: Path) -> None:
    path = written(tmp_path, "slack:\n  suport_channels: [C1]\n")

    with pytest.raises(SettingsError) as caught:
        settings.load(None, {}, folder=tmp_path)

    assert str(caught.value) == (
        f"{path}:2: unknown key 'slack.suport_channels'; did you mean 'slack.support_channels'?"
    )
    assert (caught.value.line, caught.value.key) == (2, "slack.suport_channels")


def test_everything_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    written(tmp_path, "http:\n  port: many\nbuss: {}\nbus:\n  backend: kafka\nagents:\n  max_hops: true\n")
    environ = {"HERMES_HTTP__PROT": "1", "SLACK_BOT_TOKEN": "xoxb-1"}

    with pytest.raises(SettingsError) as caught:
        settings.load(None, environ, folder=tmp_path)

    told = str(caught.value).splitlines()
    assert len(told) == 6
    assert any("hermes.yaml:2: http.port must be a whole number, not 'many'" in line for line in told)
    assert any("hermes.yaml:3: unknown key 'buss'; did you mean 'bus'?" in line for line in told)
    assert any("hermes.yaml:5: bus.backend must be 'sqlite', 'memory' or 'redis', not 'kafka'" in line for line in told)
    assert any("hermes.yaml:7: agents.max_hops must be a whole number, not True" in line for line in told)
    assert any("unknown variable HERMES_HTTP__PROT; did you mean HERMES_HTTP__PORT?" in line for line in told)
    assert any("neither SLACK_APP_TOKEN" in line for line in told)


@pytest.mark.parametrize(
    "key",
    ["approvals.colour", "tickets.colour"],
)
def test_a_key_whose_feature_does_not_exist_yet_is_refused(tmp_path: Path, key: str) -> None:
    section, name = key.split(".")
    written(tmp_path, f"{section}:\n  {name}: 1\n")

    with pytest.raises(SettingsError, match="unknown key"):
        settings.load(None, {}, folder=tmp_path)


def test_a_wrong_value_from_the_environment_names_its_variable(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        settings.load(None, {"HERMES_APPROVALS__APPROVERS": "U1,U2"}, folder=tmp_path)

    assert str(caught.value) == (
        "HERMES_APPROVALS__APPROVERS: approvals.approvers must be a list, such as [A, B], not 'U1,U2'"
    )


def test_a_whole_section_cannot_be_set_by_one_variable(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="unknown variable HERMES_HTTP;"):
        settings.load(None, {"HERMES_HTTP": "{port: 1}"}, folder=tmp_path)


@pytest.mark.parametrize("text", ["- a\n- b\n", "just words\n"])
def test_a_file_that_is_no_mapping_is_refused(tmp_path: Path, text: str) -> None:
    written(tmp_path, text)

    with pytest.raises(SettingsError, match="must hold `key: value`"):
        settings.load(None, {}, folder=tmp_path)


@pytest.mark.parametrize("text", ["", "slack:\nhttp:\n", "# nothing\n"])
def test_empty_files_and_sections_mean_the_defaults(tmp_path: Path, text: str) -> None:
    written(tmp_path, text)

    assert settings.load(None, {}, folder=tmp_path).http.port == 8080


def test_a_named_file_that_is_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"mine\.yaml: this file does not exist"):
        settings.load(Path("mine.yaml"), {}, folder=tmp_path)
    with pytest.raises(SettingsError, match=r"other\.yaml: this file does not exist"):
        settings.load(None, {"HERMES_CONFIG": "other.yaml"}, folder=tmp_path)


def test_files_beside_the_users_own_settings_are_used_and_packaged_ones_where_there_are_none(tmp_path: Path) -> None:
    written(tmp_path, "routing:\n  file: mine.yaml\n")
    (tmp_path / "configs" / "mine.yaml").write_text("", encoding="utf-8")

    loaded = settings.load(None, {}, folder=tmp_path)

    assert loaded.routing.file == tmp_path / "configs" / "mine.yaml"
    assert loaded.policies.file == packaged_folder() / "policies.yaml"


def test_a_path_from_the_environment_starts_at_the_working_directory(tmp_path: Path) -> None:
    loaded = settings.load(None, {"HERMES_ROUTING__FILE": "r.yaml", "HERMES_DATA__PATH": "/srv/x"}, folder=tmp_path)

    assert loaded.routing.file == tmp_path / "r.yaml"
    assert loaded.data.path == Path("/srv/x")


def test_dotenv_is_read_and_the_environment_wins(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(
        "# tokens\nexport HERMES_HTTP__PORT='9001' # quoted\nHERMES_WORKSPACE__PORT=9002 # plain\nSLACK_BOT_TOKEN=\n",
        encoding="utf-8",
    )

    loaded = settings.load(None, {"HERMES_WORKSPACE__PORT": "9003"}, folder=tmp_path)

    assert (loaded.http.port, loaded.workspace.port) == (9001, 9003)
    assert loaded.mode is Mode.WORKSPACE


def test_a_dotenv_line_that_is_none_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("A=1\nnonsense\n", encoding="utf-8")

    with pytest.raises(SettingsError, match=r"^\.env:2: "):
        settings.load(None, {}, folder=tmp_path)


@pytest.mark.parametrize(
    "tokens, missing",
    [
        ({"SLACK_BOT_TOKEN": "xoxb-1"}, "SLACK_APP_TOKEN"),
        ({"SLACK_APP_TOKEN": "xapp-1"}, "SLACK_BOT_TOKEN"),
        ({"SLACK_SIGNING_SECRET": "s"}, "SLACK_BOT_TOKEN"),
        ({"SLACK_API_URL": "http://127.0.0.1:1/"}, "SLACK_BOT_TOKEN"),
        ({"SLACK_BOT_TOKEN": "xapp-1", "SLACK_APP_TOKEN": "xapp-1"}, "xoxb-"),
        ({"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xoxb-1"}, "xapp-"),
        ({"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1", "SLACK_API_URL": "localhost"}, "SLACK_API_URL"),
    ],
)
def test_half_a_slack_set_up_is_refused_and_says_what_is_missing(
    tmp_path: Path, tokens: dict[str, str], missing: str
) -> None:
    with pytest.raises(SettingsError, match=missing):
        settings.load(None, tokens, folder=tmp_path)


def test_with_a_token_approvers_and_a_handoff_channel_are_required(tmp_path: Path) -> None:
    written(tmp_path, "slack:\n  handoff_channel: ''\n")
    tokens = {name: value for name, value in SLACK.items() if name.startswith("SLACK_")}

    with pytest.raises(SettingsError) as caught:
        settings.load(None, tokens, folder=tmp_path)

    assert "approvals.approvers is empty" in str(caught.value)
    assert "hermes.yaml:2: slack.handoff_channel is empty" in str(caught.value)


@pytest.mark.parametrize(
    "change, mode",
    [({}, Mode.SOCKET), ({"SLACK_APP_TOKEN": "", "SLACK_SIGNING_SECRET": "s"}, Mode.HTTP)],
)
def test_the_tokens_decide_how_slack_is_reached(tmp_path: Path, change: dict[str, str], mode: Mode) -> None:
    assert settings.load(None, SLACK | change, folder=tmp_path).mode is mode


def test_the_memory_bus_is_refused_with_a_token_unless_slack_is_on_this_machine(tmp_path: Path) -> None:
    memory = SLACK | {"HERMES_BUS__BACKEND": "memory"}

    for url in ("http://127.0.0.1:8070/api/", "http://localhost:1/", "http://[::1]:1/"):
        assert settings.load(None, memory | {"SLACK_API_URL": url}, folder=tmp_path).bus.backend == "memory"
    for url in ("", "https://slack.example/api/", "http://127.0.0.1.example/"):
        with pytest.raises(SettingsError, match=r"bus\.backend memory"):
            settings.load(None, memory | {"SLACK_API_URL": url}, folder=tmp_path)


def test_secrets_are_not_shown(tmp_path: Path) -> None:
    secret = {"SLACK_SIGNING_SECRET": "s3cr3t-words", "HERMES_DATABASE_URL": "postgresql://u:s3cr3t-words@h/d"}

    loaded = settings.load(None, SLACK | secret, folder=tmp_path)

    shown = f"{loaded!r} {loaded} {loaded.access!r}"
    assert "s3cr3t-words" not in shown
    assert "xoxb-1" not in shown
    assert loaded.access.bot_token is not None
    assert loaded.access.bot_token.get_secret_value() == "xoxb-1"


def test_settings_are_frozen(tmp_path: Path) -> None:
    loaded = settings.load(None, {}, folder=tmp_path)

    with pytest.raises(ValueError, match="frozen"):
        loaded.http.port = 1


def test_the_standard_variable_of_opentelemetry_sets_the_endpoint_and_ours_wins(tmp_path: Path) -> None:
    standard = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}
    ours = {"HERMES_OBSERVE__OTLP_ENDPOINT": "http://127.0.0.1:9"}

    assert settings.load(None, standard, folder=tmp_path).observe.otlp_endpoint == "http://127.0.0.1:4318"
    assert settings.load(None, standard | ours, folder=tmp_path).observe.otlp_endpoint == "http://127.0.0.1:9"


@pytest.mark.parametrize("word", [":eyes:", "👀", "Eyes"])
def test_a_reaction_that_is_no_name_of_an_emoji_is_refused_with_how_it_is_written(tmp_path: Path, word: str) -> None:
    path = written(tmp_path, f'slack:\n  seen_reaction: "{word}"\n')

    with pytest.raises(SettingsError, match=r"hermes\.yaml:2: slack\.seen_reaction: .* without colons, such as eyes"):
        settings.load(path, {}, folder=tmp_path)


@pytest.mark.parametrize("word", ["eyes", "+1", ""])
def test_a_reaction_is_named_as_slack_names_it(tmp_path: Path, word: str) -> None:
    path = written(tmp_path, f'slack:\n  seen_reaction: "{word}"\n')

    assert settings.load(path, {}, folder=tmp_path).slack.seen_reaction == word
