"""Forgetting beside everything else that is open: approvals that wait, a log that is written to."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from hermes_bot import settings
from hermes_bot.app.build import opened
from hermes_bot.app.forgetting import Forgetting, mask
from hermes_bot.approvals.audit_log import AuditLog
from hermes_bot.approvals.request import ApprovalStatus, NewRequest
from hermes_bot.memory.owner import PersonOwner
from hermes_bot.messages.message import utc_now
from hermes_bot.messages.payloads import Inbound


async def test_an_approval_that_waits_is_withdrawn_and_the_audit_still_holds(tmp_path: Path) -> None:
    loaded = settings.load(None, {"HERMES_DATA__PATH": str(tmp_path)}, folder=tmp_path)
    async with opened(loaded, utc_now) as stores:
        inbound = Inbound(
            team="T1", channel="C1", channel_type="channel", ts="1.1", user="U1", text="Refund me, I am zqmarker"
        )
        located = await stores.tickets.locate(inbound, context_id="T1:C1:1.1", message_id="MSG-1", language="en")
        new = NewRequest(
            key="k", ticket_id=located.ticket.id, context_id="T1:C1:1.1", requested_by="U1", agent="refund",
            tool="issue_refund", level="L2", arguments={"order_id": "10001", "reason": "zqmarker"},
            title="Refund zqmarker", shown=[("Reason", "zqmarker")], trace_id="",
        )  # fmt: skip
        request = await stores.approvals.request(new)
        forgetting = Forgetting(loaded, stores, None, utc_now)

        forgotten = await forgetting.forget(PersonOwner("T1", "U1"))
        settled = await stores.approvals.get(request.id)
        verified = await AuditLog(stores.database).verify()
        assert (forgotten.counts["withdrawn"], forgotten.left) == (1, 0)
        assert (settled.status, settled.cause, settled.title) == (ApprovalStatus.CANCELLED, "forgotten", "")
        assert verified.whole, verified
        assert (await stores.tickets.get(located.ticket.id)).subject == ""
    left = await asyncio.to_thread(
        lambda: [file.name for file in tmp_path.rglob("*.db*") if b"zqmarker" in file.read_bytes()]
    )
    assert left == []


@pytest.mark.parametrize("text", ["My name is Ünal and I live in Köln", "order"])
def test_words_in_a_log_are_starred_out_while_it_is_written_to(tmp_path: Path, text: str) -> None:
    log = tmp_path / "hermes.log"
    lines = [{"text": text, "type": "ticket.order"}, {"text": "other words"}]
    with log.open("a", encoding="utf-8") as writer:
        for escaped in (True, False):
            writer.write("".join(json.dumps(line, ensure_ascii=escaped) + "\n" for line in lines))
        writer.flush()
        mask(log, {text})
        writer.write('{"text": "later"}\n')

    found = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert [set(line["text"]) == {"*"} for line in found] == [True, False, True, False, False]
    assert found[0]["type"] == "ticket.order"
    assert found[-1] == {"text": "later"}
