"""What people chose for themselves, and who looks at the app's Home."""

from __future__ import annotations

from pathlib import Path

from hermes_bot.store.database import Database
from hermes_bot.store.preferences import Preferences
from hermes_bot.store.schema import migrate


async def test_only_those_who_opened_home_in_that_team_look_at_it(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path}/hermes.db")
    await database.open()
    await migrate(database)
    kept = Preferences(database)
    for _ in range(2):
        await kept.opened_home("T1", "U0EMMA")
    await kept.choose_language("T1", "U0LINA", "zh")
    await kept.opened_home("T2", "U0OMAR")

    looking = await kept.look_at_home("T1", ["U0EMMA", "U0LINA", "U0OMAR", "entry"])
    nobody = await kept.look_at_home("T1", [])
    languages = [await kept.language("T1", user) for user in ("U0EMMA", "U0LINA", "U0OMAR")]
    await database.close()

    assert (looking, nobody) == (frozenset({"U0EMMA"}), frozenset())
    assert languages == ["", "zh", ""]
