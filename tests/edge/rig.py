"""The edge connected to a real local workspace; the bus is played by the test, which delivers and redelivers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic
from typing import Any

from agents.texts import load_texts
from hermes_bot.approvals.approvals import Approvals
from hermes_bot.approvals.request import ApprovalRequest, NewRequest
from hermes_bot.approvals.rules import ApprovalRules
from hermes_bot.bus.port import Delivery
from hermes_bot.edge.channels import ChannelPolicy
from hermes_bot.edge.directory import SlackDirectory
from hermes_bot.edge.edge import Desk, Doors, SlackEdge
from hermes_bot.edge.pacing import Pacing
from hermes_bot.edge.posts import Posts
from hermes_bot.edge.slack_api import SlackApi, web_client
from hermes_bot.errors import BusFull, NotYet, TransientError
from hermes_bot.messages.message import Message, utc_now
from hermes_bot.messages.payloads import REPLY_READY, Audience, Inbound, Reply, fields_of
from hermes_bot.store.database import Database
from hermes_bot.tickets.ticket import Ticket
from hermes_bot.tickets.tickets import Tickets
from hermes_bot.tools import refund_tools
from hermes_bot.workspace.server import WorkspaceServer
from tests.stores import opened, sqlite_with_tables

POLICY = ChannelPolicy(handoff_channel="C0HANDOFF")
APPROVERS = ("S0APPROVERS",)
RULES = ApprovalRules(approvers=APPROVERS)
TEXTS = load_texts(Path(__file__).parents[2] / "configs" / "texts")


class Rig:
    """What a test holds: the workspace's server, the edge, its stores, and what the edge published."""

    edge: SlackEdge

    def __init__(self, server: WorkspaceServer, database: Database, bot_token: str = "") -> None:
        self.server = server
        self.skipped_s, self.hurry = 0.0, 1.0  # pacing's time: what it is ahead, and how many times as fast it runs
        self.api = SlackApi(
            web_client(bot_token or server.world.app.bot_token, server.api_url),
            limit_s=3.0,
            pacing=Pacing(steady=lambda: monotonic() * self.hurry + self.skipped_s),
        )
        self.posts = Posts(database, clock=utc_now)
        self.tickets = Tickets(database, clock=utc_now, continue_window_s=900)
        self.approvals = Approvals(database, clock=utc_now, expires_after_s=3_600)
        self.published: list[Message] = []
        self.failures = 0
        self.to_fail = 0

    async def publish(self, message: Message) -> None:
        """Take the message, or refuse it as a full bus does."""
        self.server.workspace.feed.wake()
        if self.to_fail > 0:
            self.to_fail -= 1
            self.failures += 1
            raise BusFull("entry", 1)
        self.published.append(message)

    async def heard(self, count: int) -> list[Message]:
        """Return the published messages once there are `count`."""
        await self.server.workspace.wait_for(lambda: len(self.published) >= count)
        return self.published

    async def deliver(self, message: Message, *, attempt: int = 1, redelivered: bool = False) -> Sequence[Message]:
        """Run the handler once."""
        delivery = Delivery(
            message=message,
            subscription=f"slack:{message.type}",
            agent="slack",
            attempt=attempt,
            redelivered=redelivered,
        )
        return await self.edge.handlers()[message.type](message, delivery)

    async def delivered(self, message: Message, *, attempts: int = 6) -> Sequence[Message]:
        """Run the handler until it succeeds, as the bus would, without its waits; for pacing that time is over."""
        attempt, redelivered = 1, False
        while True:
            try:
                return await self.deliver(message, attempt=attempt, redelivered=redelivered)
            except NotYet as error:
                self.skipped_s += error.wait_s
            except TransientError:
                attempt += 1
                if attempt > attempts:
                    raise
            redelivered = True

    async def ticket(self, *, user: str = "U0EMMA", channel: str = "C0SUPPORT", text: str = "help me") -> Ticket:
        """Return a new ticket for something that the person really posts."""
        ts = await self.server.workspace.post(user, channel, text)
        direct = channel.startswith("D")
        inbound = Inbound(
            team="T0HERMES",
            channel=channel,
            channel_type="im" if direct else "channel",
            ts=ts,
            user=user,
            text=text,
        )
        context_id = f"T0HERMES:{channel}" if direct else f"T0HERMES:{channel}:{ts}"
        located = await self.tickets.locate(inbound, context_id=context_id, message_id=f"MSG-{ts}", language="en")
        return located.ticket

    async def approval(self, ticket: Ticket, **changes: Any) -> ApprovalRequest:
        """Return a pending request to refund something."""
        given: dict[str, Any] = {
            "key": f"key:{ticket.id}",
            "ticket_id": ticket.id,
            "context_id": ticket.context_id,
            "requested_by": ticket.requester,
            "agent": "refund",
            "tool": "issue_refund",
            "level": "L2",
            "arguments": {"order": 1001},
            "title": "Refund 30.00 EUR for order 1001",
            "shown": [("Order", "1001"), ("Reason", "broken & <late>")],
            "trace_id": "0" * 32,
        }
        return await self.approvals.request(NewRequest(**given | changes))

    def thread(self, channel: str, ts: str) -> list[dict[str, Any]]:
        """Return the replies in a thread, without their parent."""
        return self.server.workspace.messages(channel, ts)[1:]

    def root(self, channel: str) -> list[dict[str, Any]]:
        """Return the channel's messages outside of threads."""
        return self.server.workspace.messages(channel)


def reply_message(reply: Reply, *, context_id: str = "T0HERMES:C0SUPPORT:1") -> Message:
    return Message(type=REPLY_READY, sender="order", context_id=context_id, data=fields_of(reply))


def reply_to(ticket: Ticket, text: str, **more: Any) -> Message:
    """Return a reply in the ticket's thread."""
    reply = Reply(
        ticket_id=ticket.id,
        channel=ticket.channel,
        thread_ts=ticket.thread_ts,
        text=text,
        in_reply_to=ticket.thread_ts,
        **more,
    )
    return reply_message(reply, context_id=ticket.context_id)


def owner_only(ticket: Ticket, text: str, audience: Audience = Audience.OWNER, **more: Any) -> Message:
    return reply_to(ticket, text, audience=audience, user=ticket.requester, **more)


def buttons(message: dict[str, Any]) -> list[str]:
    """Return the labels of a message's buttons."""
    rows = [block for block in message.get("blocks") or () if block["type"] == "actions"]
    elements = [element for block in rows for element in block["elements"]]
    return [element["text"]["text"] for element in elements if element["type"] == "button"]


@asynccontextmanager
async def unstarted(
    server: WorkspaceServer,
    folder: Path,
    *,
    policy: ChannelPolicy = POLICY,
    doors: Doors | None = None,
    bot_token: str = "",
    rules: ApprovalRules = RULES,
    stream_from: int = 0,
    **more: Any,
) -> AsyncIterator[Rig]:
    """An edge that knows where Slack is, and has not spoken to it yet."""
    app = server.world.app
    async with opened(sqlite_with_tables(folder / "edge.db")) as database:
        rig = Rig(server, database, bot_token)
        rig.edge = SlackEdge(
            rig.api,
            Desk(
                directory=SlackDirectory(rig.api, clock=utc_now),
                tickets=rig.tickets,
                approvals=rig.approvals,
                posts=rig.posts,
                render=TEXTS.render,
                tool_of={refund_tools.issue_refund.name: refund_tools.issue_refund}.get,
                stream_from=stream_from,
            ),
            lambda message: rig.publish(message),  # looked up late: a test may look on
            doors=doors or Doors(app_token=app.app_token, ping_interval_s=0.2),
            policy=policy,
            rules=rules,
            clock=utc_now,
            **more,
        )
        try:
            yield rig
        finally:
            await rig.edge.stop()


@asynccontextmanager
async def connected(server: WorkspaceServer, folder: Path, **more: Any) -> AsyncIterator[Rig]:
    """An edge that listens."""
    async with unstarted(server, folder, **more) as rig:
        await rig.edge.start()
        yield rig
