from hermes_bot.memory.board import Board
from hermes_bot.memory.fact import FactKind
from hermes_bot.memory.memory import Memory
from hermes_bot.memory.window import Entry, EntryKind, Window
from hermes_bot.memory.working import WorkingMemory
from hermes_bot.store.database import Database
from tests.memory.kit import EMMA, Clock


async def test_the_board_tells_who_wrote_what_and_in_which_version(database: Database, clock: Clock) -> None:
    board = Board(database, clock=clock)
    await board.write("T-1", {"user.name": "Emma", "order": "10002"}, author="entry", message_id="M1")
    view = await board.write("T-1", {"order": "10031"}, author="refund", message_id="M2")

    assert view.values == {"user.name": "Emma", "order": "10031"}
    assert (view.version, view.lines["order"].author, view.lines["user.name"].author) == (3, "refund", "entry")
    assert [(line.key, line.value) for line in await board.history("T-1")] == [
        ("user.name", "Emma"),
        ("order", "10002"),
        ("order", "10031"),
    ]
    assert view.text == "user.name: Emma (entry, v1)\norder: 10031 (refund, v3)"
    assert (await board.read("T-2")).values == {}


async def test_an_agent_that_runs_again_finds_the_board_it_started_from(database: Database, clock: Clock) -> None:
    board = Board(database, clock=clock)
    await board.write("T-1", {"order": "10002"}, author="order", message_id="M1")
    await board.write("T-1", {"order": "10031"}, author="order", message_id="M2")

    assert (await board.read("T-1", message_id="M2")).get("order") == "10002"
    again = await board.write("T-1", {"order": "10031"}, author="order", message_id="M2")
    assert (again.version, len(await board.history("T-1"))) == (2, 2)


async def test_a_key_can_be_taken_off(database: Database, clock: Clock) -> None:
    board = Board(database, clock=clock)
    await board.write("T-1", {"order": "10002"}, author="order", message_id="M1")

    assert (await board.write("T-1", {"order": None}, author="order", message_id="M2")).values == {}


async def test_an_agent_sees_the_keys_that_it_may(database: Database, clock: Clock) -> None:
    board = Board(database, clock=clock)
    values = {"user.name": "Emma", "user.locale": "de", "order": "10002", "decision.refund": "no"}
    view = await board.write("T-1", values, author="order", message_id="M1")

    assert set(view.only({"user", "order"}).values) == {"user.name", "user.locale", "order"}


def step(text: str, task: str = "") -> Entry:
    return Entry(kind=EntryKind.STEP, text=text, at=Clock().now, task=task)


async def test_no_agent_sees_anothers_steps(database: Database, memory: Memory, clock: Clock) -> None:
    working = WorkingMemory(database, memory, clock=clock)
    await working.add("T-1", "order", step("looked up 10002"), message_id="M1")

    assert (await working.load("T-1", "order", message_id="M2")).entries == (step("looked up 10002"),)
    assert await working.load("T-1", "refund", message_id="M2") == Window()
    assert await working.load("T-2", "order", message_id="M2") == Window()


async def test_an_agent_that_runs_again_finds_the_window_it_started_from(
    database: Database, memory: Memory, clock: Clock
) -> None:
    working = WorkingMemory(database, memory, clock=clock)
    await working.save("T-1", "order", Window().added(step("one")), message_id="M1")
    for _ in range(2):
        await working.add("T-1", "order", step("two"), message_id="M2")

    assert [each.text for each in (await working.load("T-1", "order", message_id="M3")).entries] == ["one", "two"]


async def test_a_finished_sub_task_leaves_at_once_as_a_fact_that_can_be_recalled(
    database: Database, memory: Memory, clock: Clock
) -> None:
    working = WorkingMemory(database, memory, clock=clock)
    window = Window().added(step("asked the carrier", "find parcel"), step("said hello"))
    for _ in range(2):
        left = await working.finish(
            window,
            about=EMMA,
            agent="order",
            ticket_id="T-1",
            task="find parcel",
            result="it lies in the pick-up point",
        )

    assert left.entries == (step("said hello"),)
    assert left.steps == ("find parcel: it lies in the pick-up point",)
    (found,) = await memory.recall(EMMA, "where does the parcel lie", kinds=[FactKind.SUBTASK])
    assert found.fact.text == "find parcel: it lies in the pick-up point (asked the carrier)"
    assert found.fact.times <= 2


async def test_a_card_number_in_a_result_is_taken_out(database: Database, memory: Memory, clock: Clock) -> None:
    working = WorkingMemory(database, memory, clock=clock)
    await working.finish(
        Window(), about=EMMA, agent="order", ticket_id="T-1", task="pay", result="paid with 4111 1111 1111 1111"
    )

    (found,) = await memory.facts(EMMA)
    assert found.text == "pay: paid with [removed]"
