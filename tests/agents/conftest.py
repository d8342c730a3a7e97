import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from agents.desk import Agent, Desk, Staff
from agents.entry import EntryAgent
from agents.handoff import HandoffAgent
from agents.order import OrderAgent
from agents.refund import RefundAgent
from agents.rules.order import OrderPlanner
from agents.rules.refund import RefundPlanner
from agents.spec_file import read_specs
from agents.texts import Texts, load_texts
from agents.unknown import UnknownAgent
from hermes_bot.approvals.access import Access
from hermes_bot.approvals.approvals import Approvals
from hermes_bot.approvals.clicks import ApprovalDesk
from hermes_bot.approvals.rules import ApprovalRules
from hermes_bot.llm.english_words import english_words
from hermes_bot.llm.light_encoder import LightEncoder
from hermes_bot.memory.board import Board
from hermes_bot.memory.knowledge import Knowledge
from hermes_bot.memory.memories import Memories
from hermes_bot.memory.memory import Memory
from hermes_bot.memory.working import WorkingMemory
from hermes_bot.people import Person, Roles
from hermes_bot.store.database import Database
from hermes_bot.store.schema import migrate
from hermes_bot.tasks.store import TaskStore
from hermes_bot.tasks.tasks import Tasks
from hermes_bot.tickets.ownership import Ownership
from hermes_bot.tickets.runs import Runs
from hermes_bot.tickets.tickets import Tickets
from hermes_bot.tools.demo_shop import create_demo_shop
from hermes_bot.tools.discovery import discover
from hermes_bot.tools.order_book import OrderBook
from hermes_bot.tools.policies import read_policies
from hermes_bot.tools.shop import Shop
from hermes_bot.tools.toolbox import Toolbox
from routing.router import Router
from routing.routes_file import load_table
from tests.agents.harness import NOON, TEAM, Clock, KnownPeople, Pump
from tests.agents.model_desk import Opens
from tests.memory.kit import WordEncoder

CONFIGS = Path(__file__).parents[2] / "configs"
ALLOWED = read_specs(CONFIGS / "agents.yaml")[0].allowed


@pytest.fixture(scope="session")
def router(vectors: Path) -> Iterator[Router]:
    """The shipped routes with the light encoder."""
    table = load_table(CONFIGS / "routing.yaml")
    router = Router(
        table.routes, LightEncoder(), cache_folder=vectors, not_sure=table.not_sure, known_words=english_words()
    )
    yield router
    router.close()


@pytest.fixture(scope="session")
def texts() -> Texts:
    return load_texts(CONFIGS / "texts")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def people() -> KnownPeople:
    def person(id: str, name: str, email: str = "") -> Person:
        return Person(team=TEAM, id=id, name=name, email=email)

    known = (
        person("U0EMMA", "Emma Fischer", "emma.fischer@example.com"),
        person("U0LINA", "李娜", "li.na@example.com"),
        person("U0NOBODY", "Nora Body", "nora@example.com"),
        person("U0OMAR", "Omar Haddad", "omar.haddad@example.com"),
        person("U0ADA", "Ada Novak", "ada.novak@example.com"),
    )
    return KnownPeople(known, {"S0OPERATORS": frozenset({"U0OMAR"})})


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a migrated store and a filled demo shop; each test gets a copy, which is ten times faster."""
    folder = tmp_path_factory.mktemp("prepared")

    async def prepare() -> None:
        store, shop = Database(f"sqlite:///{folder}/hermes.db"), Database(f"sqlite:///{folder}/orders.db")
        await store.open()
        await migrate(store)
        await store.close()
        await shop.open()
        await create_demo_shop(shop, NOON.date())
        await shop.close()

    asyncio.run(prepare())
    return folder


@pytest.fixture
async def database(tmp_path: Path, prepared: Path) -> AsyncIterator[Database]:
    database = Database(f"sqlite:///{shutil.copy(prepared / 'hermes.db', tmp_path)}")
    await database.open()
    yield database
    await database.close()


@pytest.fixture
async def book_database(tmp_path: Path, prepared: Path) -> AsyncIterator[Database]:
    database = Database(f"sqlite:///{shutil.copy(prepared / 'orders.db', tmp_path)}")
    await database.open()
    yield database
    await database.close()


@pytest.fixture
def book(book_database: Database) -> OrderBook:
    return OrderBook(book_database)


@pytest.fixture
def memory(database: Database, clock: Clock) -> Memories:
    """The memory, with an encoder that needs no model."""
    encoder = WordEncoder()
    long_term = Memory(database, encoder, clock=clock)
    return Memories(
        long_term=long_term,
        board=Board(database, clock=clock),
        working=WorkingMemory(database, long_term, clock=clock),
        knowledge=Knowledge(None, encoder),
    )


@pytest.fixture
def desk(
    database: Database,
    book: OrderBook,
    router: Router,
    texts: Texts,
    people: KnownPeople,
    clock: Clock,
    memory: Memories,
) -> Desk:
    shop = Shop(book=book, policies=read_policies(CONFIGS / "policies.yaml"), clock=clock)
    roles = Roles(people, team=TEAM)
    return Desk(
        tickets=Tickets(database, clock=clock, continue_window_s=900),
        runs=Runs(database, clock=clock),
        approvals=Approvals(database, clock=clock, expires_after_s=86_400),
        toolbox=Toolbox(discover("hermes_bot.tools"), allowed=ALLOWED, services={"shop": shop}),
        book=book,
        directory=people,
        staff=Staff(roles=roles, members=("S0OPERATORS", "U0ADA")),
        texts=texts,
        tasks=Tasks(TaskStore(database, clock=clock), allowed={}, clock=clock),
        choose=router.choose,
        memory=memory,
    )


@pytest.fixture
def pump(desk: Desk, people: KnownPeople, texts: Texts, clock: Clock) -> Pump:
    agents: tuple[Agent, ...] = (
        EntryAgent(),
        OrderAgent(OrderPlanner(texts)),
        RefundAgent(RefundPlanner(texts)),
        HandoffAgent(),
        UnknownAgent(),
    )
    roles = Roles(people, team=TEAM)
    return Pump(
        desk=desk,
        agents={agent.name: agent for agent in agents},
        approval_desk=ApprovalDesk(desk.approvals, Access(roles, ApprovalRules(approvers=("S0OPERATORS",)))),
        ownership=Ownership(desk.tickets, roles, people, staff=("S0OPERATORS",), render=texts.render),
        clock=clock,
    )


@pytest.fixture
async def opens(pump: Pump, database: Database, clock: Clock, texts: Texts) -> AsyncIterator[Opens]:
    async with AsyncExitStack() as parts:
        yield Opens(parts, pump, database, clock, texts)
