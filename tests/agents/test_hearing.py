"""What customers say in passing is kept for them, whichever agent takes the message."""

from hermes_bot.memory.memories import Memories
from hermes_bot.memory.owner import PersonOwner
from tests.agents.harness import TEAM, Pump


async def test_a_preference_is_kept_once_whoever_answers(pump: Pump, memory: Memories) -> None:
    await pump.says("U0EMMA", "From now on please ship with DHL, thanks!")
    await pump.says("U0EMMA", "Where is my order 10002? I prefer to be contacted by e-mail.")

    facts = await memory.long_term.history(PersonOwner(TEAM, "U0EMMA"))
    assert {(fact.subject, fact.times) for fact in facts if fact.kind == "preference"} == {
        ("carrier", 1),
        ("contact", 1),
    }
    assert await memory.long_term.history(PersonOwner(TEAM, "U0LINA")) == []
