"""What customers do to the ground that a request rests on: an edit asks anew, a deletion or Stop cancels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import msgspec

from hermes_bot.approvals.access import Access
from hermes_bot.approvals.approvals import Approvals
from hermes_bot.approvals.outputs import settlement
from hermes_bot.approvals.request import ApprovalRequest, ApprovalStatus
from hermes_bot.bus.port import Delivery
from hermes_bot.messages.approval_payloads import DELETED, EDITED, STOPPED
from hermes_bot.messages.message import PRIORITY_USER, Chain, Message
from hermes_bot.messages.payloads import TICKET_CREATED, TICKET_REPLIED, ApprovalRequested, Inbound, read
from hermes_bot.messages.ticket_payloads import Deleted, Edited, Stopped


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The customer's message that a request rests on, as it stands by now; `gone`: they took it back."""

    inbound: Inbound
    changed: bool = False
    gone: bool = False


class Sources(Protocol):
    """Reads what customers wrote."""

    async def of(self, request: ApprovalRequest) -> Source | None:
        """Return the message that the request rests on; None where it is not known."""
        ...

    async def conversation(self, team: str, channel: str, ts: str) -> str:
        """Return the context of the conversation that the customer's message at `ts` is part of; empty if unknown."""
        ...


class Withdrawals:
    """The bus handlers of agent `approvals` for `ticket.edited`, `ticket.deleted` and `agent.stopped`."""

    def __init__(self, approvals: Approvals, access: Access, sources: Sources) -> None:
        self._approvals = approvals
        self._access = access
        self._sources = sources

    async def on_requested(self, message: Message, _delivery: Delivery) -> Sequence[Message]:
        """Cancel a request whose ground was gone before it was made: the customer edited or deleted meanwhile.

        An agent may think for a while. What it answered stands at the head of the message's chain.
        """
        request = await self._approvals.get(read(message, ApprovalRequested).approval_id)
        source = await self._sources.of(request) if request.source_ts else None
        if source is None:
            return []
        if source.gone:
            return await self._cancelled(message, [request], by=request.requested_by, cause=DELETED)
        heard, stands = _squeezed(message.context_chain.text), _squeezed(source.inbound.text)
        if not (source.changed and heard) or heard == stands:
            return []
        outputs = await self._cancelled(message, [request], by=request.requested_by, cause=EDITED)
        return [*outputs, _anew(message, source.inbound)] if outputs else []

    async def on_edited(self, message: Message, _delivery: Delivery) -> Sequence[Message]:
        """Cancel what rests on the message, and give its new words in as the customer's: they are asked for anew."""
        edited = read(message, Edited)
        resting = [each for each in await self._resting(message, edited.ts) if each.requested_by == edited.user]
        outputs = await self._cancelled(message, resting, by=edited.user, team=edited.user_team, cause=EDITED)
        return [*outputs, _anew(message, _heard_anew(edited))] if outputs else []

    async def on_deleted(self, message: Message, _delivery: Delivery) -> Sequence[Message]:
        """Cancel what rests on the message."""
        deleted = read(message, Deleted)
        mine = [
            each
            for each in await self._resting(message, deleted.ts)
            if not deleted.user or each.requested_by == deleted.user
        ]
        return await self._cancelled(message, mine, by=deleted.user, cause=DELETED)

    async def on_stopped(self, message: Message, _delivery: Delivery) -> Sequence[Message]:
        """Cancel what waits in the conversation, if it is theirs who pressed Stop, or they are one who decides.

        In an unthreaded direct message Slack names the message that the work hangs on, as if it began a thread.
        """
        stopped = read(message, Stopped)
        named = await self._sources.conversation(stopped.team, stopped.channel, stopped.thread_ts)
        theirs = [
            each
            for each in await self._approvals.touched_in(named or stopped.conversation, message.id)
            if each.requested_by == stopped.user
            or await self._access.decides(each, team=stopped.team, user=stopped.user)
        ]
        return await self._cancelled(message, theirs, by=stopped.user, team=stopped.team, cause=STOPPED)

    async def _resting(self, message: Message, ts: str) -> Sequence[ApprovalRequest]:
        found = await self._approvals.touched_in(message.context_id, message.id)
        return [each for each in found if _rests_on(each, ts)]

    async def _cancelled(
        self, message: Message, requests: Sequence[ApprovalRequest], *, by: str, cause: str, team: str = ""
    ) -> list[Message]:
        outputs: list[Message] = []
        for each in requests:
            settled = await self._approvals.settle(
                each.id, ApprovalStatus.CANCELLED, by=by, message_id=message.id, cause=cause, team=team
            )
            outputs += settlement(message, settled.request) if settled.won else []
        return outputs


def _rests_on(request: ApprovalRequest, ts: str) -> bool:
    """Return whether the request rests on the message: any of the customer's up to the one that led to it.

    In a thread these are known by their times. In an unthreaded direct message, which goes back for years, it is the
    last one alone. Where no message is known, every one counts.
    """
    if not request.source_ts or ts == request.source_ts:
        return True
    threaded = request.context_id.count(":") > 1
    return threaded and _before(ts, request.source_ts)


def _before(ts: str, other: str) -> bool:
    """Return whether one id of Slack's is earlier than another; they are seconds with six decimals."""
    return (len(ts.partition(".")[0]), ts) < (len(other.partition(".")[0]), other)


def _heard_anew(edited: Edited) -> Inbound:
    """Return the new words as if the customer had just written them, in the same place."""
    return Inbound(
        team=edited.team,
        channel=edited.channel,
        channel_type=edited.channel_type,
        ts=edited.ts,
        user=edited.user,
        text=edited.text,
        user_team=edited.user_team,
        thread_ts=edited.thread_ts,
    )


def _anew(message: Message, inbound: Inbound) -> Message:
    """Return what the customer wrote as a message of its own, at the head of its chain."""
    type_ = TICKET_REPLIED if inbound.thread_ts else TICKET_CREATED
    child = message.child(type_, inbound, priority=PRIORITY_USER)
    return msgspec.structs.replace(child, context_chain=Chain(text=inbound.text))


def _squeezed(text: str) -> str:
    return " ".join(text.split())
