"""What people type as emoji reaches the apps by Slack's names for them."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

import hermes_bot.workspace as package
from hermes_bot.workspace.emoji import form_of, shortcoded
from hermes_bot.workspace.server import WorkspaceServer
from tests.workspace.bot import running

Json = dict[str, Any]


@pytest.mark.parametrize(
    "typed,kept",
    [
        ("📦", ":package:"),
        ("你好👋", "你好:wave:"),
        ("👋🏽", ":wave::skin-tone-4:"),
        ("👍🏻", ":+1::skin-tone-2:"),
        ("🇩🇪🇫🇷", ":de::fr:"),
        ("🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", ":flag-england:"),
        ("👨‍👩‍👧‍👦", ":man-woman-girl-boy:"),
        ("🏃🏿‍♀️", ":woman-running::skin-tone-6:"),
        ("👩🏽‍🤝‍👨🏻", ":man_and_woman_holding_hands::skin-tone-4-2:"),
        ("❤️", ":heart:"),
        ("❤", "❤"),
        ("⌚ ⌚️", ":watch: :watch:"),
        ("1️⃣ 1 # © ™", ":one: 1 # © ™"),
        ("👨‍📦", "👨‍📦"),
        ("e\u0301 ก็ 𝒳", "e\u0301 ก็ 𝒳"),
    ],
)
def test_an_emoji_is_kept_by_its_name_and_everything_else_as_it_is(typed: str, kept: str) -> None:
    assert shortcoded(typed) == kept


@pytest.mark.parametrize(
    "name,form",
    [("package", "📦"), ("thumbsup", "👍"), ("thumbsup::skin-tone-6", "👍🏿"), ("30", ""), ("wave::skin-tone-9", "")],
)
def test_a_name_stands_for_its_emoji(name: str, form: str) -> None:
    assert form_of(name) == form


@given(some.text(alphabet=some.sampled_from("ab👋🏽\u200d👩\ufe0f❤🇩🇪1\u20e3你"), max_size=20))
def test_what_was_named_once_is_not_named_again(typed: str) -> None:
    once = shortcoded(typed)

    assert shortcoded(once) == once


def test_the_servers_names_are_those_of_the_pages_picker() -> None:
    folder = package.__path__[0]
    with open(f"{folder}/page/vendor/emoji.js", encoding="utf-8") as file:  # noqa: PTH123 - a package's own data
        groups = json.loads(re.sub(r"^//.*\nexport default |;\s*$", "", file.read()))
    lines = [line.split("|") for group in groups.values() for line in group.split("\n")]

    assert [(char, names) for char, names, _ in lines if any(form_of(name) != char for name in names.split(","))] == []


async def test_messages_edits_captions_and_commands_bring_names(workspace: WorkspaceServer) -> None:
    people = workspace.workspace
    async with running(workspace) as bot:
        ts = await people.post("U0EMMA", "C0SUPPORT", "where is my 📦? 👋🏽")
        await people.edit("U0EMMA", "C0SUPPORT", ts, "found 🎉")
        await people.upload("U0EMMA", "C0SUPPORT", "a.txt", b"a", text="look 👀")
        await people.wait_for(lambda: workspace.unsettled == 0)

    texts = [event.get("message", event)["text"] for event in bot.of_type("message")]
    assert texts == ["where is my :package:? :wave::skin-tone-4:", "found :tada:", "look :eyes:"]
    said = bot.of_type("message")[0]["blocks"][0]["elements"][0]["elements"]
    assert [one["type"] for one in said] == ["text", "emoji", "text", "emoji"]
    assert said[1] == {"type": "emoji", "name": "package", "unicode": "1f4e6"}
