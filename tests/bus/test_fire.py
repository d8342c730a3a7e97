"""`kill -9` at random points of a loaded sqlite bus loses nothing and doubles no effect."""

import random
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

WORKER = Path(__file__).with_name("fire_worker.py")
MESSAGES = 400
KILLS = 8
WORKERS_IN_FLIGHT = 2 * 3  # two agents, three workers each


def live(files: list[str], die_after_lines: int | None) -> int | None:
    """Run the bus until it is done, or kill it after that many lines; return its exit code, None when killed."""
    command = [sys.executable, str(WORKER), *files, str(MESSAGES)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for number, _ in enumerate(process.stdout, start=1):
            if number == die_after_lines:
                process.kill()
                break
        process.communicate(timeout=60)
        return None if process.returncode == -9 else process.returncode


def test_kill_9_loses_nothing_and_doubles_no_effect(tmp_path: Path) -> None:
    chance = random.Random(20260301)
    bus_file, ledger_file = str(tmp_path / "bus.db"), str(tmp_path / "ledger.db")
    kills = 0
    for _ in range(KILLS):
        kills += live([bus_file, ledger_file], chance.randint(1, MESSAGES // 5)) is None
    assert live([bus_file, ledger_file], None) == 0

    assert kills == KILLS
    with closing(sqlite3.connect(ledger_file)) as ledger:
        tasks = {f"task-{n}" for n in range(MESSAGES)}
        assert {task for (task,) in ledger.execute("SELECT task FROM acked")} == tasks
        effects = ledger.execute("SELECT task, agent FROM effects").fetchall()
        expected = {(task, "first") for task in tasks} | {(f"{task}.second", "second") for task in tasks}
        assert set(effects) == expected
        assert len(effects) == len(expected)
        repeated = ledger.execute("SELECT count(*) FROM attempts GROUP BY task, agent HAVING count(*) > 1").fetchall()
        assert len(repeated) <= kills * WORKERS_IN_FLIGHT
        untold = ledger.execute(
            "SELECT count(*) FROM (SELECT redelivered, row_number() OVER (PARTITION BY task, agent ORDER BY rowid) AS n"
            " FROM attempts) WHERE n > 1 AND NOT redelivered"
        ).fetchone()
        assert untold == (0,), "a handler ran a second time without being told"
    with closing(sqlite3.connect(bus_file)) as bus:
        assert bus.execute("SELECT state, count(*) FROM deliveries GROUP BY state").fetchall() == [
            ("done", 2 * MESSAGES)
        ]
