"""What an admin is told about a routes file that can be read and is probably not what they meant."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from routing.check import Finding, check_examples, check_rules, examples_of
from routing.route import Keywords, Route
from routing.routes_file import load_routes

ROOT = Path(__file__).resolve().parents[2]
AGENTS = {"order", "refund", "handoff", "unknown"}


def route(name: str, *rules: Keywords, priority: int = 0, agent: str = "order", examples: int = 0) -> Route:
    utterances = {"en": tuple(f"{name} example {number}" for number in range(examples))} if examples else {}
    return Route(name=name, type=f"t.{name}", agent=agent, priority=priority, keywords=rules, utterances=utterances)


def kinds(found: list[Finding]) -> list[tuple[str, str, str]]:
    return [(each.kind, each.route, each.other) for each in found]


def test_a_rule_whose_every_word_another_route_takes_first_is_unreachable() -> None:
    low = route("low", Keywords(any=("red tea", "green tea")))
    high = route("high", Keywords(any=("tea",)), priority=5)

    assert kinds(check_rules([low, high], AGENTS)) == [("unreachable-rule", "low", "high")]


def test_a_rule_that_silences_itself_is_unreachable() -> None:
    (found,) = check_rules([route("one", Keywords(any=("refund",), none=("refund",)))], AGENTS)

    assert found.kind == "unreachable-rule"
    assert "silences" in found.message


def test_one_word_of_several_that_two_routes_claim_collides() -> None:
    first = route("first", Keywords(any=("tea", "cup")))
    second = route("second", Keywords(any=("milk",), phrases=("cup",)))

    assert kinds(check_rules([first, second], AGENTS)) == [("colliding-keyword", "second", "first")]


def test_a_rule_with_a_pattern_of_its_own_is_not_called_unreachable() -> None:
    low = route("low", Keywords(any=("tea",), patterns=("c.ke",)))
    high = route("high", Keywords(any=("tea",)), priority=5)

    assert kinds(check_rules([low, high], AGENTS)) == [("colliding-keyword", "low", "high")]


def test_words_that_must_all_occur_are_tried_together() -> None:
    low = route("low", Keywords(all=("tea", "milk")))
    high = route("high", Keywords(any=("tea",), none=("milk",)), priority=5)

    assert check_rules([low, high], AGENTS) == []


def test_an_agent_that_does_not_exist_and_few_examples_are_found() -> None:
    found = check_rules([route("one", agent="ordr", examples=3)], AGENTS)

    assert [each.kind for each in found] == ["unknown-agent", "too-few-examples"]
    assert "'ordr'" in found[0].message


def test_a_disabled_route_and_a_plain_binding_are_left_alone() -> None:
    off = Route(name="off", type="t.off", agent="nobody", enabled=False)

    assert check_rules([off, route("plain")], AGENTS) == []


def test_examples_of_two_routes_that_nearly_say_the_same_are_found_once() -> None:
    examples = [("tea", "a cup of tea"), ("car", "drive me home"), ("car", "one cup of tea"), ("tea", "a tea")]
    vectors = np.array([[1, 0, 0], [0, 1, 0], [0.99, 0.14, 0], [1, 0, 0]], dtype=np.float32)

    (first, second) = check_examples(examples, vectors)

    assert (first.kind, first.route, first.other) == ("near-duplicate", "tea", "car")
    assert "one cup of tea" in first.message
    assert "a tea" in second.message


@pytest.mark.parametrize("rows", [0, 1, 2500])
def test_any_number_of_examples_is_compared(rows: int) -> None:
    vectors = np.eye(max(rows, 1), 8, dtype=np.float32)[:rows]

    assert check_examples([("one", str(row)) for row in range(rows)], vectors) == []


def test_the_shipped_file_has_no_mistake_in_rules_and_agents() -> None:
    routes = load_routes(ROOT / "configs" / "routing.yaml")

    assert check_rules(routes, AGENTS) == []
    assert len(examples_of(routes)) > 400
