"""Ties the edge together: who the bot is, the two doors, and the handlers for what goes out to Slack."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

import aiohttp

from hermes_bot.approvals.rules import ApprovalRules
from hermes_bot.bus.port import Delivery, Handler
from hermes_bot.edge.alarms import AlarmPosts
from hermes_bot.edge.approval_cards import ApprovalCards
from hermes_bot.edge.approval_clicks import approval_concern
from hermes_bot.edge.card_place import CardPlace
from hermes_bot.edge.cards import CardTable
from hermes_bot.edge.channels import ChannelPolicy, resolved
from hermes_bot.edge.choice_clicks import choice_concern
from hermes_bot.edge.concerns import Concern, Concerns
from hermes_bot.edge.desk import Desk as Desk
from hermes_bot.edge.desk import Doors as Doors
from hermes_bot.edge.handoff_clicks import handoff_concern
from hermes_bot.edge.home_clicks import home_concern
from hermes_bot.edge.http_door import HttpDoor, Probes
from hermes_bot.edge.inbound import Bot
from hermes_bot.edge.listeners import Listeners, Publish
from hermes_bot.edge.painter import Painter
from hermes_bot.edge.poster import Poster
from hermes_bot.edge.proposal_cards import ProposalCards
from hermes_bot.edge.proposal_clicks import proposal_concern
from hermes_bot.edge.reactions import Reactions
from hermes_bot.edge.responder import Responder
from hermes_bot.edge.sessions import Sessions
from hermes_bot.edge.slack_api import SlackApi
from hermes_bot.edge.slack_app import SlackApp
from hermes_bot.edge.slack_errors import TokenRefused
from hermes_bot.edge.socket_mode import SocketDoor
from hermes_bot.edge.surface_side import SURFACE_TYPES, SurfaceSide
from hermes_bot.edge.ticket_side import ticket_handlers
from hermes_bot.errors import TransientError
from hermes_bot.messages.approval_payloads import APPROVAL_ANSWERED, APPROVAL_CHANGED, APPROVAL_REMINDED
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import (
    ALARM_RAISED,
    APPROVAL_REQUESTED,
    APPROVAL_SETTLED,
    EDGE,
    HANDOFF_CHANGED,
    HANDOFF_NOTED,
    HANDOFF_REQUESTED,
    POST_CHECK,
    PROPOSAL_MADE,
    PROPOSAL_SETTLED,
    REPLY_READY,
)
from hermes_bot.messages.ticket_payloads import TICKET_CARD

FIRST_WAIT_S, LONGEST_WAIT_S = 1.0, 30.0
SESSION_LIMIT_S = 30.0
DRAIN_LIMIT_S = 3.0

TYPES = (
    REPLY_READY,
    APPROVAL_REQUESTED,
    APPROVAL_SETTLED,
    APPROVAL_CHANGED,
    APPROVAL_REMINDED,
    APPROVAL_ANSWERED,
    HANDOFF_REQUESTED,
    HANDOFF_CHANGED,
    HANDOFF_NOTED,
    TICKET_CARD,
    ALARM_RAISED,
    PROPOSAL_MADE,
    PROPOSAL_SETTLED,
    POST_CHECK,
    *SURFACE_TYPES,
)
"""The message types that agent `slack` subscribes to."""

log = logging.getLogger(__name__)

Answer = TypeVar("Answer")


class SlackEdge:
    """Speaks to Slack.

    In order: `connect`, start the bus, `listen`; and at the end `stop_listening`, stop the bus, `stop`. `start` does
    the first two for tests, `stop` the last two.
    """

    def __init__(
        self,
        api: SlackApi,
        desk: Desk,
        publish: Publish,
        *,
        doors: Doors,
        policy: ChannelPolicy,
        rules: ApprovalRules,
        clock: Callable[[], datetime],
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        probes: Probes | None = None,
    ) -> None:
        self._api = api
        self._desk = desk
        self._publish = publish
        self._doors = doors
        self._policy = policy
        self._rules = rules
        self._clock = clock
        self._sleep = sleep
        self._poster = Poster(api, desk.posts, clock=clock)
        self._http = HttpDoor(
            host=doors.host,
            port=doors.port,
            ready=self.ready,
            clock=clock,
            signing_secret="" if doors.app_token else doors.signing_secret,
            renew=doors.renew_signing_secret,
            probes=probes,
            ages=self.ages,
        )
        self._session: aiohttp.ClientSession | None = None
        self._socket: SocketDoor | None = None
        self._app: SlackApp | None = None
        self._handlers: dict[str, Handler] = {}
        self._painting: asyncio.Task[None] | None = None
        self._state = "not started"

    @property
    def http_url(self) -> str:
        """Where the health pages (and, in HTTP mode, Slack's requests) are served."""
        return self._http.url

    @property
    def handoff_channel(self) -> str:
        """The id of the channel where people take over, once connected; empty where there is none."""
        return self._policy.handoff_channel

    @property
    def channel_ids(self) -> Mapping[str, str]:
        """The ids of the channels that `slack.channels` names, by these names, once connected."""
        return self._policy.ids

    async def start(self) -> None:
        """Connect and listen."""
        await self.connect()
        await self.listen()

    async def connect(self) -> Bot:
        """Return who we are in Slack. A Slack that is down is waited for.

        Raise TokenRefused for a wrong token, SettingsError for an unknown channel name or a port in use.
        """
        await self._http.open()
        self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=SESSION_LIMIT_S))
        self._api.client.session = self._session
        self._state = "waiting for Slack"
        identity = await self._patiently(lambda: self._api.call("auth.test"))
        bot = Bot(
            team=str(identity.get("team_id")),
            user=str(identity.get("user_id")),
            bot=str(identity.get("bot_id") or ""),
            enterprise=str(identity.get("enterprise_id") or ""),
        )
        self._policy = await self._patiently(lambda: resolved(self._policy, self._api))
        responder = Responder(self._session)
        self._handlers = self._joined(self._policy, bot.team, responder)
        listeners = Listeners(
            self._publish,
            self._api,
            responder,
            bot=bot,
            policy=self._policy,
            concerns=Concerns(self._concerns()),
        )
        self._app = SlackApp(self._api, listeners, bot=bot, bot_token=self._api.client.token or "", clock=self._clock)
        self._state = "not listening yet"
        return bot

    async def listen(self) -> None:
        """Open the door for Slack's events; from now on messages are published."""
        if self._app is None:
            raise RuntimeError("connect first")
        if self._doors.app_token:
            socket = SocketDoor(
                self._app,
                app_token=self._doors.app_token,
                base_url=self._api.client.base_url,
                ping_interval_s=self._doors.ping_interval_s,
                renew=self._doors.renew_app_token,
                variable=self._doors.app_token_variable,
            )
            self._socket = socket
            await self._patiently(socket.open)
        else:
            self._http.serve(self._app)
        if self._desk.due is not None and self._policy.handoff_channel:
            painter = Painter(self._desk.due, self._publish, clock=self._clock, sleep=self._sleep)
            self._painting = asyncio.create_task(painter.run(), name="card-painter")
        self._state = ""

    async def stop_listening(self) -> None:
        """Take nothing more in and let listeners finish. What was not acknowledged, Slack delivers again."""
        self._state = "stopping"
        if self._painting is not None:
            self._painting.cancel()
            await asyncio.wait([self._painting], timeout=DRAIN_LIMIT_S)
            self._painting = None
        self._http.refuse()
        if self._socket is not None:
            await self._socket.close()
        if self._app is not None:
            await self._app.drained(DRAIN_LIMIT_S)

    async def stop(self) -> None:
        """Stop listening and close all connections; before, the bus may still finish its posts."""
        await self.stop_listening()
        await self._http.close()
        self._api.client.session = None
        if self._session is not None:
            await self._session.close()

    def ready(self) -> tuple[bool, str]:
        """Return whether events can come in, and if not, why."""
        if self._state:
            return False, self._state
        if self._socket is not None and not self._socket.connected:
            return False, "the socket to Slack is down"
        return not self._api.refused, self._api.refused

    def ages(self) -> Mapping[str, float | None]:
        """Return how long ago, in seconds, the last request of Slack's and the last answer to a ping came."""
        event_at = self._app.heard_at if self._app is not None else None
        told = {"last_event_s": None if event_at is None else round((self._clock() - event_at).total_seconds(), 1)}
        return told | ({"last_pong_s": self._socket.pong_age_s} if self._socket is not None else {})

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handler of each type that agent `slack` subscribes to; they work once connected."""
        return {type_: self._handler(type_) for type_ in TYPES}

    def _handler(self, type_: str) -> Handler:
        async def handle(message: Message, delivery: Delivery) -> Sequence[Message]:
            handler = self._handlers.get(type_)
            if handler is None:
                raise TransientError(f"agent {EDGE} is not connected to Slack yet")
            return await handler(message, delivery)

        return handle

    def _joined(self, policy: ChannelPolicy, team: str, responder: Responder) -> dict[str, Handler]:
        """Return all handlers that there is something to work with for."""
        desk, surface = self._desk, self._desk.surface
        seen = Reactions(self._api, desk.posts, name=desk.seen_reaction, clock=self._clock)
        sessions = Sessions(self._api, surface.overview, seen) if surface is not None else None
        handlers = self._wired(policy, team, sessions) | self._correcting(policy, team)
        if surface is None or sessions is None:
            return handlers | dict.fromkeys(SURFACE_TYPES, _unheard)
        side = SurfaceSide(surface, desk, self._api, sessions, responder, policy, rules=self._rules, team=team)
        return {**side.with_redraws(handlers), **side.handlers()}

    def _wired(self, policy: ChannelPolicy, team: str, sessions: Sessions | None) -> dict[str, Handler]:
        desk, poster = self._desk, self._poster
        table = CardTable(poster, self._api, desk.directory, clock=self._clock)
        approvals = ApprovalCards(
            poster,
            table,
            CardPlace(self._api, desk.directory, rules=self._rules, policy=policy),
            posts=desk.posts,
            approvals=desk.approvals,
            tickets=desk.tickets,
            render=desk.render,
            team=team,
        )
        of_tickets = ticket_handlers(
            poster,
            self._api,
            tickets=desk.tickets,
            posts=desk.posts,
            directory=desk.directory,
            render=desk.render,
            clock=self._clock,
            channel=policy.handoff_channel,
            on_call=desk.on_call or self._rules.approvers,
            due=desk.due,
            sessions=sessions,
            stream_from=desk.stream_from,
        )
        return {
            **of_tickets,
            APPROVAL_REQUESTED: approvals.on_requested,
            APPROVAL_SETTLED: approvals.on_settled,
            APPROVAL_CHANGED: approvals.on_changed,
            APPROVAL_REMINDED: approvals.on_reminded,
            APPROVAL_ANSWERED: approvals.on_answered,
            ALARM_RAISED: AlarmPosts(poster, handoff_channel=policy.handoff_channel).on_raised,
            POST_CHECK: poster.on_check,
        }

    def _correcting(self, policy: ChannelPolicy, team: str) -> dict[str, Handler]:
        desk = self._desk
        if desk.corrections is None:
            return {}
        table = CardTable(self._poster, self._api, desk.directory, clock=self._clock)
        cards = ProposalCards(
            self._poster,
            table,
            posts=desk.posts,
            corrections=desk.corrections,
            team=team,
            channel=policy.handoff_channel,
        )
        return {PROPOSAL_MADE: cards.on_made, PROPOSAL_SETTLED: cards.on_settled}

    def _concerns(self) -> list[Concern]:
        """Return what the buttons and forms of all cards mean."""
        return [
            approval_concern(self._desk.approvals, self._desk.tool_of),
            handoff_concern(),
            proposal_concern(self._desk.corrections),
            choice_concern(),
            home_concern(),
        ]

    async def _patiently(self, work: Callable[[], Awaitable[Answer]]) -> Answer:
        """Return what `work` gives once Slack is there; a token that is refused is not waited for."""
        wait_s = FIRST_WAIT_S
        while True:
            try:
                return await work()
            except TokenRefused:
                raise
            except TransientError as error:
                if wait_s == FIRST_WAIT_S:
                    log.warning("waiting for Slack", extra={"error": str(error)})
                await self._sleep(max(wait_s, error.retry_after_s or 0))
                wait_s = min(wait_s * 2, LONGEST_WAIT_S)


async def _unheard(_message: Message, _delivery: Delivery) -> Sequence[Message]:
    return []
