"""A real redis."""

from collections.abc import Iterator

import pytest

from tests.servers import Redis, running_redis


@pytest.fixture(scope="session")
def redis_server() -> Iterator[Redis]:
    """A real redis on a free port."""
    with running_redis() as server:
        yield server
