"""Prints what becomes of spoilt arguments: put right, sent back, or (never) passed on wrong.

Valid calls to the tools of the shared retail data and to a few with dates, money and options, spoilt in twelve ways.
"""

from __future__ import annotations

import os
from pathlib import Path
from time import perf_counter

from tests.tools.calls import valid_calls
from tests.tools.corruptions import scores, unspoilt

SEED = 20_261_130
EACH = 40


def main() -> None:
    shared = Path(os.environ.get("HERMES_SHARED") or Path(__file__).resolve().parents[3] / "shared")
    calls = valid_calls(shared, SEED, EACH)
    started = perf_counter()
    found = scores(calls, SEED)
    seconds, total = perf_counter() - started, sum(score.total for score in found.values())
    print(f"{'corruption':<18}{'calls':>7}{'right':>8}{'repaired':>10}{'sent back':>11}{'needless':>10}{'wrong':>7}")
    for name, score in found.items():
        figures = f"{score.repaired:>10}{score.sent_back:>11}{len(score.needless):>10}{len(score.wrong):>7}"
        print(f"{name:<18}{score.total:>7}{score.right:>8.1%}{figures}")
    right = sum(score.repaired + score.sent_back for score in found.values()) / total
    wrong = sum(len(score.wrong) for score in found.values())
    print(f"{'all':<18}{total:>7}{right:>8.1%}   passed on wrong: {wrong}")
    print(f"valid calls read as they are: {unspoilt(calls)['same']} of {len(calls)}")
    print(f"{seconds / total * 1e6:.0f} µs a call")


if __name__ == "__main__":
    main()
