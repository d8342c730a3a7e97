"""A dead letter that a test did not expect fails it."""

from collections.abc import Collection

from hermes_bot.bus.port import DEAD_LETTERS, Backend


async def fail_on_dead_letters(backend: Backend, expected: Collection[str] = ()) -> None:
    """Fail unless the agents of all dead, expired and suspended deliveries are in `expected`.

    Works on a backend that is open, and on a closed one as well.
    """
    letters = await backend.find(states=sorted(DEAD_LETTERS), limit=1000)
    told = [
        f"{letter.message.type} {letter.message.id} for {letter.agent}: {letter.state.value}: {letter.error}"
        for letter in letters
        if letter.agent not in expected
    ]
    assert not told, "unexpected dead letters:\n" + "\n".join(told)
