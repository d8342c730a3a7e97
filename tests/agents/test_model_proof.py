"""Code in an answer counts only where the agent's own tool has run exactly this code and it passed."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.action import CallTool, Finish, Outcome, Private
from agents.model.proof import digest_of, unchecked
from agents.planner import Observation, Step
from agents.spec_file import check_specs, read_specs
from hermes_bot.errors import SettingsError

CODE = "def f():\n    return 1\n"


def ran(code: str, *, passed: bool = True, tool: str = "run", status: str = "done") -> Step:
    result = {"passed": passed, "checked": digest_of(code)}
    return Step(call=CallTool(tool=tool, arguments={}), observation=Observation(status=status, result=result))


def said(text: str = "", **more: object) -> Finish:
    return Finish(outcome=Outcome.ANSWERED, text=text, **more)  # type: ignore[arg-type]  # each test gives its own


@pytest.mark.parametrize(
    "end",
    [
        said(f"Here:\n```python\n{CODE}```\nThat is all."),
        said(f"```\n{CODE}\n```"),
        said("", result={"code": CODE}),
        said("Look:", private=Private(text=f"```\n{CODE}```")),
        Finish(outcome=Outcome.HANDOFF, text=""),
        Finish(outcome=Outcome.ASK_CUSTOMER, text="Which one?"),
    ],
)
def test_what_was_checked_or_is_no_answer_may_be_said(end: Finish) -> None:
    assert unchecked(end, [ran("other"), ran(CODE)], "run") == ()


@pytest.mark.parametrize(
    "end",
    [
        said("I have written it."),
        said(f"```\n{CODE}#\n```"),
        said(f"```\n{CODE}```\nor\n```\nprint(1)\n```"),
        said(f"```\n{CODE}```", result={"code": "print(1)"}),
    ],
)
def test_other_code_or_none_is_told(end: Finish) -> None:
    assert unchecked(end, [ran(CODE)], "run")


@pytest.mark.parametrize(
    "step", [ran(CODE, passed=False), ran(CODE, tool="read"), ran(CODE, status="waiting"), ran(CODE, status="refused")]
)
def test_a_run_that_did_not_pass_proves_nothing(step: Step) -> None:
    assert unchecked(said("", result={"code": CODE}), [step], "run")


@given(st.text(max_size=60), st.text(max_size=60))
def test_only_the_blanks_around_code_make_no_difference(one: str, other: str) -> None:
    found = unchecked(said("", result={"code": one}), [ran(other)], "run")

    assert (not found) == (one.strip() == other.strip())


def test_the_tool_must_be_one_that_the_agent_may_call(tmp_path: Path) -> None:
    file = tmp_path / "agents.yaml"
    file.write_text(
        "agents:\n  own:\n    planner: model\n    prompt: You code, not talk.\n    checked_by: run\n", encoding="utf-8"
    )
    specs, written = read_specs(file)

    with pytest.raises(SettingsError, match=r"agents\.yaml:5: agent own cannot call 'run'"):
        check_specs(specs, written, tools={"run"}, model="m")
