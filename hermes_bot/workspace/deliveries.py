"""Envelopes on their way over Socket Mode: waiting for an ack, sent again after 0 s, 60 s and 300 s, held in a gap.

At least once: a redelivery keeps its envelope_id and event_id, an ack counts from whichever
socket it comes, an ack after the limit does not stop the next try. Interactions are tried once.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from hermes_bot.workspace.ack_faults import AckFaults
from hermes_bot.workspace.clock import Clock, Timer, within
from hermes_bot.workspace.ids import Ids
from hermes_bot.workspace.posts import Json
from hermes_bot.workspace.refusal import Refusal

ACK_LIMIT_S = 3.0
RETRY_AFTER_S = (0.0, 60.0, 300.0)
_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """One try of one envelope, for tests to look at."""

    envelope_id: str
    event_id: str
    attempt: int
    at: float


@dataclass(slots=True, kw_only=True)
class _Envelope:
    frame: Json
    attempt: int = 0
    timer: Timer | None = None
    on_its_way: bool = False


class Deliveries:
    """The envelopes that are not settled. `push` gives a frame to some socket and returns False when there is none."""

    def __init__(
        self, clock: Clock, ids: Ids, push: Callable[[Json], bool], wake: Callable[[], None], faults: AckFaults
    ) -> None:
        self._clock = clock
        self._ids = ids
        self._push = push
        self._wake = wake
        self.faults = faults
        self._open: dict[str, _Envelope] = {}
        self._held: deque[_Envelope] = deque()
        self._answers: dict[str, asyncio.Future[Json]] = {}
        self.sent: deque[Sent] = deque(maxlen=_REMEMBERED)
        self.lost: deque[Json] = deque(maxlen=_REMEMBERED)
        self.late_acks = 0

    def unsettled(self) -> int:
        """Return how many events are neither acknowledged nor given up."""
        return len(self._open)

    def undelivered(self) -> list[Json]:
        """Return the bodies of those events."""
        return [envelope.frame["payload"] for envelope in self._open.values()]

    def send_event(self, body: Json) -> None:
        """Deliver an event until it is acknowledged or three retries have failed."""
        frame: Json = {
            "envelope_id": self._ids.next("env-"),
            "type": "events_api",
            "accepts_response_payload": False,
            "payload": body,
            "retry_attempt": 0,
            "retry_reason": "",
        }
        envelope = _Envelope(frame=frame)
        self._open[frame["envelope_id"]] = envelope
        self._try(envelope)

    async def send_interaction(self, payload: Json, *, answerable: bool) -> Json:
        """Deliver an interaction once and return the payload of its ack; raise Refusal when none came in time."""
        return await self._ask("interactive", payload, answerable=answerable)

    async def send_command(self, payload: Json) -> Json:
        """Deliver a slash command in the same way."""
        return await self._ask("slash_commands", payload, answerable=True)

    async def _ask(self, kind: str, payload: Json, *, answerable: bool) -> Json:
        envelope_id = self._ids.next("env-")
        frame = {
            "envelope_id": envelope_id,
            "type": kind,
            "accepts_response_payload": answerable,
            "payload": payload,
        }
        answer: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._answers[envelope_id] = answer
        try:
            if not self._push(frame):
                raise Refusal("no_connection")
            return await within(self._clock, ACK_LIMIT_S, answer)
        except TimeoutError as error:
            raise Refusal("not_acknowledged") from error
        finally:
            del self._answers[envelope_id]

    def ack(self, envelope_id: str, payload: Json) -> None:
        """Take an ack from whichever socket, unless a test lets it get lost or come late."""
        envelope = self._open.get(envelope_id)
        fault = self.faults.take(envelope.frame["payload"].get("event_id", "") if envelope is not None else "")
        if fault is None:
            self._settle(envelope_id, payload)
        elif fault.delay_s is not None:
            self._clock.call_later(fault.delay_s, lambda: self._settle(envelope_id, payload))
        self._wake()

    def _settle(self, envelope_id: str, payload: Json) -> None:
        """Settle the envelope, if it is waited for just now."""
        answer = self._answers.get(envelope_id)
        if answer is not None and not answer.done():
            answer.set_result(payload)
        envelope = self._open.get(envelope_id)
        if envelope is not None and envelope.on_its_way:
            if envelope.timer is not None:
                envelope.timer.cancel()
            del self._open[envelope_id]
        elif answer is None:
            self.late_acks += 1
        self._wake()

    def resume(self) -> None:
        """Send what was held while no socket was connected."""
        held, self._held = self._held, deque()
        for envelope in held:
            self._try(envelope)

    def returned(self, frame: Json) -> None:
        """Take back a frame that its socket never wrote, and give it to another; it does not count as a try."""
        envelope = self._open.get(frame["envelope_id"])
        if envelope is not None and envelope.on_its_way:
            if envelope.timer is not None:
                envelope.timer.cancel()
            self._try(envelope)

    def close(self) -> None:
        """Give everything up, because the workspace stops."""
        for envelope in self._open.values():
            if envelope.timer is not None:
                envelope.timer.cancel()
        self._open.clear()
        self._held.clear()
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(Refusal("no_connection"))

    def _try(self, envelope: _Envelope) -> None:
        envelope.on_its_way = self._push(envelope.frame)
        if not envelope.on_its_way:
            self._held.append(envelope)
            return
        event_id = envelope.frame["payload"].get("event_id", "")
        envelope_id = envelope.frame["envelope_id"]
        self.sent.append(
            Sent(envelope_id=envelope_id, event_id=event_id, attempt=envelope.attempt, at=self._clock.now())
        )
        envelope.timer = self._clock.call_later(ACK_LIMIT_S, lambda: self._timed_out(envelope))

    def _timed_out(self, envelope: _Envelope) -> None:
        envelope.on_its_way = False
        if envelope.attempt == len(RETRY_AFTER_S):
            del self._open[envelope.frame["envelope_id"]]
            self.lost.append(envelope.frame["payload"])
            self._wake()
            return
        delay_s = RETRY_AFTER_S[envelope.attempt]
        envelope.attempt += 1
        envelope.frame = envelope.frame | {"retry_attempt": envelope.attempt, "retry_reason": "timeout"}
        envelope.timer = self._clock.call_later(delay_s, lambda: self._try(envelope))
        self._wake()
