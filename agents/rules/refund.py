"""The rules planner of the refund agent: what the policy says, and the request to pay money back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agents.action import CHOICE_HUMAN, Action, CallTool, Finish, Outcome
from agents.planner import Observation, Run
from agents.rules.which_order import (
    ask_which,
    choice_id,
    moment,
    not_found,
    only_order,
    order_remembered,
    orders_named,
    settled,
    to_people,
    words_of,
)
from agents.texts import Texts
from agents.words import only_asks_about_refunds, says_no, says_yes
from hermes_bot.messages.payloads import Choice

CHOICE_CONFIRM = "confirm:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What is said about one order. `end` is one of missing, refused, pending, elsewhere, confirm."""

    order_id: str
    text: str
    end: str


class RefundPlanner:
    """Finds the order, asks the policy, and where it allows the refund, asks for an approval."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts

    async def plan(self, run: Run) -> Action:
        """Return the next action."""
        if not run.identified:
            return to_people(run, "no_identity")
        named, wanted = self._orders(run)
        if run.memory.get("waiting") == "confirm" and not orders_named(run) and says_no(run.text):
            text = self._texts.render(run.language, "refund.left", order_id=run.memory.get("order", ""))
            return Finish(outcome=Outcome.ANSWERED, text=text, memory=settled(run))
        if not named:
            return ask_which(run, self._texts, "refund")
        parts: list[Part] = []
        for order_id in named:
            step = self._about(run, order_id, wanted=wanted)
            if not isinstance(step, Part):
                return step
            parts.append(step)
        return self._answer(run, parts)

    def _orders(self, run: Run) -> tuple[tuple[str, ...], bool]:
        """Return the orders, and whether the customer has clearly asked for their refund, not only about it."""
        if run.choice.startswith(CHOICE_CONFIRM):
            return (run.choice.removeprefix(CHOICE_CONFIRM),), True
        named = orders_named(run)
        if named:
            return named, bool(run.choice) or not only_asks_about_refunds(run.text)
        if run.memory.get("waiting") == "confirm" and says_yes(run.text):
            return (str(run.memory["order"]),), True
        guessed = order_remembered(run) or only_order(run)
        return ((guessed,), False) if guessed else ((), False)

    def _about(self, run: Run, order_id: str, *, wanted: bool) -> Part | CallTool | Finish:
        """Return what is to be said about one order, or the step that finds it out."""
        check = CallTool(tool="refund_eligibility", arguments={"order_id": order_id})
        seen = run.seen(check)
        if seen is None:
            return check
        if seen.status != "done":
            return to_people(run, "no_identity" if seen.code == "unknown_customer" else "tool_refused")
        facts = seen.result
        if facts["code"] == "not_found":
            text = self._texts.render(run.language, "order.not_found", order_id=order_id)
            return Part(order_id=order_id, text=text, end="missing")
        earlier = run.memory.get("refunds", {}).get(facts["order_id"], "")
        if earlier in _ASKED_BEFORE:
            return self._part(run, facts, _ASKED_BEFORE[earlier], "pending" if earlier == "pending" else "refused")
        if not facts["allowed"]:
            return self._part(run, facts, f"refund.refused.{facts['code']}", "refused")
        if not wanted:
            return self._part(run, facts, "refund.confirm", "confirm")
        return self._issue(run, facts)

    def _issue(self, run: Run, facts: dict[str, Any]) -> Part | CallTool | Finish:
        call = CallTool(
            tool="issue_refund",
            arguments={
                "order_id": facts["order_id"],
                "amount_cents": facts["amount_cents"],
                "currency": facts["currency"],
                "reason": words_of(run),
            },
        )
        seen = run.seen(call)
        if seen is None:
            return call
        if seen.status == "waiting":
            return self._part(run, facts, "refund.pending", "pending")
        if seen.status == "asked_before":
            return self._part(run, facts, "refund.asked_elsewhere", "elsewhere")
        return to_people(run, "tool_refused", ("The refund tool said", _why_not(seen)))

    def _part(self, run: Run, facts: dict[str, Any], key: str, end: str) -> Part:
        values = facts | {"window_until": moment(facts["window_until"])}
        return Part(order_id=facts["order_id"], text=self._texts.render(run.language, key, **values), end=end)

    def _answer(self, run: Run, parts: Sequence[Part]) -> Finish:
        text = "\n".join(part.text for part in parts)
        ends = {part.end for part in parts}
        if ends == {"missing"}:
            return not_found(run, text)
        known = [part for part in parts if part.end != "missing"]
        refunds = dict(run.memory.get("refunds", {}))
        refunds |= {part.order_id: "pending" for part in parts if part.end == "pending"}
        memory = settled(run, order=known[0].order_id, refunds=refunds)
        if "confirm" not in ends:
            return Finish(outcome=Outcome.ANSWERED, text=text, choices=self._human(run, ends), memory=memory)
        asked = next(part.order_id for part in parts if part.end == "confirm")
        label = self._texts.render(run.language, "refund.confirm_choice")
        choices = (Choice(id=choice_id(run, CHOICE_CONFIRM, asked), label=label),)
        memory |= {"waiting": "confirm", "order": asked, "words": words_of(run)}
        return Finish(outcome=Outcome.ASK_CUSTOMER, text=text, choices=choices, memory=memory)

    def _human(self, run: Run, ends: set[str]) -> tuple[Choice, ...]:
        if "refused" not in ends:
            return ()
        return (Choice(id=CHOICE_HUMAN, label=self._texts.render(run.language, "refund.human_choice")),)


_ASKED_BEFORE = {"pending": "refund.still_pending", "rejected": "refund.declined_before"}


def _why_not(seen: Observation) -> str:
    return seen.code or "; ".join(seen.problems) or seen.status
