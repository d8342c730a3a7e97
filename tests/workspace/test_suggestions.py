"""Selects whose options the app suggests while a person types, and what can be pressed inside of other blocks."""

from typing import Any

import pytest
from slack_bolt.async_app import AsyncAck

from hermes_bot.workspace.refusal import Refusal
from hermes_bot.workspace.server import WorkspaceServer
from tests.workspace.bot import running
from tests.workspace.clicks import Clicks, card, text

Json = dict[str, Any]
SELECT: Json = {"type": "external_select", "action_id": "city", "min_query_length": 1}
MANY: Json = {"type": "multi_external_select", "action_id": "cities"}


def option(name: str) -> Json:
    return {"text": text(name), "value": name.lower()}


async def test_what_is_typed_is_asked_about_and_what_is_offered_can_be_chosen(workspace: WorkspaceServer) -> None:
    asked: list[Json] = []

    async def offer(ack: AsyncAck, body: Json) -> None:
        asked.append(body)
        await ack(options=[option("Lyon"), option("Lille")])

    async with running(workspace) as bot:
        bot.app.options("city")(offer)
        bot.app.action("city")(bot.keep_pressed)
        posted = await bot.client.chat_postMessage(
            channel="C0SUPPORT", text="Where?", blocks=[{"type": "actions", "block_id": "b", "elements": [SELECT]}]
        )
        offered = await workspace.workspace.suggest("U0EMMA", "city", "l", channel="C0SUPPORT", ts=posted["ts"])
        chosen = await workspace.workspace.click("U0EMMA", "C0SUPPORT", posted["ts"], "city", value="lille")
        with pytest.raises(Refusal, match="invalid_value"):
            await workspace.workspace.click("U0EMMA", "C0SUPPORT", posted["ts"], "city", value="paris")

    assert [one["value"] for one in offered] == ["lyon", "lille"]
    (suggestion,), (click,) = asked, bot.pressed
    assert (suggestion["type"], suggestion["value"], suggestion["block_id"]) == ("block_suggestion", "l", "b")
    assert suggestion["message"]["ts"] == posted["ts"]
    assert chosen.ok
    assert click["actions"][0]["selected_option"]["value"] == "lille"


async def test_in_a_form_several_can_be_chosen(workspace: WorkspaceServer, clicks: Clicks) -> None:
    async def offer(ack: AsyncAck) -> None:
        await ack(option_groups=[{"label": text("France"), "options": [option("Lyon"), option("Lille")]}])

    clicks.bot.app.options("cities")(offer)
    view = await clicks.open_modal(
        blocks=[{"type": "input", "block_id": "where", "label": text("Where?"), "element": MANY}]
    )
    await workspace.workspace.suggest("U0OMAR", "cities", "l", view_id=view["id"])
    sent = await workspace.workspace.submit("U0OMAR", view["id"], {"where": {"cities": ["lyon", "lille"]}})
    state = clicks.payloads[-1]["view"]["state"]["values"]["where"]["cities"]

    assert sent.ok
    assert [one["value"] for one in state["selected_options"]] == ["lyon", "lille"]


async def test_only_such_selects_suggest(workspace: WorkspaceServer, clicks: Clicks) -> None:
    posted = await clicks.client.chat_postMessage(channel="C0SUPPORT", text="card", blocks=card())

    with pytest.raises(Refusal, match="action_not_found"):
        await workspace.workspace.suggest("U0EMMA", "colour", "r", channel="C0SUPPORT", ts=posted["ts"])
    with pytest.raises(Refusal, match="message_not_found"):
        await workspace.workspace.suggest("U0EMMA", "colour", "r", channel="C0SUPPORT", ts="1.000001")


async def test_a_button_inside_of_a_container_or_a_card_is_clicked_under_its_own_block(
    workspace: WorkspaceServer, clicks: Clicks
) -> None:
    button = {"type": "button", "action_id": "inner", "text": text("Go")}
    inside = [{"type": "actions", "block_id": "deep", "elements": [button]}]
    in_card = {"type": "card", "block_id": "one", "title": text("Order"), "actions": [button | {"action_id": "own"}]}
    blocks: list[Json] = [
        {"type": "container", "block_id": "outer", "title": text("More"), "child_blocks": inside},
        {"type": "carousel", "block_id": "row", "elements": [in_card]},
    ]
    posted = await clicks.client.chat_postMessage(channel="C0SUPPORT", text="card", blocks=blocks)
    for action_id in ("inner", "own"):
        assert (await workspace.workspace.click("U0EMMA", "C0SUPPORT", posted["ts"], action_id)).ok

    assert [payload["actions"][0]["block_id"] for payload in clicks.payloads] == ["deep", "one"]


@pytest.mark.parametrize(
    "element,value,key,kept",
    [
        ({"type": "multi_users_select"}, ["U0EMMA"], "selected_users", ["U0EMMA"]),
        ({"type": "multi_channels_select"}, ["C0SUPPORT"], "selected_channels", ["C0SUPPORT"]),
        ({"type": "multi_conversations_select"}, ["D0EMMA"], "selected_conversations", ["D0EMMA"]),
        ({"type": "datetimepicker"}, "1764500000", "selected_date_time", 1764500000),
        ({"type": "datepicker"}, "2026-01-31", "selected_date", "2026-01-31"),
        ({"type": "file_input", "max_files": 2}, ["F1"], "files", ["F1"]),
        ({"type": "number_input", "is_decimal_allowed": False}, "3", "value", "3"),
    ],
)
async def test_every_input_has_its_state(
    workspace: WorkspaceServer, clicks: Clicks, element: Json, value: object, key: str, kept: object
) -> None:
    block = {"type": "input", "block_id": "b", "label": text("?"), "element": element | {"action_id": "a"}}
    view = await clicks.open_modal(blocks=[block])
    await workspace.workspace.submit("U0OMAR", view["id"], {"b": {"a": value}})

    assert clicks.payloads[-1]["view"]["state"]["values"]["b"]["a"][key] == kept


async def test_rich_text_is_sent_as_such(workspace: WorkspaceServer, clicks: Clicks) -> None:
    element = {"type": "rich_text_input", "action_id": "a"}
    view = await clicks.open_modal(blocks=[{"type": "input", "block_id": "b", "label": text("?"), "element": element}])
    await workspace.workspace.submit("U0OMAR", view["id"], {"b": {"a": "*so* & so"}})
    value = clicks.payloads[-1]["view"]["state"]["values"]["b"]["a"]["rich_text_value"]

    assert [part["text"] for part in value["elements"][0]["elements"]] == ["so", " & so"]


async def test_a_date_that_is_none_is_no_value(workspace: WorkspaceServer, clicks: Clicks) -> None:
    element = {"type": "datetimepicker", "action_id": "a"}
    view = await clicks.open_modal(blocks=[{"type": "input", "block_id": "b", "label": text("?"), "element": element}])

    with pytest.raises(Refusal, match="invalid_value"):
        await workspace.workspace.submit("U0OMAR", view["id"], {"b": {"a": "tomorrow"}})
