"""`people.yaml`: what it says becomes a world, and what is wrong in it is named with its line."""

from pathlib import Path

import pytest

from hermes_bot.errors import SettingsError
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


@pytest.mark.parametrize(
    "text,complaint",
    [
        ("people: []", "people"),
        ("people: [{nam: Ann}]", "nam"),
        ("people: [{name: Ann, guest: often}]", "guest"),
        ("people: [{name: Ann}]\nchannels: [{name: help, members: [Bob]}]", "'Bob'"),
        ("people: [{name: Ann, id: U1}, {name: Bob, id: U1}]", "the same id"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(SettingsError, match=complaint) as failed:
        described(tmp_path, text)

    assert "people.yaml:" in str(failed.value)
