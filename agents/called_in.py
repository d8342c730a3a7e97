"""What stood in a thread before the customer called the bot into it: read once, kept, and understood.

Only what the same customer said there can tell what they want. What others said gives people something to read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import msgspec

from agents.deciding import Decision, Situation, decide
from agents.desk import Desk
from agents.words import SmallTalk, calls_for_help, small_talk
from hermes_bot.messages.payloads import TICKET_HANDOFF, TICKET_UNKNOWN, Inbound
from hermes_bot.tickets.thread_lines import ThreadLines
from hermes_bot.tickets.ticket import Ticket
from hermes_bot.tickets.tickets import Located

MOST_EARLIER = 5
_SAYS_SOMETHING = frozenset({SmallTalk.THANKS.value, SmallTalk.BYE.value, "out_of_scope", "unclear_twice"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Meant:
    """Where a message goes, and the words that it goes there with."""

    decision: Decision
    text: str


async def keep_thread(inbound: Inbound, located: Located, desk: Desk) -> None:
    """Read what stands above the message that opened a ticket, unless an earlier attempt at it has."""
    if desk.threads is None or not located.opened or not inbound.thread_ts:
        return
    kept = ThreadLines.of(desk.tickets)
    if not await kept.all(located.ticket.id):
        await kept.keep(located.ticket.id, await desk.threads.before(inbound))


async def meant(inbound: Inbound, words: str, situation: Situation, ticket: Ticket, desk: Desk) -> Meant:
    """Return what the message means; one that says nothing by itself means what the customer said before it.

    Where they said nothing either, a mere call for help goes to people, who can read the thread.
    """
    decision = await decide(inbound, situation, desk)
    calls = calls_for_help(inbound.text)
    if situation.agent or not inbound.thread_ts or not (calls or _says_nothing(decision)):
        return Meant(decision=decision, text=words)
    lines = await ThreadLines.of(desk.tickets).all(ticket.id)
    own = [line.words for line in lines if line.own and line.words.strip()][-MOST_EARLIER:]
    for before in reversed(own):
        asked = msgspec.structs.replace(inbound, text=before, files=())
        earlier = await decide(asked, Situation(team=situation.team, remembering=situation.remembering), desk)
        if earlier.type not in ("", TICKET_UNKNOWN):
            told = replace(earlier, why=f"said before in the thread: {earlier.why}")
            return Meant(decision=told, text="\n".join(filter(None, (before, words))))
    if lines and calls and small_talk(inbound.text) is None:
        decision = Decision(type=TICKET_HANDOFF, why="called into a thread", reason="thread")
    return Meant(decision=decision, text=words)


def _says_nothing(decision: Decision) -> bool:
    return decision.type in ("", TICKET_UNKNOWN) and decision.reason not in _SAYS_SOMETHING
