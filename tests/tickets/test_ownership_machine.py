"""Who owns a ticket, whatever people press, write and miss, in whatever order, on the real store."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from hermes_bot.bus.port import Delivery
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import HANDOFF_CLICKED, REPLY_READY, Audience, HandoffClicked, Reply, read
from hermes_bot.messages.ticket_payloads import TICKET_CHANGED, TICKET_DUE, TicketDue
from hermes_bot.people import Person, Roles
from hermes_bot.store.database import Database
from hermes_bot.tickets.journal import TicketJournal
from hermes_bot.tickets.ownership import Ownership
from hermes_bot.tickets.ticket import Owner, Ticket, TicketStatus
from hermes_bot.tickets.tickets import Tickets
from hermes_bot.tickets.timers import Timers
from hermes_bot.tickets.transitions import may_follow
from hermes_bot.tickets.waits import Waits
from tests.stores import sqlite_with_tables
from tests.tickets.conftest import Clock, inbound

TEAM, EMMA = "T0HERMES", "U0EMMA"
STAFF = ("U0OMAR", "U0OLIVIA")
WAITS = Waits(nudge_after_s=100, close_after_s=200, escalate_after_s=300, hold_s=60, on_call=("S0ONCALL",))
Answer = TypeVar("Answer")


class Known:
    """Everybody is who they say."""

    async def person(self, team: str, user: str, *, fresh: bool = False) -> Person:
        return Person(team=team, id=user, name=user)

    async def group_members(self, group: str) -> frozenset[str]:
        return frozenset()


class OwnershipMachine(RuleBasedStateMachine):
    """One ticket; a model of who has it, and the store that must agree with it after every step."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self._runner = asyncio.Runner()
        self.clock = Clock()
        self.number = 0
        self.owner, self.assignee, self.status, self.held = Owner.BOT, "", TicketStatus.NEW, ""
        self.due: list[Message] = []
        self.run(self._opened())

    def run(self, work: Coroutine[Any, Any, Answer]) -> Answer:
        return self._runner.run(work)

    async def _opened(self) -> None:
        self.database = Database(sqlite_with_tables(Path(self._folder.name) / "hermes.db"))
        await self.database.open()
        self.tickets = Tickets(self.database, clock=self.clock, continue_window_s=900)
        people = Known()
        roles = Roles(people, team=TEAM)
        render = lambda language, key, **values: f"{key} {values}"  # noqa: E731 - a text is its key here
        self.ownership = Ownership(self.tickets, roles, people, staff=STAFF, render=render)
        self.timers = Timers(self.tickets, people, waits=WAITS, render=render)

    def teardown(self) -> None:
        self.run(self.database.close())
        self._runner.close()
        self._folder.cleanup()

    @initialize()
    def customer_opens(self) -> None:
        located = self.run(
            self.tickets.locate(inbound(), context_id="T0HERMES:C0SUPPORT:1", message_id="MSG-0", language="en")
        )
        self.id = located.ticket.id

    @property
    def ticket(self) -> Ticket:
        return self.run(self.tickets.get(self.id))

    def press(self, action: str, user: str, **more: str) -> list[Message]:
        """Press a button twice, as Slack may tell it twice: the same follows."""
        body = HandoffClicked(
            ticket_id=self.id, action=action, user=user, team=TEAM, channel="C0HANDOFF", message_ts="1.0", **more
        )
        message = self.message(HANDOFF_CLICKED, body)
        outputs = self.handle(self.ownership.on_clicked, message)
        again = self.handle(self.ownership.on_clicked, message, redelivered=True)
        assert [each.type for each in again] == [each.type for each in outputs]
        return outputs

    def handle(self, handler: Any, message: Message, *, redelivered: bool = False) -> list[Message]:
        delivery = Delivery(message=message, subscription="tickets", agent="tickets", redelivered=redelivered)
        outputs = list(self.run(handler(message, delivery)))
        if not redelivered:
            for changed in (each for each in outputs if each.type == TICKET_CHANGED):
                told = msgspec.structs.replace(changed, id=f"{message.id}-c")
                self.due += self.handle(self.timers.on_changed, told)
        return [each for each in outputs if each.type not in (TICKET_CHANGED, TICKET_DUE)]

    def message(self, type_: str, body: msgspec.Struct) -> Message:
        self.number += 1
        data = msgspec.to_builtins(body)
        return Message(type=type_, sender="slack", context_id="c", id=f"MSG-{self.number}", data=data)

    def model(self, owner: Owner, assignee: str, status: TicketStatus) -> None:
        self.owner, self.assignee, self.status, self.held = owner, assignee, status, ""

    @rule(user=st.sampled_from(STAFF))
    def claims(self, user: str) -> None:
        wins = self.owner is Owner.PENDING_HUMAN
        outputs = self.press("claim", user)
        if wins:
            self.model(Owner.HUMAN, user, TicketStatus.WITH_HUMAN)
        self.told(outputs, customer=wins)

    @rule(user=st.sampled_from(STAFF))
    def takes(self, user: str) -> None:
        wins = self.owner is not Owner.HUMAN
        outputs = self.press("take", user)
        if wins:
            self.model(Owner.HUMAN, user, TicketStatus.WITH_HUMAN)
        self.told(outputs, customer=wins)

    @rule(user=st.sampled_from(STAFF), to=st.sampled_from((*STAFF, EMMA, "U0GONE")))
    def hands_on(self, user: str, to: str) -> None:
        open_ = not self.status.ended
        wins = open_ and to in STAFF and (self.owner, self.assignee) != (Owner.HUMAN, to)
        changes = open_ and to in STAFF and (wins or self.status is not TicketStatus.WITH_HUMAN)
        outputs = self.press("assign", user, value=to)
        if changes:
            self.model(Owner.HUMAN, to, TicketStatus.WITH_HUMAN)
        self.told(outputs, customer=changes)

    @rule(user=st.sampled_from(STAFF), note=st.sampled_from(["", "ask for the invoice"]))
    def returns(self, user: str, note: str) -> None:
        wins = self.owner is Owner.HUMAN
        outputs = self.press("return", user, text=note)
        if wins:
            status = self.status if self.status.ended else TicketStatus.WORKING
            self.model(Owner.BOT, "", status)
            assert self.ticket.handoff_note == note
        self.told(outputs, customer=wins)

    @rule(user=st.sampled_from(STAFF))
    def solves(self, user: str) -> None:
        wins = not self.status.ended and self.status is not TicketStatus.WAITING_APPROVAL
        outputs = self.press("solve", user)
        if wins:
            pending = self.owner is Owner.PENDING_HUMAN
            owner, assignee = (Owner.HUMAN, user) if pending else (self.owner, self.assignee)
            self.model(owner, assignee, TicketStatus.SOLVED)
        self.told(outputs, customer=wins)

    @rule(user=st.sampled_from(STAFF))
    def reopens(self, user: str) -> None:
        wins = self.status.ended
        outputs = self.press("reopen", user)
        if wins:
            self.model(Owner.HUMAN, user, TicketStatus.REOPENED)
        self.told(outputs, customer=wins)

    @rule(action=st.sampled_from(["claim", "take", "return", "solve", "reopen", "assign", "priority", "reply"]))
    def somebody_else_presses(self, action: str) -> None:
        outputs = self.press(action, EMMA, value="high", text="let me")
        self.told(outputs, customer=False)

    @rule()
    def bot_hands_over(self) -> None:
        wins = self.owner is Owner.BOT
        self.number += 1
        tickets = self.tickets.on_behalf(f"MSG-{self.number}", "handoff")
        for _ in range(2):
            self.run(tickets.hand_to_human(self.id, reason="asked", summary="wants a person"))
        if wins:
            self.model(Owner.PENDING_HUMAN, self.assignee, TicketStatus.WITH_HUMAN)

    @rule(status=st.sampled_from(list(TicketStatus)))
    def bot_reports(self, status: TicketStatus) -> None:
        self.run(self.tickets.update(self.id, status=status))
        if self.owner is Owner.BOT and may_follow(self.status, status):
            self.status = status

    @rule(user=st.sampled_from(STAFF))
    def staff_writes_in_the_bots_thread(self, user: str) -> None:
        self.number += 1
        tickets = self.tickets.on_behalf(f"MSG-{self.number}", "entry")
        held = {"held_by": user, "hold_id": f"MSG-{self.number}"}
        moved = self.run(
            tickets.change(self.id, held, only_when=lambda now: now.owner is Owner.BOT and not now.held_by)
        )
        assert moved.won == (self.owner is Owner.BOT and not self.held)
        if moved.won:
            self.held = user
            body = TicketDue(ticket_id=self.id, what="hold", key=f"MSG-{self.number}")
            self.due.append(self.message(TICKET_DUE, body))

    @precondition(lambda self: self.held)
    @rule(take=st.booleans(), right=st.booleans())
    def says_what_was_meant(self, take: bool, right: bool) -> None:
        user = self.held if right else next(each for each in STAFF if each != self.held)
        outputs = self.press("hold_take" if take else "hold_once", user)
        if take and self.owner is Owner.BOT:
            self.model(Owner.HUMAN, user, TicketStatus.WITH_HUMAN)
            self.told(outputs, customer=True)
        elif not take and right:
            self.held = ""

    @precondition(lambda self: self.due)
    @rule(data=st.data())
    def time_comes(self, data: st.DataObject) -> None:
        due = self.due.pop(data.draw(st.integers(0, len(self.due) - 1)))
        what = read(due, TicketDue)
        self.clock.forward(1)
        before = self.ticket
        self.number += 1
        self.handle(self.timers.on_due, msgspec.structs.replace(due, id=f"MSG-{self.number}"))
        if what.what == "hold" and before.held_by and before.hold_id == what.key and before.owner is Owner.BOT:
            self.model(Owner.HUMAN, before.held_by, TicketStatus.WITH_HUMAN)
        if what.what == "close" and before.status is TicketStatus.WAITING_CUSTOMER and before.turn == what.turn:
            self.model(Owner.BOT, self.assignee, TicketStatus.CLOSED)

    @rule()
    def restarts(self) -> None:
        self.run(self.database.close())
        self.run(self._opened())

    def told(self, outputs: Sequence[Message], *, customer: bool) -> None:
        """The customer hears of what happened, or the one who pressed hears alone why it did not."""
        replies = [read(each, Reply) for each in outputs if each.type == REPLY_READY]
        public = [each for each in replies if each.audience is Audience.THREAD]
        assert bool(public) == customer, [each.text for each in replies]
        assert customer or any(each.audience is Audience.EPHEMERAL for each in replies)

    @invariant()
    def the_store_agrees(self) -> None:
        if not hasattr(self, "id"):
            return
        now = self.ticket
        assert (now.owner, now.status, now.held_by) == (self.owner, self.status, self.held)
        assert now.owner is not Owner.HUMAN or now.assignee == self.assignee
        assert now.owner is Owner.BOT or not now.held_by

    @invariant()
    def the_journal_tells_the_way(self) -> None:
        if not hasattr(self, "id"):
            return
        history = self.run(TicketJournal.of(self.tickets).history(self.id))
        was: dict[str, str] = {"status": TicketStatus.NEW.value, "owner": Owner.BOT.value}
        for entry in history:
            if entry.what in was:
                assert entry.was == was[entry.what]
                was[entry.what] = entry.now
            if entry.what == "status":
                assert may_follow(TicketStatus(entry.was), TicketStatus(entry.now))
        assert was == {"status": self.status.value, "owner": self.owner.value}


TestOwnership = OwnershipMachine.TestCase
TestOwnership.settings = settings(
    max_examples=25, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
)
