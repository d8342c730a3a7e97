"""Builds each part from the settings: stores, router, bus, edge, the desk that agents are handed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal, Protocol

from pydantic import SecretStr

from agents.desk import REMEMBERING, Desk, FloodLimits, Staff, Ways
from agents.spec import AgentsFile
from agents.texts import Texts
from hermes_bot.app.agents_file import read_setup
from hermes_bot.app.approving import policy_version, refuse_unknown_tools, rules_of
from hermes_bot.app.limits import guard_limits, scheduler_of, wait_rules
from hermes_bot.app.tool_sources import ToolSources, build_toolbox
from hermes_bot.app.watch import Watch
from hermes_bot.approvals.approvals import Approvals
from hermes_bot.bus.bus import Bus
from hermes_bot.bus.memory import MemoryBackend
from hermes_bot.bus.port import Backend, Delivery
from hermes_bot.bus.sqlite import SqliteBackend
from hermes_bot.errors import SettingsError
from hermes_bot.llm.english_words import english_words
from hermes_bot.memory.memories import Memories
from hermes_bot.messages.message import Message
from hermes_bot.people import Directory, Roles
from hermes_bot.settings import Settings
from hermes_bot.store.agent_runs import AgentRuns
from hermes_bot.store.database import Database
from hermes_bot.store.preferences import Preferences
from hermes_bot.store.schema import migrate
from hermes_bot.tasks.tasks import Tasks
from hermes_bot.tickets.failures import failed_message
from hermes_bot.tickets.runs import Runs
from hermes_bot.tickets.thread import ThreadReader
from hermes_bot.tickets.tickets import Tickets
from hermes_bot.tools.call_log import CallLog
from hermes_bot.tools.demo_shop import create_demo_shop
from hermes_bot.tools.order_book import OrderBook
from hermes_bot.tools.policies import read_policies
from hermes_bot.tools.shop import Shop
from hermes_bot.tools.toolbox import Toolbox
from hermes_bot.triage.proposals import Proposals
from routing.choice import Encoder, RouteChoice
from routing.router import Router
from routing.routes_file import RouteTable
from routing.vectors import Progress, unheard

SYNCHRONOUS: Mapping[str, Literal["FULL", "NORMAL"]] = {"full": "FULL", "normal": "NORMAL"}

Clock = Callable[[], datetime]


class LiveRoutes(Protocol):
    """The routes in use, whichever they are at the time."""

    async def choose(self, text: str) -> RouteChoice:
        """Return who gets the text."""
        ...

    def agent_of(self, type_: str) -> str:
        """Return the agent that gets this type, empty where none does."""
        ...

    def type_of(self, route: str) -> str:
        """Return the type that the route emits, empty where there is no such route."""
        ...

    def include_of(self, type_: str) -> frozenset[str] | None:
        """Return what its route shows of a message and the blackboard; None is everything."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    """What is kept in SQL, opened."""

    database: Database
    tickets: Tickets
    runs: Runs
    approvals: Approvals
    proposals: Proposals
    book: OrderBook
    toolbox: Toolbox
    calls: CallLog
    watch: Watch
    specs: AgentsFile
    sources: ToolSources
    clock: Clock


@asynccontextmanager
async def opened(settings: Settings, clock: Clock, *, effects: bool = True) -> AsyncIterator[Stores]:
    """Open the databases, bring the schema up to date, fill the demo shop where it is wanted.

    Without `effects` tools only read.
    """
    database, shop = Database(settings.store_url), Database(settings.orders_url)
    if shop.missing and not settings.demo_shop:  # an empty one would be made, and would know no customer
        raise SettingsError(f"orders.url: {shop.shown_url} does not exist; name your order book", key="orders.url")
    async with AsyncExitStack() as opened_databases:
        for each in (database, shop):
            await each.open()
            opened_databases.push_async_callback(each.close)
        await migrate(database)
        if settings.demo_shop:
            await create_demo_shop(shop, clock().date())
        sources = ToolSources(settings.connections, clock=clock)
        opened_databases.push_async_callback(sources.close)
        stores = build_stores(settings, database, shop, sources, clock, effects=effects)
        refuse_unknown_tools(settings, stores.toolbox)
        yield stores


def build_stores(
    settings: Settings, database: Database, shop: Database, sources: ToolSources, clock: Clock, *, effects: bool = True
) -> Stores:
    """Return everything that reads and writes SQL."""
    book, watch, calls = OrderBook(shop), Watch(settings, database, clock), CallLog(database, clock=clock)
    setup = read_setup(settings, sources.tools, sources.prefixes)
    services = {"shop": Shop(book=book, policies=read_policies(settings.policies.file), clock=clock)}
    return Stores(
        database=database,
        tickets=Tickets(
            database,
            clock=clock,
            continue_window_s=settings.tickets.continue_window_s,
            merge_window_s=settings.tickets.merge_window_s,
        ),
        runs=Runs(database, clock=clock),
        approvals=Approvals(
            database,
            clock=clock,
            expires_after_s=settings.approvals.expires_after_s,
            rules=rules_of(settings),
            policy=policy_version(settings),
        ),
        proposals=Proposals(database, clock=clock),
        book=book,
        toolbox=build_toolbox(
            settings,
            setup,
            sources,
            services,
            calls=calls,
            on_call=watch.reports.tool_call,
            effects=effects,
        ),
        calls=calls,
        watch=watch,
        specs=setup.specs,
        sources=sources,
        clock=clock,
    )


def build_router(
    settings: Settings, table: RouteTable, encoder: Encoder | None = None, progress: Progress = unheard
) -> Router:
    """Return the router; encodes what its cache does not know, so call it in a thread."""
    return Router(
        table.routes,
        encoder or build_encoder(settings),
        cache_folder=settings.data.path / "cache",
        method=table.decision,
        score_threshold=table.score_threshold,
        temperature=table.temperature,
        not_sure=table.not_sure,
        known_words=english_words(),
        progress=progress,
    )


def build_encoder(settings: Settings) -> Encoder:
    """Return the profile's encoder. Each brings its own libraries, which are imported only where it is wanted."""
    wanted = settings.encoder
    if wanted.profile == "openai":
        from hermes_bot.llm.openai_encoder import OpenAIEncoder

        access = settings.models
        url = wanted.base_url or access.base_url
        return OpenAIEncoder(wanted.model, api_key=secret(access.api_key), base_url=url, timeout_s=wanted.timeout_s)
    if wanted.profile == "sentence-transformers":
        from hermes_bot.llm.sentence_encoder import SentenceEncoder

        return SentenceEncoder(wanted.model)
    from hermes_bot.llm.light_encoder import LightEncoder

    light = LightEncoder()
    if wanted.profile == "light":
        return light
    from hermes_bot.llm.joined_encoder import JoinedEncoder
    from hermes_bot.llm.latin_encoder import LatinEncoder
    from hermes_bot.llm.minilm_encoder import MiniLMEncoder

    return JoinedEncoder(light, LatinEncoder(MiniLMEncoder()))


def bus_file(settings: Settings) -> Path:
    """Return where the sqlite backend keeps its messages."""
    return settings.data.path / "bus.db"


def build_backend(settings: Settings, clock: Clock) -> Backend:
    """Return where messages are kept, not opened."""
    if settings.bus.backend == "sqlite":
        synchronous, keep_s = SYNCHRONOUS[settings.bus.synchronous], settings.bus.keep_s
        return SqliteBackend(bus_file(settings), synchronous=synchronous, keep_s=keep_s, clock=clock)
    if settings.bus.backend == "redis":
        from hermes_bot.bus.redis_backend import RedisBackend  # redis imports OpenTelemetry, which nobody else needs

        bus = settings.bus
        return RedisBackend(bus.url, prefix=bus.prefix, lease_s=bus.lease_s, keep_s=bus.keep_s, clock=clock)
    return MemoryBackend(keep_s=settings.bus.keep_s, clock=clock)


def build_bus(
    settings: Settings, backend: Backend, watch: Watch, clock: Clock, staffed: Collection[str] | None = None
) -> Bus:
    """Return the bus on the backend, watched, not started; with `staffed` it runs these agents only."""
    hop, alarm = watch.reports.hop, watch.alarms.reported
    return Bus(
        backend,
        clock=clock,
        publish_wait_s=settings.bus.publish_wait_s,
        staffed=staffed,
        waits=wait_rules(settings),
        guards=guard_limits(settings),
        scheduler=scheduler_of(settings),
        on_hop=hop,
        on_failure=on_failure,
        on_alarm=alarm,
    )


def on_failure(delivery: Delivery, error: str) -> Sequence[Message]:
    """Return what follows when a customer's message ends without being done."""
    failed = failed_message(delivery, error)
    return [] if failed is None else [failed]


class Outside(Protocol):
    """What is known of people and channels once there is a connection to them."""

    @property
    def directory(self) -> Directory: ...  # noqa: D102 - who people are

    @property
    def channel_ids(self) -> Mapping[str, str]: ...  # noqa: D102 - of channels that the settings name, by name

    @property
    def threads(self) -> ThreadReader | None: ...  # noqa: D102 - what stands in Slack's threads


def desk_of(
    settings: Settings,
    stores: Stores,
    roles: Roles,
    outside: Outside,
    texts: Texts,
    routing: LiveRoutes,
    tasks: Tasks,
    memory: Memories | None = None,
) -> Callable[[bool], Desk]:
    """Return what makes the desk for one delivery."""
    staff, flood = Staff(roles=roles, members=staff_of(settings)), FloodLimits(**settings.slack.flood.model_dump())
    agent_runs, preferences = AgentRuns(stores.database, clock=stores.clock), Preferences(stores.database)

    def desk(redelivered: bool) -> Desk:
        return Desk(
            tickets=stores.tickets,
            runs=stores.runs,
            approvals=stores.approvals,
            toolbox=stores.toolbox,
            book=stores.book,
            directory=outside.directory,
            staff=staff,
            texts=texts,
            tasks=tasks,
            choose=routing.choose,
            agent_of=routing.agent_of,
            type_of=routing.type_of,
            include_of=routing.include_of,
            redelivered=redelivered,
            ways=ways_of(settings, outside.channel_ids),
            memory=memory,
            agent_runs=agent_runs,
            preferences=preferences,
            flood=flood,
            threads=outside.threads,
            remembering=REMEMBERING | stores.specs.with_model,
        )

    return desk


def ways_of(settings: Settings, channel_ids: Mapping[str, str]) -> dict[str, Ways]:
    """Return how things are done in each channel that the settings say something of, by its id."""
    return {
        channel_ids.get(channel, channel): Ways(
            language=each.language, private_in_thread=each.private_details == "thread"
        )
        for channel, each in settings.slack.channels.items()
    }


def staff_of(settings: Settings) -> tuple[str, ...]:
    """Return the ids of everybody who holds a role."""
    people = settings.people
    return tuple(dict.fromkeys((*people.operators, *people.admins, *settings.approvals.everyone)))


def secret(value: SecretStr | None) -> str:
    """Return the secret itself, empty where there is none."""
    return "" if value is None else value.get_secret_value()
