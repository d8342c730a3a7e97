"""`hermes-bot bench`: the figures that others read. How large they are is no test's business."""

import json
from pathlib import Path

import pytest

from hermes_bot.cli.bench_load import best
from hermes_bot.cli.main import main

KEYS = {"rates", "throughput_per_s", "chain3_p50_ms", "cpu_us_per_message", "rss_mb"}


@pytest.mark.parametrize("backend", ["memory", "sqlite"])
def test_bench_tells_figures_of_the_backend_and_of_its_yardstick(
    backend: str, capsys: pytest.CaptureFixture[str]
) -> None:
    quick = ["--messages", "1000", "--seconds", "0.5", "--rounds", "1"]
    with pytest.raises(SystemExit) as ended:
        main(["bench", "bus", "--backend", backend, "--json", *quick])
    told = json.loads(capsys.readouterr().out)

    assert ended.value.code in {0, None}
    assert told["backend"] == backend
    for figures in (told, told["yardstick"]):
        assert figures.keys() >= KEYS
        assert all(0 < figures["rates"][rate]["p50_ms"] <= figures["rates"][rate]["p99_ms"] for rate in ("200", "1000"))
        assert all(figures[key] > 0 for key in KEYS - {"rates"})


def test_the_best_of_the_rounds_counts() -> None:
    rounds = [
        {"throughput_per_s": 10.0, "rates": {"200": {"p50_ms": 2.0}}},
        {"throughput_per_s": 20.0, "rates": {"200": {"p50_ms": 3.0}}},
    ]

    assert best(rounds) == {"throughput_per_s": 20.0, "rates": {"200": {"p50_ms": 2.0}}}


def test_bench_routing_tells_figures_of_routing_and_of_the_rules_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HERMES_ENCODER__PROFILE", "light")
    with pytest.raises(SystemExit) as ended:
        main(["bench", "routing", "--texts", "64", "--json"])
    told = json.loads(capsys.readouterr().out)

    assert ended.value.code in {0, None}
    assert told["n"] == 64
    for figures in (told, told["yardstick"]):
        assert 0 < figures["latency_ms"]["p50"] <= figures["latency_ms"]["p99"]
        assert figures["texts_per_s"] > 0
