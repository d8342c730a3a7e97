"""What all tests share: the labelled data beside the checkout, databases, the routes' vectors, a workspace."""

import fcntl
import os
import random
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psutil
import pytest
import pytest_asyncio
from hypothesis import settings

from hermes_bot import settings as hermes_settings
from hermes_bot.app.build import build_router
from hermes_bot.store.database import Database
from hermes_bot.workspace.server import WorkspaceServer
from routing.routes_file import load_table
from tests.progress import Progress
from tests.servers import NoServer, Postgres, running_postgres
from tests.stores import opened, postgres_with_tables, sqlite_with_tables

WORKER_BYTES = 2 * 1024**3

settings.register_profile("hermes", deadline=None)  # a busy machine is no failure; pytest-timeout guards hanging
settings.load_profile("hermes")


def pytest_configure(config: pytest.Config) -> None:
    """Where several workers run tests, tell which file each of them is at."""
    if config.getoption("numprocesses", None) and "PYTEST_XDIST_WORKER" not in os.environ:
        config.pluginmanager.register(Progress(config), "progress")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return one worker for each core that we may use, as far as each has two gigabytes of memory."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else psutil.cpu_count() or 1
    return max(1, min(cores, int(psutil.virtual_memory().total) // WORKER_BYTES))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Give all workers the same seed of hashes, another one each run: they have to find the tests in the same order."""
    os.environ.setdefault("PYTHONHASHSEED", str(random.SystemRandom().randrange(2**32)))


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """The developers' data folder; a user's clone has none, and the tests that read it are skipped there."""
    default = Path(__file__).resolve().parents[2] / "shared"
    folder = Path(os.environ.get("HERMES_SHARED") or default)
    if not folder.is_dir():
        reason = f"the labelled data is not there: {folder}"
        if os.environ.get("HERMES_REQUIRE_SHARED") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    return folder


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A server, one for all tests; where it is not installed they are skipped, but not in the complete run."""
    try:
        with running_postgres() as server:
            yield server
    except NoServer as missing:
        if os.environ.get("HERMES_REQUIRE_SHARED") == "1":
            raise
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder in which the shipped routes are encoded by the profile `light`: seconds of work, done once.

    All workers share it, so copy it before something may write there.
    """
    mine = tmp_path_factory.getbasetemp()
    folder = (mine.parent if "PYTEST_XDIST_WORKER" in os.environ else mine) / "vectors"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "done").exists():
            variables = {"HERMES_DATA__PATH": str(folder), "HERMES_ENCODER__PROFILE": "light"}
            loaded = hermes_settings.load(None, variables, folder=folder)
            build_router(loaded, load_table(loaded.routing.file)).close()
            (folder / "done").touch()
    return folder / "cache"


@pytest_asyncio.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    """A SQLite database with our tables."""
    async with opened(sqlite_with_tables(tmp_path / "hermes.db")) as database:
        yield database


@pytest.fixture(params=["sqlite", "postgresql"])
def both(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database, of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/both.db"
    server: Postgres = request.getfixturevalue("postgres")
    return server.new_database()


@pytest.fixture(params=["sqlite", "postgresql"])
def both_with_tables(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a database with our tables, of each kind."""
    if request.param == "sqlite":
        return sqlite_with_tables(tmp_path / "both.db")
    return postgres_with_tables(request.getfixturevalue("postgres"))


@pytest_asyncio.fixture
async def either(both_with_tables: str) -> AsyncIterator[Database]:
    """A database with our tables, of each kind."""
    async with opened(both_with_tables) as database:
        yield database


@pytest_asyncio.fixture
async def workspace() -> AsyncIterator[WorkspaceServer]:
    """A local workspace with the demo's people, on a free port."""
    async with WorkspaceServer(port=0) as server:
        yield server
