"""The workspace of `make run` offers what the manifest gives the app in Slack."""

from hermes_bot.app.local_workspace import own_world
from hermes_bot.edge.manifest import COMMAND, SHORTCUT_EXPLAIN, SHORTCUT_TICKET


def test_the_demo_offers_the_command_and_the_shortcuts_of_the_manifest() -> None:
    app = own_world().app

    assert app.commands == (COMMAND,)
    assert {one.callback_id for one in app.shortcuts if one.of_message} == {SHORTCUT_TICKET, SHORTCUT_EXPLAIN}


def test_a_colleague_named_in_a_command_comes_as_a_token_as_in_slack() -> None:
    assert own_world().app.escaped_commands == (COMMAND,)
