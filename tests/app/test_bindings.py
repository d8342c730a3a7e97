"""What a route says about its agents reaches the bus."""

from collections.abc import Sequence
from dataclasses import fields

import pytest

from agents.desk import Desk
from hermes_bot.app.bindings import AgentBindings, capabilities_of
from hermes_bot.app.live_routing import check_agents, types_of
from hermes_bot.app.outlet import FOR_STAFF
from hermes_bot.bus.bus import Bus
from hermes_bot.bus.memory import MemoryBackend
from hermes_bot.edge.edge import TYPES
from hermes_bot.errors import SettingsError
from hermes_bot.messages.message import Message, utc_now
from hermes_bot.messages.payloads import ALARM_RAISED, POST_CHECK, REPLY_READY
from hermes_bot.messages.surface_payloads import (
    COMMAND_GIVEN,
    HOME_OPENED,
    LANGUAGE_CHOSEN,
    PROMPTS_WANTED,
    SHORTCUT_USED,
)
from hermes_bot.messages.ticket_payloads import AGENT_STOPPED, TICKET_CHANGED
from hermes_bot.settings import Settings
from hermes_bot.store.database import Database
from hermes_bot.tickets.tickets import Tickets
from routing.routes_file import read_table

FROM_SLACK = (COMMAND_GIVEN, SHORTCUT_USED, HOME_OPENED, LANGUAGE_CHOSEN, PROMPTS_WANTED)
"""What the edge tells itself of people's doings in Slack."""


class Seer:
    """An agent that remembers what it saw."""

    def __init__(self, name: str, **capabilities: float) -> None:
        self.name = name
        self.capabilities = capabilities
        self.saw: list[dict[str, object]] = []

    async def handle(self, message: Message, desk: Desk) -> list[Message]:
        self.saw.append(message.data)
        return []


def table(*lines: str) -> bytes:
    return "\n".join(
        ["routes:", "  - name: refund", "    type: ticket.refund", *(f"    {line}" for line in lines)]
    ).encode()


def bare_desk() -> Desk:
    """Return a desk with tickets, which nobody opens, and nothing else."""
    tickets = Tickets(Database("sqlite://"), clock=utc_now, continue_window_s=1)
    return Desk(**dict.fromkeys((field.name for field in fields(Desk)), None) | {"tickets": tickets})  # type: ignore[arg-type]  # for agents that need none


async def dispatched(agents: Sequence[Seer], content: bytes, number: int) -> None:
    """Bind the routes to the agents and publish so many messages, one after the other."""
    by_name = {agent.name: agent for agent in agents}
    bus = Bus(MemoryBackend())
    bindings = AgentBindings(bus, Settings(), lambda _: bare_desk(), by_name)
    types = types_of(read_table(content, file="routing.yaml"), capabilities_of(by_name))
    bindings.bind({"ticket.refund": types["ticket.refund"]})
    await bus.start()
    for n in range(number):
        data = {"ticket_id": "T1", "text": "secret", "n": n}
        await bus.publish(Message(type="ticket.refund", sender="entry", context_id=f"c{n}", data=data))
        await bus.drain(5)
    await bus.stop(1)


async def test_a_route_with_a_projection_shows_its_agent_those_fields_only() -> None:
    refund = Seer("refund")
    await dispatched([refund], table("agent: refund", "projection: {include: [ticket_id, n]}"), 1)

    assert refund.saw == [{"ticket_id": "T1", "n": 0}]


async def test_a_route_with_a_capability_shares_its_messages_among_who_has_it() -> None:
    first, second, other = Seer("first", money=1.0), Seer("second", money=1.0), Seer("other", talk=1.0)
    await dispatched([first, second, other], table("capability: money"), 4)

    assert [len(agent.saw) for agent in (first, second, other)] == [2, 2, 0]


@pytest.mark.parametrize("line", ["agent: nobody", "capability: nothing"])
def test_a_route_to_who_does_not_exist_is_refused(line: str) -> None:
    routes = read_table(table(line), file="routing.yaml")

    with pytest.raises(SettingsError, match="there is no"):
        check_agents(routes, {"refund"}, {"money": {"refund": 1.0}}, file="routing.yaml")


@pytest.mark.parametrize("lines", [("agent: refund", "capability: money"), ()])
def test_a_route_names_an_agent_or_a_capability(lines: tuple[str, ...]) -> None:
    with pytest.raises(SettingsError, match="one of the two"):
        read_table(table(*lines), file="routing.yaml")


def test_without_an_edge_whatever_is_sent_to_it_is_taken_all_the_same() -> None:
    taken_by_others = {REPLY_READY, TICKET_CHANGED, AGENT_STOPPED}
    of_the_edge_alone = {ALARM_RAISED, POST_CHECK, *FROM_SLACK}

    assert set(TYPES) - of_the_edge_alone - taken_by_others == set(FOR_STAFF)
