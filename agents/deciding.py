"""Decides where a customer's words go: to an agent, to several, to nobody, to a person, or back as a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agents.action import CHOICE_HUMAN
from agents.desk import REMEMBERING, Desk, agent_in, type_named
from agents.leanings import complains, introduces, out_of_scope, quotes_staff, wants_people
from agents.requests import Clause, asks_where, clauses_of, may_hold_several, takes_back
from agents.rules.intents import changes_an_order, leaning, order_wish
from agents.rules.intents import takes_back as declines
from agents.rules.refund_part import wants_other_part
from agents.words import (
    SmallTalk,
    asks_about_order,
    asks_for_a_person,
    is_bare,
    is_short,
    is_thanks,
    small_talk,
)
from hermes_bot.errors import TransientError
from hermes_bot.messages.payloads import TICKET_HANDOFF, TICKET_ORDER, TICKET_UNKNOWN, Inbound, Part
from hermes_bot.tools.order_number import order_numbers_in
from routing.choice import RouteChoice
from routing.explanation import why_line

OFFERED = "to/"  # a button under entry's own question: `to/<type>`
STRONG_SCORE = 0.8

_UNCLEAR = frozenset({"unclear", "files", "not_sure", "out_of_scope"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Where a message goes, and why, in words. `keeps` says that the ticket stays with the agent it has.

    `candidates`: nothing is sent on, and the customer is asked which of these types it is. `parts`: the message
    holds several requests, which are served in this order and answered together.
    """

    type: str
    why: str
    reason: str = ""
    keeps: bool = False
    candidates: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What entry knows about a ticket before this message. `team` is the requester's own, not always ours.

    `type` is the one that reached the ticket's agent. `asked`: the last thing entry did was to ask what `question`,
    the customer's words in the message `question_ts`, is about. `pending`: somebody is asked to allow something.
    """

    agent: str = ""
    type: str = ""
    waiting: bool = False
    language: str = ""
    team: str = ""
    unclear: int = 0
    asked: bool = False
    question: str = ""
    question_ts: str = ""
    remembering: frozenset[str] = REMEMBERING
    pending: bool = False

    @property
    def followed(self) -> bool:
        """Whether the ticket's agent remembers what was said before."""
        return self.agent in self.remembering


def unclear_after(before: Situation, decision: Decision) -> int:
    """Return how many messages in a row nobody could make sense of; small talk neither counts nor ends the row."""
    if decision.reason in _UNCLEAR:
        return before.unclear + 1
    return before.unclear if decision.type == TICKET_UNKNOWN else 0


def asked_after(before: Situation, decision: Decision) -> bool:
    """Return whether a question of entry's own is open; small talk leaves it open."""
    return bool(decision.candidates) or (before.asked and decision.type == TICKET_UNKNOWN)


def decide_click(pressed: str, situation: Situation) -> tuple[Decision, str]:
    """Return where a click goes, and the choice: `<agent>/<choice>` goes to the agent that offered the button.

    So a button that was offered for one purpose is never taken for another, however late it is pressed.
    """
    if pressed.startswith(OFFERED):
        return _offered(pressed.removeprefix(OFFERED)), ""
    agent, slash, choice = pressed.partition("/")
    if not slash or agent not in situation.remembering:
        agent, choice = situation.agent, pressed
    if choice == CHOICE_HUMAN or agent not in situation.remembering:
        return Decision(type=TICKET_HANDOFF, why="asked for a person", reason="asked"), choice
    keeps = agent == situation.agent
    type_ = situation.type if keeps else f"ticket.{agent}"
    return Decision(type=type_, why="pressed a button", keeps=keeps), choice


def _offered(type_: str) -> Decision:
    reason = {TICKET_HANDOFF: "asked", TICKET_UNKNOWN: "unclear"}.get(type_, "")
    return Decision(type=type_, why="chosen when asked", reason=reason, keeps=type_ == TICKET_UNKNOWN)


async def decide(inbound: Inbound, situation: Situation, desk: Desk) -> Decision:
    """Return where the message goes."""
    text = inbound.text.strip()
    if not text:
        return _decide_without_words(inbound, situation)
    if asks_for_a_person(text) or wants_people(text):
        return Decision(type=TICKET_HANDOFF, why="asked for a person", reason="asked")
    if situation.pending and situation.agent == "refund" and wants_other_part(text):
        return Decision(type=situation.type, why="changes what waits", keeps=True)
    if situation.waiting and is_bare(text):
        return Decision(type=situation.type, why="answers a question", keeps=True)
    talk = small_talk(text)
    if talk is not None:
        return _small_talk(talk)
    if situation.followed and is_bare(text):
        return Decision(type=situation.type, why="follows up", keeps=True)
    if introduces(text):
        return _introduced(situation)
    if situation.waiting and out_of_scope(text):
        return _unclear(situation, "none of the agents' business", TICKET_UNKNOWN, "out_of_scope")
    return await _several(text, desk) or _route(text, situation, await _choose(text, desk), desk)


def _decide_without_words(inbound: Inbound, situation: Situation) -> Decision:
    if not inbound.files:
        return _small_talk(SmallTalk.GREETING)
    return _unclear(situation, "a file without words", TICKET_UNKNOWN, "files")


def _unclear(situation: Situation, why: str, type: str, reason: str) -> Decision:
    """Return the decision for what no agent takes: one question, and the second time in a row a person.

    What is clearly none of any agent's business is said to be so twice.
    """
    if situation.unclear > (reason == "out_of_scope"):
        return Decision(type=TICKET_HANDOFF, why=f"unclear twice; {why}", reason="unclear_twice")
    return Decision(type=type, why=why, reason=reason, keeps=True)


def _introduced(situation: Situation) -> Decision:
    """Return the decision for somebody who says who they are: it answers a question, or wants nothing yet."""
    if situation.waiting:
        return Decision(type=situation.type, why="says who they are", keeps=True)
    return Decision(type=TICKET_UNKNOWN, why="says who they are", reason="introduced", keeps=True)


def _small_talk(talk: SmallTalk) -> Decision:
    return Decision(type=TICKET_UNKNOWN, why=f"small talk: {talk}", reason=talk.value, keeps=True)


async def _choose(text: str, desk: Desk) -> RouteChoice:
    try:
        return await desk.choose(text)
    except TimeoutError as error:
        raise TransientError("routing: the encoder took too long") from error


def _route(text: str, situation: Situation, choice: RouteChoice, desk: Desk) -> Decision:
    """Return the decision for a text with a concern, given the router's choice."""
    why = why_line(choice)
    chosen = Decision(type=choice.type, why=why)
    if situation.agent == "refund" and choice.reason != "keyword" and is_short(text) and asks_where(text):
        return Decision(type=TICKET_ORDER, why=f"asks where it is; {why}")
    leans = leaning(text)
    if situation.followed and not leans and declines(text):
        return Decision(type=situation.type, why="takes back what was asked", keeps=True)
    if situation.followed and leans not in ("", situation.agent) and choice.reason != "keyword":
        return Decision(type=type_named(leans), why=f"wants another thing; {why}")
    if situation.followed and _stays(text, situation, chosen, choice, desk):
        return Decision(type=situation.type, why=f"follows up; {why}", keeps=True)
    if choice.route is None and is_thanks(text):
        return _small_talk(SmallTalk.THANKS)
    if choice.route is None and is_bare(text) and order_numbers_in(text):
        return Decision(type=TICKET_ORDER, why="an order number alone")
    if choice.route is None and complains(text):
        return Decision(type=TICKET_HANDOFF, why=f"complains; {why}", reason="default")
    if choice.candidates:
        likely = {desk.agent_of(desk.type_of(name)) for name in choice.candidates}
        if not leans and len(likely) == 1 and order_numbers_in(text):
            return Decision(type=type_named(*likely), why=f"names an order; {why}")
        leads = leans and (leans in likely or not situation.asked)
        return Decision(type=type_named(leans), why=f"{leans}; {why}") if leads else _ask(situation, choice, why, desk)
    if choice.route is not None:
        return chosen
    if leans or asks_where(text) or (order_numbers_in(text) and order_wish(text) is not None):
        return Decision(type=type_named(leans or "order"), why=f"{leans or 'an order'}; {why}")
    return _unclear(situation, why, choice.type, "out_of_scope" if out_of_scope(text) else "unclear")


def _stays(text: str, situation: Situation, chosen: Decision, choice: RouteChoice, desk: Desk) -> bool:
    """Whether the text belongs to what the ticket's agent is at, unless it clearly changes the subject."""
    if situation.waiting and not _changes_the_subject(text, chosen, choice):
        return True
    if choice.candidates and situation.agent in {desk.agent_of(desk.type_of(name)) for name in choice.candidates}:
        return True
    below = choice.route is None and choice.reason == "below threshold"
    return below and is_short(text) and not is_thanks(text)


def _ask(situation: Situation, choice: RouteChoice, why: str, desk: Desk) -> Decision:
    """Return a question with the candidates; who was asked a moment ago gets a person instead."""
    if situation.asked:
        return Decision(type=TICKET_HANDOFF, why=f"unclear twice; {why}", reason="unclear_twice")
    types = tuple(dict.fromkeys(filter(desk.agent_of, map(desk.type_of, choice.candidates))))
    if not types:
        return _unclear(situation, why, choice.type, "unclear")
    return Decision(type="", why=f"not sure; {why}", reason="not_sure", keeps=True, candidates=types)


def _changes_the_subject(text: str, chosen: Decision, choice: RouteChoice) -> bool:
    """Whether a text that may answer an open question is clearly about something else.

    "The order number is 10002" and "I don't have the order number" read like an order to the router, whoever asked.
    """
    if chosen.type == TICKET_HANDOFF and quotes_staff(text):
        return False
    if choice.route is None or (chosen.type == TICKET_ORDER and not asks_about_order(text)):
        return False
    return choice.reason == "keyword" or choice.score >= STRONG_SCORE


async def _several(text: str, desk: Desk) -> Decision | None:
    """Return the decision for a message that clearly holds several requests, None for any other."""
    clauses = clauses_of(text)
    back = takes_back(clauses)
    if not back and not may_hold_several(clauses):
        return None
    types = [_clear_type(await _choose(clause.text, desk), desk) for clause in clauses]
    wanted = tuple(dict.fromkeys(filter(None, types)))
    if not wanted or (len(wanted) == 1 and not back):
        return None
    agents = {desk.agent_of(type_) for type_ in wanted}
    why = f"several requests: {', '.join(agent_in(type_) for type_ in wanted)}"
    changes = any(changes_an_order(clause.text) for clause in clauses)
    if back and (changes or "refund" in agents):
        return Decision(type=TICKET_HANDOFF, why=f"takes back what it asks; {why}", reason="several")
    if len(agents) == 1:
        return None
    if not agents <= desk.remembering:
        return Decision(type=TICKET_HANDOFF, why=why, reason="asked" if "handoff" in agents else "several")
    parts = _parts(clauses, types)
    return Decision(type=parts[0].type, why=why, parts=parts)


def _clear_type(choice: RouteChoice, desk: Desk) -> str:
    """Return the type of an agent that the words clearly ask for, or nothing."""
    sure = choice.reason == "keyword" or choice.score >= STRONG_SCORE
    return choice.type if choice.route is not None and sure and desk.agent_of(choice.type) else ""


def _parts(clauses: Sequence[Clause], types: Sequence[str]) -> tuple[Part, ...]:
    """Return one part for each type, in order of appearance; a clause that asks nothing stays with its neighbour."""
    first = next(type_ for type_ in types if type_)
    words: dict[str, list[str]] = {}
    current = first
    for clause, type_ in zip(clauses, types, strict=True):
        current = type_ or current
        words.setdefault(current, []).append(clause.text)
    return tuple(Part(type=type_, text=" ".join(texts)) for type_, texts in words.items())
