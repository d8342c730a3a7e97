"""A state machine over approvals, in the real store: whatever people press, in whichever order, and whenever it dies.

The machine plays the bus (it delivers again what was not acknowledged) and the edge (it draws the card, or fails to).
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Coroutine, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from hermes_bot.approvals.approvals import Approvals
from hermes_bot.approvals.audit_log import AuditLog
from hermes_bot.approvals.clicks import ApprovalDesk
from hermes_bot.approvals.request import ApprovalRequest, ApprovalStatus
from hermes_bot.approvals.withdrawals import Withdrawals
from hermes_bot.errors import PermanentError
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import APPROVAL_REQUESTED, EDGE, ApprovalRequested
from hermes_bot.messages.ticket_payloads import TICKET_DELETED, TICKET_EDITED, Deleted, Edited
from hermes_bot.store.database import Database
from tests.approvals.kit import (
    ADA,
    EMMA,
    LIFETIME_S,
    OLIVIA,
    OMAR,
    TEAM,
    Clock,
    People,
    Words,
    access_for,
    approvals_in,
    ask,
    changes_for,
    click,
    delivery,
    desk_for,
    edit,
    message,
    press,
    question,
)
from tests.stores import sqlite_with_tables

Answer = TypeVar("Answer")

DECIDERS = (OMAR, OLIVIA, ADA)
EVERYBODY = st.sampled_from((*DECIDERS, EMMA, "U0GUEST", "U0GONE", "U0ODD", "U0NOBODY"))
DECISIONS = st.sampled_from(("approve", "approve", "reject"))


class ApprovalMachine(RuleBasedStateMachine):
    """One request from its card to its end, and what must hold at every moment."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = tempfile.TemporaryDirectory()
        self.clock, self.people = Clock(), People()
        self.database = Database(sqlite_with_tables(Path(self.folder.name) / "hermes.db"))
        self.resumed: dict[str, str] = {}
        self.seen: list[tuple[Message, str]] = []
        self.drawn: ApprovalRequest | None = None
        self.redraw_due = False
        self.voters: dict[int, set[str]] = {}

    def run(self, work: Coroutine[Any, Any, Answer]) -> Answer:
        return self.loop.run_until_complete(work)

    @initialize(level=st.sampled_from(("L2", "L3", "L?")))
    def it_is_asked_for(self, level: str) -> None:
        self.run(self._open())
        self.first = self.run(ask(self.approvals, level=level))
        self.cards = [self.first]
        asked = message(APPROVAL_REQUESTED, ApprovalRequested(approval_id=self.first.id))
        self.timer = self.run(self.desk.on_requested(asked, delivery(asked)))[0]
        self.drawn = self.first

    async def _open(self) -> None:
        await self.database.open()
        self.approvals: Approvals = approvals_in(self.database, self.clock)
        self.desk: ApprovalDesk = desk_for(self.approvals, self.people, DECIDERS)

    @property
    def now(self) -> ApprovalRequest:
        return self.run(self.approvals.get(self.first.id))

    @rule(user=EVERYBODY, decision=DECISIONS, card=st.integers(0, 9))
    def somebody_presses_a_card_old_or_new(self, user: str, decision: str, card: int) -> None:
        shown = self.cards[card % len(self.cards)]
        before = self.now
        pressed = click(shown, user, decision)
        self._take(pressed, self.run(press(self.desk, pressed)), "click")
        after = self.now
        if after.status is not before.status:
            assert shown.shown_hash == before.shown_hash
            assert user in DECIDERS or after.status is ApprovalStatus.EXPIRED

    @rule(users=st.lists(EVERYBODY, min_size=2, max_size=4), decision=DECISIONS)
    def several_press_at_once(self, users: list[str], decision: str) -> None:
        clicks = [click(self.now, user, decision) for user in users]

        async def together() -> list[list[Message]]:
            return list(await asyncio.gather(*(press(self.desk, pressed) for pressed in clicks)))

        for pressed, outputs in zip(clicks, self.run(together()), strict=True):
            self._take(pressed, outputs, "click")

    @precondition(lambda self: self.seen)
    @rule(which=st.integers(0, 99))
    def something_is_delivered_again(self, which: int) -> None:
        again, kind = self.seen[which % len(self.seen)]
        handler = {
            "click": self.desk.on_clicked,
            "expiry": self.desk.on_expired,
            "edit": changes_for(self.approvals, self.people).on_edited,
            "changed": Withdrawals(self.approvals, access_for(self.people), Words()).on_edited,
        }[kind]
        before, version = self.now.status, self.now.version
        self._take(again, self.run(handler(again, delivery(again))), kind)
        if before is not ApprovalStatus.PENDING:
            assert self.now.status is before
        assert self.now.version == version

    @rule(user=EVERYBODY, cents=st.integers(1, 6000))
    def somebody_edits_it(self, user: str, cents: int) -> None:
        before = self.now
        submitted = edit(before, user, amount_cents=str(cents))
        outputs = self.run(changes_for(self.approvals, self.people).on_edited(submitted, delivery(submitted)))
        self._take(submitted, outputs, "edit")
        after = self.now
        if after.version != before.version:
            assert user in DECIDERS
            assert (after.votes, after.version) == ((), before.version + 1)
            assert after.shown_hash != before.shown_hash
            self.cards.append(after)

    @rule(user=EVERYBODY)
    def somebody_asks_the_customer(self, user: str) -> None:
        asked = question(self.now, user, "Which colour?")
        outputs = self.run(changes_for(self.approvals, self.people).on_asked(asked, delivery(asked)))
        self._drawn_by(outputs)

    @rule(words=st.sampled_from(("Blue", "No idea")), number=st.integers(1, 5))
    def the_customer_answers(self, words: str, number: int) -> None:
        self.run(self.approvals.answer("T-1", by=EMMA, message_id=f"MSG-answer-{number}", text=words))

    @rule(ts=st.sampled_from(("1.1", "1.2")), user=st.sampled_from((EMMA, "U0OTHER")))
    def somebody_edits_a_message(self, ts: str, user: str) -> None:
        body = Edited(team=TEAM, channel="C0SUPPORT", ts=ts, user=user, text="something else")
        changed = message(TICKET_EDITED, body)
        withdrawals = Withdrawals(self.approvals, access_for(self.people), Words())
        was_open = self.now.pending
        self._take(changed, self.run(withdrawals.on_edited(changed, delivery(changed))), "changed")
        if was_open and (ts, user) == ("1.1", EMMA):
            assert self.now.status is ApprovalStatus.CANCELLED

    @rule()
    def the_customer_deletes_the_message(self) -> None:
        gone = message(TICKET_DELETED, Deleted(team=TEAM, channel="C0SUPPORT", ts="1.1", user=EMMA))
        withdrawals = Withdrawals(self.approvals, access_for(self.people), Words())
        self._take(gone, self.run(withdrawals.on_deleted(gone, delivery(gone))), "")
        assert not self.now.pending

    @rule(hours=st.sampled_from((0.1, 0.6, 2.0)))
    def time_passes(self, hours: float) -> None:
        self.clock.now += timedelta(hours=hours)
        if self.clock.now >= self.first.expires_at:
            self._take(self.timer, self.run(self.desk.on_expired(self.timer, delivery(self.timer))), "expiry")
            assert not self.now.pending

    @rule()
    def it_dies_and_starts_again(self) -> None:
        self.run(self.database.close())
        self.database = Database(self.database.url)
        self.run(self._open())

    @rule(down=st.booleans())
    def slack_goes_or_comes_back(self, down: bool) -> None:
        self.people.down = down

    @precondition(lambda self: self.redraw_due)
    @rule(fails=st.booleans())
    def the_card_is_drawn_or_not(self, fails: bool) -> None:
        if not fails:
            self.drawn, self.redraw_due = self.now, False

    def _take(self, handled: Message, outputs: Sequence[Message], kind: str) -> None:
        """Do what the bus does with the outputs, and remember the message for another delivery."""
        if kind:
            self.seen.append((handled, kind))
        for output in outputs:
            if output.recipient == "refund":
                self.resumed.setdefault(handled.id, output.data["status"])
        self._drawn_by(outputs)

    def _drawn_by(self, outputs: Sequence[Message]) -> None:
        self.redraw_due |= any(output.recipient == EDGE for output in outputs)

    @invariant()
    def the_agent_is_resumed_by_one_message_with_what_the_store_says(self) -> None:
        if not hasattr(self, "first"):
            return
        assert len(self.resumed) <= 1
        for message_id, status in self.resumed.items():
            assert (self.now.settle_message_id, self.now.status.value) == (message_id, status)
        if not self.now.pending:
            assert self.resumed

    @invariant()
    def what_may_run_is_what_was_approved_by_as_many_as_it_takes(self) -> None:
        if not hasattr(self, "first"):
            return
        request = self.now
        voters = {vote.user for vote in request.votes}
        assert voters <= set(DECIDERS)
        if request.status is not ApprovalStatus.APPROVED:
            try:
                self.run(self.approvals.approved_arguments(request.id))
            except PermanentError:
                return
            raise AssertionError(f"{request.status} may run")
        assert self.run(self.approvals.approved_arguments(request.id)) == request.arguments
        assert len(voters) >= request.needed >= (1 if request.level == "L2" else 2)
        assert voters - {request.edited_by}
        assert request.requested_by not in voters
        assert request.settled_at is not None
        assert (request.settled_at - request.created_at).total_seconds() <= LIFETIME_S

    @invariant()
    def a_card_that_shows_something_old_is_due_to_be_drawn(self) -> None:
        if not hasattr(self, "first") or self.drawn is None:
            return
        now, drawn = self.now, self.drawn
        same = (now.status, now.version, now.votes) == (drawn.status, drawn.version, drawn.votes)
        assert same or self.redraw_due

    def teardown(self) -> None:
        if hasattr(self, "first"):
            verdict = self.run(AuditLog(self.database).verify())
            rows = self.run(AuditLog(self.database).export(subject=self.first.id))
            assert verdict.whole, verdict.problem
            ends = [row.action for row in rows if row.action in set(ApprovalStatus)]
            assert ends == ([] if self.now.pending else [self.now.status.value])
            self.run(self.database.close())
        self.loop.close()
        self.folder.cleanup()


TestApprovals = ApprovalMachine.TestCase
TestApprovals.settings = settings(
    max_examples=25,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
