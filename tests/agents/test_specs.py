"""configs/agents.yaml: the shipped file is right, and what is wrong in one is told with its place and a remedy."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from agents.spec import AgentsFile, Budget, Price
from agents.spec_file import check_specs, read_specs, schema_text
from hermes_bot.errors import SettingsError
from hermes_bot.tools.discovery import discover

CONFIGS = Path(__file__).parents[2] / "configs"
TOOLS = {tool.name for tool in discover("hermes_bot.tools")}


def checked(folder: Path, text: str, *, model: str = "m") -> AgentsFile:
    file = folder / "agents.yaml"
    file.write_text(text, encoding="utf-8")
    specs, written = read_specs(file)
    check_specs(specs, written, tools=TOOLS, model=model)
    return specs


def test_the_shipped_file_is_right_without_a_model_and_with_one() -> None:
    specs, written = read_specs(CONFIGS / "agents.yaml")

    for model in ("", "gpt-4o-mini"):
        check_specs(specs, written, tools=TOOLS, model=model)
    assert {name for name, spec in specs.agents.items() if spec.planner == "model"} == {"order", "refund"}


def test_the_schema_for_editors_is_in_step_and_takes_the_shipped_file() -> None:
    text = (CONFIGS / "agents.schema.json").read_text(encoding="utf-8")
    shipped = yaml.safe_load((CONFIGS / "agents.yaml").read_text(encoding="utf-8"))

    assert text == schema_text(), "run deploy/write_schemas.py"
    assert not list(Draft202012Validator(yaml.safe_load(text)).iter_errors(shipped))


@pytest.mark.parametrize(
    "text, told",
    [
        ("agents: {order: {tols: []}}", r"agents\.yaml:1: unknown key 'agents.order.tols'; did you mean"),
        (
            "agents:\n  order:\n    tools: [find_ordr]",
            r"agents\.yaml:3: there is no tool 'find_ordr'; did you mean 'find",
        ),
        ("agents: {ordr: {planner: rules}}", "has no rules: use planner: model, or did you mean agent 'order'"),
        ("agents: {handoff: {planner: model, prompt: 'You hand off; not for orders.'}}", "works by rules alone"),
        ("agents: {slack: {planner: model, prompt: 'You are Slack, not a shop.'}}", "no name for an agent"),
        ("agents: {Own: {planner: model, prompt: 'You are own, not for orders.'}}", "no name for an agent"),
        ("agents: {own: {planner: model}}", "planner model needs a prompt"),
        ("agents: {own: {planner: model, prompt: 'You help.'}}", "who the agent is and what it is not for"),
        ("agents: {order: {temperature: 3}}", "agents.order.temperature"),
        ("agents: {order: {max_steps: 16}}", "agents.order.max_steps"),
        ("agents: {order: {delegates: [refund]}}", "'refund' is no message type"),
        ("agents: {order: {expects: {type: objct}}}", "no JSON Schema"),
        ("tools: {issue_refnd: {level: L3}}", "did you mean 'issue_refund'"),
        ("tools: {issue_refund: {level: L5}}", "tools.issue_refund.level"),
        ("budgets: {ticket: {tokens: 0}}", "budgets.ticket.tokens"),
        ("agents:\n  order: {}\n  order: {}", "stands twice"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        checked(tmp_path, text)


def test_an_agent_of_ones_own_needs_a_model(tmp_path: Path) -> None:
    own = "agents: {own: {planner: model, prompt: 'You help, not for orders.'}}"

    assert checked(tmp_path, own).of("own").identity == "You help, not for orders."
    with pytest.raises(SettingsError, match=r"agent own needs a model: set model\.name"):
        checked(tmp_path, own, model="")


def test_an_agent_that_is_not_named_has_no_tools(tmp_path: Path) -> None:
    specs = checked(tmp_path, "agents: {}")

    assert specs.of("order").tools == ()
    assert specs.allowed == {}


def test_a_price_is_for_a_million_tokens() -> None:
    assert Price(input=1.0, output=10.0).cost(100_000, 20_000) == pytest.approx(0.3)
    assert Budget().tokens is None
