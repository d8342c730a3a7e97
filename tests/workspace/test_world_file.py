"""`people.yaml`: what it says becomes a world, and what is wrong in it is named with its line."""

from pathlib import Path

import pytest
import yaml

from hermes_bot.errors import SettingsError
from hermes_bot.workspace.http_delivery import RequestUrls
from hermes_bot.workspace.manifest_app import app_of_manifest, urls_of_manifest
from hermes_bot.workspace.people import demo_world
from hermes_bot.workspace.refusal import Refusal
from hermes_bot.workspace.server import WorkspaceServer
from hermes_bot.workspace.world_file import Described, read_world

FULL = """\
team: {id: T0ACME, name: Acme Ltd, enterprise: E0ACME}
apps:
  - name: Helper
    commands: [/help]
    scopes: [chat:write]
    shortcuts: [{callback_id: ticket, name: Make a ticket}]
  - {name: Second, events_url: "http://127.0.0.1:3000/slack/events"}
people:
  - {name: Ann Lee, email: ann@example.com, role: operator}
  - {name: 李娜, id: W0LINA, locale: zh-CN}
  - {name: Gus Guest, guest: single}
  - {name: Sam Stranger, team: T9OTHER}
channels:
  - {name: help, topic: Ask here}
  - {name: partners, members: [Ann Lee, "@sam stranger", Helper], shared_with: [T9OTHER]}
groups:
  - {handle: oncall, members: [W0LINA]}
"""


def described(folder: Path, text: str) -> Described:
    path = folder / "people.yaml"
    path.write_text(text, encoding="utf-8")
    return read_world(path)


def test_people_channels_groups_and_bots_are_as_the_file_says(tmp_path: Path) -> None:
    found = described(tmp_path, FULL)
    world = found.world
    ann, lina, gus, sam = world.members
    everybody, partners = (one for one in world.channels if one.kind == "channel")
    (group,) = world.groups

    assert (world.app.name, world.app.enterprise, world.app.commands) == ("Helper", "E0ACME", ("/help",))
    assert [app.name for app in world.more_apps] == ["Second"]
    assert (lina.id, gus.single_channel_guest, sam.stranger, sam.team) == ("W0LINA", True, True, "T9OTHER")
    assert everybody.members == (ann.id, lina.id, "U0APP1", "U0APP2")
    assert partners.members == (ann.id, sam.id, "U0APP1")
    assert group.members == (lina.id,)
    assert {one.members[0] for one in world.channels if one.kind == "dm"} == {ann.id, lina.id, gus.id, sam.id}
    assert found.request_urls["A0APP2"].events == "http://127.0.0.1:3000/slack/events"


def test_people_alone_are_enough(tmp_path: Path) -> None:
    world = described(tmp_path, "people: [{name: Ann}]").world

    assert (world.app.name, world.app.team, [one.name for one in world.members]) == ("Bot", "T0LOCAL", ["Ann"])


def test_a_manifest_says_what_an_app_is_granted_and_offers(tmp_path: Path) -> None:
    manifest = """\
display_information: {name: Helper}
features:
  app_home: {home_tab_enabled: true, messages_tab_enabled: true}
  bot_user: {display_name: Helper}
  agent_view: {agent_description: Helps}
  slash_commands: [{command: /help, description: Help, should_escape: true, url: "http://127.0.0.1:3000/c"}]
  shortcuts: [{name: Make a ticket, type: message, callback_id: ticket, description: x}]
oauth_config: {scopes: {bot: [chat:write, commands]}}
settings:
  event_subscriptions: {request_url: "http://127.0.0.1:3000/e", bot_events: [app_mention]}
"""
    (tmp_path / "manifest.yaml").write_text(manifest, encoding="utf-8")
    found = described(tmp_path, "people: [{name: Ann}]\napps: [{name: X, manifest: manifest.yaml}]")
    app = found.world.app

    assert (app.name, app.scopes, app.events) == ("Helper", ("chat:write", "commands"), ("app_mention",))
    assert (app.commands, app.escaped_commands, app.agent, app.home_tab) == (("/help",), ("/help",), True, True)
    assert [(one.callback_id, one.of_message) for one in app.shortcuts] == [("ticket", True)]
    assert found.request_urls[app.id] == RequestUrls("http://127.0.0.1:3000/e", "", "http://127.0.0.1:3000/c")


async def test_what_a_manifest_does_not_declare_is_not_there() -> None:
    world = demo_world(app_of_manifest({}))
    async with WorkspaceServer(world=world) as server:
        await server.workspace.post("U0EMMA", "C0SUPPORT", "hello")
        with pytest.raises(Refusal, match="unknown_command"):
            await server.workspace.command("U0EMMA", "C0SUPPORT", "/help")
        with pytest.raises(Refusal, match="unknown_shortcut"):
            await server.workspace.shortcut("U0EMMA", "ticket")
        with pytest.raises(Refusal, match="not_enabled"):
            await server.workspace.open_home("U0EMMA")

        assert server.unsettled == 0


def test_our_own_manifest_is_one_that_the_workspace_reads() -> None:
    manifest = yaml.safe_load((Path(__file__).parents[2] / "deploy/slack-manifest.yaml").read_text(encoding="utf-8"))
    app = app_of_manifest(manifest)

    assert "chat:write" in (app.scopes or ())
    assert "app_mention" in (app.events or ())
    assert urls_of_manifest(manifest) is None


@pytest.mark.parametrize(
    "text,complaint",
    [
        ("people: []", "people"),
        ("people: [{nam: Ann}]", "nam"),
        ("people: [{name: Ann, guest: often}]", "guest"),
        ("people: [{name: Ann}]\nchannels: [{name: help, members: [Bob]}]", "'Bob'"),
        ("people: [{name: Ann, id: U1}, {name: Bob, id: U1}]", "the same id"),
        ("people: [{name: Ann}, {name: ann}]\nchannels: [{name: a, members: [Ann]}]", "two of the name 'Ann'"),
        ("people: [{name: Ann}]\nchannels: [{name: Help Me}]", "lower case, without blanks"),
        ("people: [{name: Ann}]\nchannels: [{name: a}, {name: '#a'}]", "two channels"),
        ("people: [{name: Ann}]\napps: [{name: X, events_url: 'ftp://x'}]", "begins with http"),
        ("people: [{name: Ann}]\napps: [{name: X, commands: [help]}]", "write /help"),
        ("people: [{name: Ann}]\napps: [{name: X, manifest: none.yaml}]", "no file 'none.yaml'"),
        (
            "people: [{name: Ann, guest: single}]\nchannels: [{name: a, members: [Ann]}, {name: b, members: [Ann]}]",
            "write guest: multi",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(SettingsError, match=complaint) as failed:
        described(tmp_path, text)

    assert "people.yaml:" in str(failed.value)


def test_a_wrong_person_is_told_of_once_and_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as failed:
        described(tmp_path, "people: [{name: Ann, rol: operator}]")

    (line,) = str(failed.value).splitlines()
    assert line.endswith("people.yaml:1: unknown key 'people[0].rol'; did you mean 'people[0].role'?")
