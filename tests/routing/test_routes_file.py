"""What is wrong in a routes file is said with its file, line and key."""

from pathlib import Path

import pytest

from hermes_bot.errors import SettingsError
from routing.routes_file import load_routes, parse_routes

GOOD = """\
routes:
  - name: tea
    type: drink.tea
    agent: tea
    keywords:
      any: [tea]
  - name: car
    type: ride.car
    agent: car
    enabled: false
"""


def refused(text: str) -> SettingsError:
    with pytest.raises(SettingsError) as caught:
        parse_routes(text, file="routing.yaml")
    return caught.value


def test_a_single_rule_needs_no_list_and_a_disabled_route_is_read() -> None:
    tea, car = parse_routes(GOOD, file="routing.yaml")

    assert tea.keywords[0].any == ("tea",)
    assert not car.enabled


def test_the_shipped_file_has_the_four_routes_and_examples_in_sixteen_languages() -> None:
    routes = {route.name: route for route in load_routes(Path(__file__).parents[2] / "configs" / "routing.yaml")}

    assert list(routes) == ["order", "refund", "handoff", "other"]
    assert routes["other"].nobody
    assert routes["other"].type == "ticket.unknown"
    assert all(len(route.utterances) == 16 for route in routes.values())


@pytest.mark.parametrize(
    "old, new, line, key, said",
    [
        ("agent: tea", "agnet: tea", 4, "routes.0.agnet", "did you mean 'agent'"),
        ("any: [tea]", "anny: [tea]", 6, "routes.0.keywords.0.anny", "did you mean 'any'"),
        ("any: [tea]", "patterns: ['(?=x)']", 6, "routes.0.keywords.0.patterns.0", "RE2"),
        ("any: [tea]", "none: [tea]", 5, "routes.0.keywords.0", "any, all, phrases or patterns"),
        ("name: car", "name: tea", 7, "routes.1.name", "used by an earlier route"),
        ("type: ride.car", "type: drink.tea", 8, "routes.1.type", "used by an earlier route"),
        ("type: ride.car", "type: Ride Car", 8, "routes.1.type", "pattern"),
        ("enabled: false", "score_threshold: 2", 10, "routes.1.score_threshold", "less than or equal to 1"),
        ("enabled: false", "agent: bus", 10, "", "stands twice"),
        ("enabled: false", "enabled: [", 11, "", "routing.yaml:11:1: "),
    ],
)
def test_a_mistake_is_named_with_line_and_key(old: str, new: str, line: int, key: str, said: str) -> None:
    error = refused(GOOD.replace(old, new))

    assert (error.file, error.line, error.key) == ("routing.yaml", line, key)
    assert said in str(error)


@pytest.mark.parametrize(
    "text", ["", "routes", "routes: []", "- a", "routes: {a: 1}", "\x00", "a: &a [*a]", "? [1]\n: 2", "[" * 5000]
)
def test_a_file_of_another_shape_is_refused(text: str) -> None:
    assert refused(text).file == "routing.yaml"


def test_a_missing_file_and_a_binary_one_are_refused_with_their_path(tmp_path: Path) -> None:
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"\xff\xfe\x00")

    for path in (tmp_path / "missing.yaml", binary):
        with pytest.raises(SettingsError, match=path.name):
            load_routes(path)


def test_routes_that_all_mean_nobody_are_refused() -> None:
    assert "no enabled route" in str(refused(GOOD.replace("agent: tea", "agent: tea\n    nobody: true")))
