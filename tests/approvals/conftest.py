import pytest

from hermes_bot.approvals.approvals import Approvals
from hermes_bot.approvals.clicks import ApprovalDesk
from hermes_bot.store.database import Database
from tests.approvals.kit import APPROVERS, Clock, People, approvals_in, desk_for


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def people() -> People:
    return People()


@pytest.fixture
def approvals(database: Database, clock: Clock) -> Approvals:
    return approvals_in(database, clock)


@pytest.fixture
def desk(approvals: Approvals, people: People) -> ApprovalDesk:
    return desk_for(approvals, people, APPROVERS)
