"""The page of the local workspace: modals that a real bolt app opens, fills anew and judges."""

from collections.abc import Mapping
from typing import Any

import pytest
from playwright.async_api import FilePayload, expect
from slack_bolt.async_app import AsyncAck
from slack_sdk.web.async_client import AsyncWebClient

from hermes_bot.workspace.server import WorkspaceServer
from tests.browser.kit import Json, button, words
from tests.browser.seat import Seats
from tests.workspace.bot import Bot, running

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

MODAL: Json = {
    "type": "modal",
    "callback_id": "change",
    "title": words("Change the refund"),
    "submit": words("Save"),
    "close": words("Leave"),
    "blocks": [
        {
            "type": "input",
            "block_id": "amount",
            "label": words("Amount"),
            "hint": words("In euros"),
            "element": {"type": "plain_text_input", "action_id": "value", "initial_value": "79.90"},
        },
        {
            "type": "input",
            "block_id": "note",
            "optional": True,
            "label": words("Note"),
            "element": {"type": "plain_text_input", "action_id": "value", "multiline": True},
        },
    ],
}


def serve_modal(bot: Bot, submitted: list[Json], modal: Json = MODAL) -> None:
    """Open the modal at a click on Details; amounts above 100 are refused."""

    async def details(ack: AsyncAck, body: Json, client: AsyncWebClient) -> None:
        await ack()
        await client.views_open(trigger_id=body["trigger_id"], view=modal)

    async def change(ack: AsyncAck, view: Mapping[str, Any]) -> None:
        values = view["state"]["values"]
        if "amount" in values and float(values["amount"]["value"]["value"]) > 100:
            await ack(response_action="errors", errors={"amount": "At most 100, please."})
            return
        await ack()
        submitted.append(values)

    bot.app.action("details")(details)
    bot.app.view(modal["callback_id"])(change)


OPENER: Json = {"type": "actions", "elements": [button("Details")]}


async def test_a_modal_shows_what_is_wrong_with_a_field_and_sends_what_is_right(
    seats: Seats, server: WorkspaceServer
) -> None:
    submitted: list[Json] = []
    async with running(server) as bot:
        serve_modal(bot, submitted)
        await bot.client.chat_postMessage(channel="C0SUPPORT", text="x", blocks=[OPENER])
        seat = await seats.take("U0OMAR", "C0SUPPORT")
        await seat.page.get_by_role("button", name="Details").click()
        amount = seat.modal.get_by_label("Amount")
        await expect(amount).to_have_value("79.90")
        await expect(amount).to_be_focused()
        await expect(amount).to_have_accessible_description("In euros")
        await amount.fill("")
        await seat.modal.get_by_role("button", name="Save").click()
        await expect(seat.modal.get_by_role("alert")).to_have_text("Please fill this in.")
        await amount.fill("120")
        await amount.press("Enter")
        await expect(seat.modal.get_by_role("alert")).to_have_text("At most 100, please.")
        await expect(amount).to_have_attribute("aria-invalid", "true")
        await amount.fill("50")
        await seat.modal.get_by_label("Note").fill("one line\nanother")
        await seat.modal.get_by_role("button", name="Save").click()
        await expect(seat.modal).to_have_count(0)

    assert submitted[0]["amount"]["value"]["value"] == "50"
    assert submitted[0]["note"]["value"]["value"] == "one line\nanother"


async def test_a_modal_keeps_the_focus_waits_for_its_person_and_escape_leaves_it(
    seats: Seats, server: WorkspaceServer
) -> None:
    async with running(server) as bot:
        serve_modal(bot, [])
        await bot.client.chat_postMessage(channel="C0SUPPORT", text="x", blocks=[OPENER])
        seat = await seats.take("U0OMAR", "C0SUPPORT")
        await seat.page.get_by_role("button", name="Details").click()
        await expect(seat.modal).to_be_visible()
        for _ in range(12):
            await seat.page.keyboard.press("Tab")
            assert await seat.page.evaluate(
                "document.activeElement === document.body || !!document.activeElement.closest('dialog')"
            )
        await seats.visit(seat.page, "U0EMMA", "C0SUPPORT")
        await expect(seat.modal).to_have_count(0)
        await seats.visit(seat.page, "U0OMAR", "C0SUPPORT")
        await expect(seat.modal).to_be_visible()
        await seat.page.reload()
        await expect(seat.modal).to_be_visible()
        await seat.page.keyboard.press("Escape")

        await expect(seat.modal).to_have_count(0)
        assert server.workspace.modals("U0OMAR") == []


def asking(label: str, element: Json) -> Json:
    return {"type": "input", "block_id": label.lower(), "label": words(label), "element": {"action_id": "x", **element}}


async def test_every_kind_of_field_is_sent_as_the_app_expects_it(seats: Seats, server: WorkspaceServer) -> None:
    choices = [{"text": words(text), "value": text.lower()} for text in ("Damaged", "Late")]
    fields = [
        asking("Reason", {"type": "static_select", "options": choices}),
        asking("Count", {"type": "number_input", "is_decimal_allowed": False}),
        asking("Day", {"type": "datepicker", "initial_date": "2026-03-01"}),
        asking("Hour", {"type": "timepicker"}),
        asking("Signs", {"type": "checkboxes", "options": choices, "initial_options": choices[:1]}),
        asking("Wish", {"type": "radio_buttons", "options": choices}),
        asking("Labels", {"type": "multi_static_select", "options": choices}),
    ]
    submitted: list[Json] = []
    async with running(server) as bot:
        serve_modal(bot, submitted, MODAL | {"callback_id": "other", "blocks": fields})
        await bot.client.chat_postMessage(channel="C0SUPPORT", text="x", blocks=[OPENER])
        seat = await seats.take("U0OMAR", "C0SUPPORT")
        await seat.page.get_by_role("button", name="Details").click()
        await seat.modal.get_by_label("Reason").select_option("Late")
        await seat.modal.get_by_label("Count").fill("3")
        await seat.modal.get_by_label("Hour").fill("14:30")
        await seat.modal.get_by_role("group", name="Signs").get_by_label("Late").check()
        await seat.modal.get_by_role("button", name="Save").click()
        await expect(seat.modal.get_by_role("alert")).to_have_text(["Please fill this in."] * 2)
        await expect(seat.modal.get_by_role("radio", name="Damaged")).to_be_focused()
        await seat.modal.get_by_role("radiogroup", name="Wish").get_by_label("Damaged").check()
        await seat.modal.get_by_label("Labels").click()
        await seat.page.get_by_role("dialog").last.get_by_label("Late").check()
        await seat.page.keyboard.press("Escape")
        await expect(seat.modal).to_be_visible()
        await seat.modal.get_by_role("button", name="Save").click()
        await expect(seat.modal).to_have_count(0)

    assert submitted[0]["reason"]["x"]["selected_option"]["value"] == "late"
    assert submitted[0]["count"]["x"]["value"] == "3"
    assert submitted[0]["day"]["x"]["selected_date"] == "2026-03-01"
    assert submitted[0]["hour"]["x"]["selected_time"] == "14:30"
    assert [one["value"] for one in submitted[0]["signs"]["x"]["selected_options"]] == ["damaged", "late"]
    assert submitted[0]["wish"]["x"]["selected_option"]["value"] == "damaged"
    assert [one["value"] for one in submitted[0]["labels"]["x"]["selected_options"]] == ["late"]


async def test_a_button_in_a_modal_reaches_the_app_and_what_was_typed_stays(
    seats: Seats, server: WorkspaceServer
) -> None:
    view = MODAL | {"blocks": [*MODAL["blocks"], {"type": "actions", "elements": [button("More")]}]}

    async def more(ack: AsyncAck, body: Json, client: AsyncWebClient) -> None:
        await ack()
        note = {"type": "context", "elements": [words("Here is more")]}
        await client.views_update(view_id=body["view"]["id"], view=MODAL | {"blocks": [*MODAL["blocks"], note]})

    async with running(server) as bot:
        serve_modal(bot, [], view)
        bot.app.action("more")(more)
        await bot.client.chat_postMessage(channel="C0SUPPORT", text="x", blocks=[OPENER])
        seat = await seats.take("U0OMAR", "C0SUPPORT")
        await seat.page.get_by_role("button", name="Details").click()
        await seat.modal.get_by_label("Note").fill("kept")
        await seat.modal.get_by_role("button", name="More").click()

        await expect(seat.modal).to_contain_text("Here is more")
        await expect(seat.modal.get_by_label("Note")).to_have_value("kept")


async def test_a_file_of_a_modal_reaches_the_app_and_nobody_else(seats: Seats, server: WorkspaceServer) -> None:
    fields = [asking("Proof", {"type": "file_input", "filetypes": ["pdf"], "max_files": 2})]
    submitted: list[Json] = []
    async with running(server) as bot:
        serve_modal(bot, submitted, MODAL | {"callback_id": "proof", "blocks": fields})
        await bot.client.chat_postMessage(channel="C0SUPPORT", text="x", blocks=[OPENER])
        seat = await seats.take("U0OMAR", "C0SUPPORT")
        await seat.page.get_by_role("button", name="Details").click()
        form = FilePayload(name="form.pdf", mimeType="application/pdf", buffer=b"%PDF")
        await seat.modal.get_by_label("Proof").set_input_files(form)
        await expect(seat.modal.get_by_role("listitem")).to_contain_text("form.pdf")
        await seat.modal.get_by_role("button", name="Save").click()
        await expect(seat.modal).to_have_count(0)

    (file,) = server.workspace.files.all()
    sent = submitted[0]["proof"]["x"]["files"]
    assert [one if isinstance(one, str) else one["id"] for one in sent] == [file.id]
    assert (file.name, file.content, file.shared_in) == ("form.pdf", b"%PDF", ())
