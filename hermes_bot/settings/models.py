"""The shape of `configs/hermes.yaml`, key by key, with its defaults. docs/configuration.md tells what each means."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr, Strict, model_validator

from hermes_bot.settings.agent_limits import AgentSettings
from hermes_bot.settings.approval_settings import ApprovalSettings
from hermes_bot.settings.connectors import Connections
from hermes_bot.settings.section import Count, Port, Seconds, Section, Words
from hermes_bot.settings.ticket_settings import HandoffSettings, TicketSettings


class DataSettings(Section):
    """`data`: where databases and caches lie; relative to the working directory."""

    path: Annotated[Path, Strict(strict=False)] = Path("data")


class ChannelSettings(Section):
    """`slack.channels.<id>`: `language` is empty where replies follow the customer's message.

    `webhooks`: what other programs post there goes to people, as a ticket.
    """

    mode: Literal["every", "mentions", "off"] = "every"
    language: Literal["", "en", "zh"] = ""
    private_details: Literal["dm", "thread"] = "dm"
    webhooks: bool = False


class FloodSettings(Section):
    """`slack.flood`: how many messages of one person are answered within `window_s`; of the rest the last is."""

    messages: Count = 60
    window_s: Seconds = 60.0


class RateLimitSettings(Section):
    """`slack.rate_limits`: how fast Slack is called once it has refused a call. Each process has these for itself.

    `tier_minutes`: of any method but a post, so many minutes' worth of what Slack's tiers grant may be used at once.
    `until_refused`: so many times all of that, until Slack refuses a call, and again an hour after it did.
    """

    posts_a_second: Annotated[float, Field(gt=0, le=1_000)] = 1.0
    posts_at_once: Count = 100
    posts_a_minute: Count = 300
    tier_minutes: Annotated[float, Field(ge=0.1, le=1_000)] = 3.0
    until_refused: Annotated[float, Field(ge=1, le=1_000)] = 10.0


class SentFiles(Section):
    """`slack.files`: a larger file, or one of a kind (Slack's `filetype`) that is not listed, is named without link."""

    max_mb: Count = 25
    types: Words = ()


class ThreadContextSettings(Section):
    """`slack.thread_context`: what of a thread is read that Hermes is called into; no messages: nothing is."""

    messages: Annotated[int, Field(ge=0, le=200)] = 20
    characters: Annotated[int, Field(ge=500, le=40_000)] = 6_000


def _emoji_name(word: str) -> str:
    """Return the word where it is an emoji's name as Slack's API takes it, or empty."""
    if re.fullmatch(r"[a-z0-9_+'-]{0,100}", word):
        return word
    raise ValueError(f"must be the name of an emoji without colons, such as eyes, not {word!r}")


class SlackSettings(Section):
    """`slack`: where the bot listens and where it hands over. No support channels = every channel the bot is in."""

    support_channels: Words = ()
    channels: dict[str, ChannelSettings] = Field(default_factory=dict)
    handoff_channel: str = ""
    flood: FloodSettings = FloodSettings()
    rate_limits: RateLimitSettings = RateLimitSettings()
    files: SentFiles = SentFiles()
    thread_context: ThreadContextSettings = ThreadContextSettings()
    stream_from: Annotated[int, Field(ge=0)] = 1_200
    seen_reaction: Annotated[str, AfterValidator(_emoji_name)] = ""


class PeopleSettings(Section):
    """`people`: user ids (U…) and user group ids (S…) that hold a role."""

    operators: Words = ()
    admins: Words = ()


class RoutingSettings(Section):
    """`routing`: the route table, relative to the folder of `hermes.yaml`.

    `labelled` are texts with the route they should get, against which a suggested change is measured; relative to
    the route table, empty where there are none.
    """

    file: Annotated[Path, Strict(strict=False)] = Path("routing.yaml")
    labelled: str = ""


class PolicySettings(Section):
    """`policies`: the shop's rules for refunds, relative to the folder of `hermes.yaml`."""

    file: Annotated[Path, Strict(strict=False)] = Path("policies.yaml")


class ToolSettings(Section):
    """`tools`: `connectors` is the file of databases and MCP servers, relative to the folder of `hermes.yaml`.

    `timeout_s` limits a tool that has no limit of its own, `result_limit` the characters that go back to a planner.
    """

    connectors: Annotated[Path, Strict(strict=False)] = Path("connectors.yaml")
    timeout_s: Seconds = 10.0
    result_limit: Annotated[int, Field(ge=1_000, le=1_000_000)] = 20_000


class GuardSettings(Section):
    """`bus.guards`: what is too much, and is suspended and shown to a person."""

    task_messages: Count = 5
    task_window_s: Seconds = 600.0
    context_messages: Count = 200
    context_window_s: Seconds = 60.0
    outputs: Count = 20
    ping_pong: bool = True


class BusSettings(Section):
    """`bus`: where messages wait. `synchronous` is SQLite's: `full` survives a power cut, `normal` a crash.

    `url` and `prefix` are those of redis; `lease_s` is how long the death of one of its workers goes unnoticed.
    """

    backend: Literal["sqlite", "memory", "redis"] = "sqlite"
    url: str = Field(default="redis://127.0.0.1:6379/0", repr=False)
    prefix: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]+$")] = "hermes"
    lease_s: Annotated[float, Field(ge=1, le=3_600)] = 30.0
    max_queue_size: Count = 10_000
    publish_wait_s: Annotated[float, Field(ge=0, le=1_000_000)] = 5.0
    ttl_s: Seconds = 120.0
    stale_after_s: Seconds = 3_600.0
    synchronous: Literal["full", "normal"] = "full"
    keep_s: Annotated[float, Field(ge=90_000, le=1_000_000_000)] = 604_800.0
    strict_order: Words = ()
    guards: GuardSettings = GuardSettings()


class JournalSettings(Section):
    """`journal`: how long the record of every attempt and tool call is kept, and how many rows at most."""

    keep_days: Annotated[float, Field(gt=0, le=100_000)] = 30.0
    max_rows: Annotated[int, Field(ge=1_000)] = 1_000_000


class ObserveSettings(Section):
    """`observe`: an OTLP/HTTP endpoint for spans (empty = none), and the share of traces that are sent."""

    otlp_endpoint: str = Field(default="", repr=False)
    sample_ratio: Annotated[float, Field(ge=0, le=1)] = 1.0


class AlarmSettings(Section):
    """`alarms`: a message type of which more than `failure_ratio` fails within `window_s` raises one."""

    failure_ratio: Annotated[float, Field(ge=0, lt=1)] = 0.05
    window_s: Seconds = 300.0
    min_count: Annotated[int, Field(ge=1)] = 20


class StoreSettings(Section):
    """`store`: the database of tickets and approvals; empty = a SQLite file in the data folder."""

    url: str = Field(default="", repr=False)


class OrderSettings(Section):
    """`orders`: the order book; empty = the demo shop, a SQLite file in the data folder."""

    url: str = Field(default="", repr=False)


class HttpSettings(Section):
    """`http`: where Slack over HTTP and the health pages are served."""

    host: str = "127.0.0.1"
    port: Port = 8080


class WorkspaceSettings(Section):
    """`workspace`: the local Slack-compatible workspace."""

    port: Port = 8070


class EncoderSettings(Section):
    """`encoder`: what texts are compared with; `model` is a sentence-transformers model or one of the endpoint's."""

    profile: Literal["default", "light", "sentence-transformers", "openai"] = "default"
    model: str = ""
    base_url: str = ""
    timeout_s: Seconds = 10.0

    @model_validator(mode="after")
    def _a_model_where_one_is_meant(self) -> EncoderSettings:
        if bool(self.model) != (self.profile in {"sentence-transformers", "openai"}):
            raise ValueError("profile sentence-transformers and openai need a model, the others have their own")
        if self.base_url and self.profile != "openai":
            raise ValueError("base_url needs profile openai")
        return self


class MemorySettings(Section):
    """`memory`: whether anything is kept and recalled, how much at a time, and the folder of the shop's articles.

    `knowledge` is relative to the folder of `hermes.yaml`.
    """

    enabled: bool = True
    k: Annotated[int, Field(ge=1, le=20)] = 5
    knowledge: Annotated[Path, Strict(strict=False)] = Path("knowledge")


class ModelSettings(Section):
    """`model`: the language model that planners ask; no name = no model, the rules decide.

    `protocol` is how it answers: `auto` finds out what the endpoint offers. `timeout_s` limits one try.
    """

    name: str = ""
    base_url: str = ""
    protocol: Literal["auto", "tools", "schema", "plain"] = "auto"
    stream: bool = True
    timeout_s: Seconds = 20.0
    retries: Annotated[int, Field(ge=0, le=10)] = 2
    max_tokens: Annotated[int, Field(ge=64, le=100_000)] = 1024
    concurrency: Count = 8
    failure_threshold: Count = 3
    reset_timeout_s: Seconds = 60.0


class FileSettings(Section):
    """Every key that `configs/hermes.yaml` may hold."""

    data: DataSettings = DataSettings()
    slack: SlackSettings = SlackSettings()
    people: PeopleSettings = PeopleSettings()
    approvals: ApprovalSettings = ApprovalSettings()
    tickets: TicketSettings = TicketSettings()
    handoff: HandoffSettings = HandoffSettings()
    routing: RoutingSettings = RoutingSettings()
    policies: PolicySettings = PolicySettings()
    agents: AgentSettings = AgentSettings()
    tools: ToolSettings = ToolSettings()
    bus: BusSettings = BusSettings()
    journal: JournalSettings = JournalSettings()
    observe: ObserveSettings = ObserveSettings()
    alarms: AlarmSettings = AlarmSettings()
    store: StoreSettings = StoreSettings()
    orders: OrderSettings = OrderSettings()
    http: HttpSettings = HttpSettings()
    workspace: WorkspaceSettings = WorkspaceSettings()
    encoder: EncoderSettings = EncoderSettings()
    model: ModelSettings = ModelSettings()
    memory: MemorySettings = MemorySettings()


class Mode(StrEnum):
    """How the bot reaches Slack."""

    WORKSPACE = "workspace"  # no token: the local workspace, with its own people and channels
    SOCKET = "socket"
    HTTP = "http"


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackAccess:
    """Slack's secrets and address, from the environment only. An `api_url` that is empty means Slack itself.

    `files`: where those secrets stand that are given as files, by the name of their variable.
    """

    bot_token: SecretStr | None = None
    app_token: SecretStr | None = None
    signing_secret: SecretStr | None = None
    api_url: str = ""
    files: Mapping[str, Path] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAccess:
    """What opens an OpenAI-compatible endpoint, from the environment only; the file's address wins over this one."""

    api_key: SecretStr | None = None
    base_url: str = ""


class Settings(FileSettings):
    """Everything that was decided, with paths made absolute. `source` says in words where it was read from."""

    access: SlackAccess = Field(default_factory=SlackAccess, repr=False)
    models: ModelAccess = Field(default_factory=ModelAccess, repr=False)
    connections: Connections = Field(default_factory=Connections, repr=False)
    source: str = ""

    @property
    def mode(self) -> Mode:
        """How the bot reaches Slack: Socket Mode wins where both an app token and a signing secret are set."""
        if self.access.bot_token is None:
            return Mode.WORKSPACE
        return Mode.SOCKET if self.access.app_token is not None else Mode.HTTP

    @property
    def store_url(self) -> str:
        """The database of tickets and approvals, as SQLAlchemy writes it; may hold a password."""
        return self.store.url or f"sqlite:///{self.data.path / 'hermes.db'}"

    @property
    def orders_url(self) -> str:
        """The order book's database, as SQLAlchemy writes it; may hold a password."""
        return self.orders.url or f"sqlite:///{self.data.path / 'shop.db'}"

    @property
    def demo_shop(self) -> bool:
        """Whether the order book is the demo shop, which is filled at the first start."""
        return not self.orders.url
