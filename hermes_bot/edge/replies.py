"""Posts what agents answer: `reply.ready`."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from msgspec import structs

from hermes_bot.bus.port import Delivery
from hermes_bot.edge.gate import NOTHING_IN_WORK, NOTICES, Gate
from hermes_bot.edge.poster import Draft, Poster, ThreadGone
from hermes_bot.edge.sessions import Sessions
from hermes_bot.edge.slack_api import SlackApi
from hermes_bot.edge.streaming import Spoken
from hermes_bot.edge.views.feedback import feedback_blocks
from hermes_bot.edge.views.reply import reply_looks
from hermes_bot.errors import PermanentError, SlackRefused, TransientError
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import Audience, Reply, read
from hermes_bot.people import Directory
from hermes_bot.tickets.ticket import Ticket
from hermes_bot.tickets.waits import Render

NOT_THERE = frozenset({"user_not_in_channel", "not_in_channel", "channel_not_found", "is_archived"})
REMEMBERED_DMS = 10_000

log = logging.getLogger(__name__)


class Replies:
    """Brings a reply to those who may see it, and to nobody else."""

    def __init__(
        self,
        poster: Poster,
        api: SlackApi,
        gate: Gate,
        render: Render,
        *,
        directory: Directory,
        sessions: Sessions | None = None,
        stream_from: int = 0,
    ) -> None:
        self._poster = poster
        self._api = api
        self._gate = gate
        self._render = render
        self._sessions = sessions
        self._directory = directory
        self._stream_from = stream_from
        self._dms: dict[str, str] = {}

    async def on_ready(self, message: Message, delivery: Delivery) -> Sequence[Message]:
        """Post the reply in its thread, to its owner's direct messages, or as an ephemeral; or keep it back."""
        reply = read(message, Reply)
        ticket = await self._gate.ticket_of(reply)
        kept = await self._gate.kept(message, reply, ticket)
        if kept is not None:
            return kept
        drafts = _drafts(reply, message)
        if reply.audience is Audience.EPHEMERAL:
            return await self._whisper(reply, drafts, message, delivery)
        if ticket is not None and self._gate.asks_for_thumbs(message, reply, ticket):
            drafts = [*drafts[:-1], self._with_thumbs(drafts[-1], ticket)]
        if ticket is not None and self._streamed(reply, drafts):
            drafts = [replace(drafts[0], spoken=await self._spoken(reply, ticket))]
        if reply.audience is Audience.OWNER:
            outputs = await self._to_owner(reply, drafts, message, delivery)
        else:
            outputs = await self._in_thread(reply, drafts, ticket, message, delivery)
        settled = message.sender not in NOTICES or message.sender == NOTHING_IN_WORK
        if ticket is not None and self._sessions is not None and settled:
            await self._sessions.answered(ticket)
        return [*outputs, *self._gate.after(message, reply, ticket)]

    def _streamed(self, reply: Reply, drafts: Sequence[Draft]) -> bool:
        long = bool(self._stream_from) and len(reply.text) >= self._stream_from
        return long and len(drafts) == 1 and reply.audience is Audience.THREAD and bool(reply.thread_ts)

    async def _spoken(self, reply: Reply, ticket: Ticket) -> Spoken | None:
        """Return before whom the answer appears; None where Slack does not say of which team they are."""
        try:
            person = await self._directory.person(ticket.team, ticket.requester)
        except (PermanentError, TransientError):
            return None
        return Spoken(text=reply.text, user=person.id, team=person.team, since=reply.in_reply_to)

    def _with_thumbs(self, draft: Draft, ticket: Ticket) -> Draft:
        """Return the draft with the question if it helped; in words alone where Slack does not take its buttons."""
        question, buttons = feedback_blocks(ticket, self._render)
        asked = replace(draft.look, blocks=(*draft.look.blocks, question))
        return replace(draft, look=replace(asked, blocks=(*asked.blocks, buttons)), spare=(asked, *draft.spare))

    async def _post(self, drafts: Sequence[Draft], message: Message, delivery: Delivery) -> list[Message]:
        outputs: list[Message] = []
        for draft in drafts:
            outputs += (await self._poster.post(draft, message, delivery)).outputs
        return outputs

    async def _in_thread(
        self, reply: Reply, drafts: Sequence[Draft], ticket: Ticket | None, message: Message, delivery: Delivery
    ) -> list[Message]:
        """Post the drafts where the customer wrote; to them alone where that was deleted, and never beside it."""
        user = reply.user or (ticket.requester if ticket is not None else "")
        deleted = ticket is not None and ticket.source_deleted and not ticket.direct
        if not (deleted and user):
            try:
                return await self._post(drafts, message, delivery)
            except ThreadGone:
                if not user:
                    raise
        log.info("nothing to reply to, told directly", extra={"channel": reply.channel, "ticket_id": reply.ticket_id})
        alone = await self._directly(structs.replace(reply, user=user), drafts)
        return await self._post([replace(each, thread_ts="", spoken=None) for each in alone], message, delivery)

    async def _to_owner(
        self, reply: Reply, drafts: Sequence[Draft], message: Message, delivery: Delivery
    ) -> list[Message]:
        """Show it to its owner directly; in the ticket's thread, to them alone, where Slack lets us write to nobody."""
        try:
            return await self._post(await self._directly(reply, drafts), message, delivery)
        except SlackRefused as error:
            if not reply.channel or reply.channel.startswith("D"):
                raise
            log.warning("no direct message possible", extra={"ticket_id": reply.ticket_id, "error": error.error})
        for draft in drafts:
            await self._poster.whisper(draft, reply.user, delivery)
        return []

    async def _whisper(
        self, reply: Reply, drafts: Sequence[Draft], message: Message, delivery: Delivery
    ) -> list[Message]:
        """Show it to the one person; in their direct messages where they cannot be reached in the channel."""
        if not reply.user:
            raise PermanentError(f"{message.type} {message.id}: an ephemeral reply needs a user")
        if reply.channel:
            try:
                for draft in drafts:
                    await self._poster.whisper(draft, reply.user, delivery)
            except SlackRefused as error:
                if error.error not in NOT_THERE:
                    raise
                log.info("not in the channel, told directly", extra={"channel": reply.channel, "error": error.error})
            else:
                return []
        return await self._post(await self._directly(reply, drafts), message, delivery)

    async def _directly(self, reply: Reply, drafts: Sequence[Draft]) -> list[Draft]:
        """Return the drafts for the person's conversation with the bot; in its thread where the ticket is there."""
        if not reply.user:
            raise PermanentError("a reply for its owner alone needs a user")
        channel = await self._dm(reply.user)
        thread_ts = reply.thread_ts if channel == reply.channel else ""
        return [replace(draft, channel=channel, thread_ts=thread_ts) for draft in drafts]

    async def _dm(self, user: str) -> str:
        if user not in self._dms:
            answer = await self._api.call("conversations.open", users=user)
            if len(self._dms) >= REMEMBERED_DMS:
                self._dms.clear()
            self._dms[user] = str((answer.get("channel") or {}).get("id") or "")
        return self._dms[user]


def _drafts(reply: Reply, message: Message) -> list[Draft]:
    looks = reply_looks(reply, context_id=message.context_id)
    return [
        Draft(
            key=f"reply:{message.id}" if number == 1 else f"reply:{message.id}:{number}",
            channel=reply.channel,
            thread_ts=reply.thread_ts,
            look=look,
            ticket_id=reply.ticket_id,
            in_reply_to=reply.in_reply_to,
        )
        for number, look in enumerate(looks, start=1)
    ]
