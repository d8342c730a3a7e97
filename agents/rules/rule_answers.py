"""Answers questions about the shop's rules, from the policy and without an order."""

from __future__ import annotations

from agents.action import Action, CallTool, Finish, Outcome
from agents.planner import Run
from agents.rules.intents import Rule
from agents.rules.talk import Talk
from agents.rules.which_order import to_people

POLICY = CallTool(tool="shop_policy", arguments={})


def answer_rule(run: Run, talk: Talk, rule: Rule) -> Action:
    """Return the look at the policy, and then what it says."""
    seen = run.seen(POLICY)
    if seen is None:
        return POLICY
    if seen.status != "done":
        return to_people(run, "tool_refused")
    text = _text(talk, rule, seen.result)
    return Finish(outcome=Outcome.ANSWERED, text=text, memory=run.memory)


def _text(talk: Talk, rule: Rule, policy: dict[str, dict[str, object]]) -> str:
    if rule is Rule.PAYOUT:
        return talk.say("policy.payout", payout_days=policy["refund"]["payout_days"])
    if rule is Rule.RETURNS:
        return talk.say(
            "policy.returns",
            window_days=policy["returns"]["window_days"],
            send_back_days=policy["returns"]["send_back_days"],
        )
    if rule is Rule.REFUND:
        return talk.say(
            "policy.refund",
            window_days=policy["refund"]["window_days"],
            payout_days=policy["refund"]["payout_days"],
            states=talk.states(_states(policy["refund"])),
        )
    return talk.say(f"policy.{rule}", states=talk.states(_states(policy[rule.value])))


def _states(section: dict[str, object]) -> list[str]:
    states = section["states"]
    return [str(state) for state in states] if isinstance(states, list) else []
