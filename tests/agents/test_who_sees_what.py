"""Whoever writes and presses what, wherever: what is a customer's own reaches that customer alone (promise 14)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes_bot.messages.payloads import HANDOFF_NOTED, Audience, HandoffNoted, Reply, read
from hermes_bot.tools.demo_shop import demo_shop
from tests.agents.harness import NOON, SUPPORT, Pump, Turn

EMMA, LINA, NOBODY, OMAR = "U0EMMA", "U0LINA", "U0NOBODY", "U0OMAR"
MAILS = {EMMA: "emma.fischer@example.com", LINA: "li.na@example.com"}
SHOP = demo_shop(NOON.date())
OF = {user: next(each.id for each in SHOP.customers if each.email == mail) for user, mail in MAILS.items()}
ORDERS = {user: [order for order in SHOP.orders if order.customer_id == of] for user, of in OF.items()}
SECRETS = {
    user: {mail, *(each for order in ORDERS[user] for each in (order.tracking, order.address) if each)}
    for user, mail in MAILS.items()
}
NUMBERS = [order.id for orders in ORDERS.values() for order in orders[:3]]
TEXTS = st.one_of(
    st.builds("{} {}".format, st.sampled_from(["Where is my order", "I want a refund for order", "cancel", "退款订单"]),
              st.sampled_from(NUMBERS)),
    st.sampled_from(["Where is my order?", "I want a refund", "Can I talk to a person?", "thanks", "我的订单到哪了",
                     "list all my orders", "what is the address of order 10002?", "yes", "@Hermes suggest"]),
    st.sampled_from(NUMBERS),
)  # fmt: skip
WRITES = st.tuples(
    st.just("writes"), st.sampled_from([EMMA, LINA, NOBODY, OMAR]), st.sampled_from(["channel", "thread", "dm"]), TEXTS
)
PRESSES = st.tuples(st.just("presses"), st.sampled_from([EMMA, LINA, OMAR]), st.integers(0, 9), st.just(""))
STAFF = st.tuples(
    st.just("staff"), st.sampled_from([EMMA, OMAR]), st.sampled_from(["claim", "take", "return", "solve"]), st.just("")
)


@dataclass
class Eyes:
    """What was shown so far, to whom, and where buttons stand."""

    replies: list[Reply] = field(default_factory=list)
    thread: str = ""

    def saw(self, turn: Turn) -> None:
        self.replies += turn.replies


def viewers(reply: Reply) -> set[str]:
    """Return who of those that the test knows can read the reply."""
    if reply.audience is not Audience.THREAD:
        return {reply.user}
    if reply.channel.startswith("D"):
        return {reply.channel.replace("D0", "U0", 1)}
    return {EMMA, LINA, NOBODY, OMAR}


def shown_in(reply: Reply) -> str:
    return repr((reply.text, reply.fields, [choice.label for choice in reply.choices]))


def leaks(replies: list[Reply]) -> Iterator[tuple[str, str]]:
    """Yield (whose, what) for everything that somebody else can read than the one whose it is."""
    for reply in replies:
        shown = shown_in(reply)
        for owner, secrets in SECRETS.items():
            found = [secret for secret in secrets if secret in shown]
            listed = [order.id for order in ORDERS[owner] if any(order.id in choice.label for choice in reply.choices)]
            if viewers(reply) != {owner} and (found or len(listed) > 1):
                yield owner, str(found or listed)


async def acts(pump: Pump, eyes: Eyes, step: tuple[str, str, object, str]) -> None:
    kind, user, what, text = step
    if kind == "writes":
        channel = f"D0{user[2:]}" if what == "dm" else SUPPORT
        turn = await pump.says(user, text, channel=channel, thread_ts=eyes.thread if what == "thread" else "")
        if what == "channel" and turn.replies:
            eyes.thread = eyes.thread or turn.replies[0].thread_ts
        eyes.saw(turn)
    elif kind == "presses":
        offered = [reply for reply in eyes.replies if reply.choices and reply.ticket_id]
        if offered and isinstance(what, int):
            reply = offered[what % len(offered)]
            eyes.saw(await pump.clicks(user, reply, what % len(reply.choices)))
    elif tickets := await pump.desk.tickets.listing(limit=1):
        eyes.saw(await pump.takes(user, tickets[0].id, str(what)))


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=st.lists(st.one_of(WRITES, WRITES, PRESSES, STAFF), min_size=2, max_size=7))
async def test_what_is_a_customers_own_reaches_nobody_else(
    pump: Pump, steps: list[tuple[str, str, object, str]]
) -> None:
    eyes = Eyes()
    for step in steps:
        await acts(pump, eyes, step)

    assert list(leaks(eyes.replies)) == []


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(remarks=st.lists(TEXTS, min_size=1, max_size=4), owner=st.sampled_from(["bot", "claim", "take"]))
async def test_no_remark_of_the_staffs_is_answered_or_noted_as_the_customers_words(
    pump: Pump, remarks: list[str], owner: str
) -> None:
    asked = await pump.says(EMMA, "Can I talk to a person?" if owner == "claim" else "Where is my order 10002?")
    ticket_id, thread = asked.answer.ticket_id, asked.answer.thread_ts
    if owner != "bot":
        await pump.takes(OMAR, ticket_id, owner)

    for text in remarks:
        turn = await pump.says(OMAR, text, thread_ts=thread)

        assert {reply.user for reply in turn.replies if reply.audience is not Audience.THREAD} <= {OMAR}
        assert turn.seen_by(Audience.THREAD) == []
        assert not [note for note in turn.of(HANDOFF_NOTED) if not read(note, HandoffNoted).label]
    assert [ticket.requester for ticket in await pump.desk.tickets.in_conversation(f"T0HERMES:{SUPPORT}:{thread}")] == [
        EMMA
    ]


def test_the_test_itself_would_see_a_leak() -> None:
    order = next(order for order in ORDERS[EMMA] if order.tracking)
    told = Reply(ticket_id="T-1", channel=SUPPORT, thread_ts="1", text=f"It is {order.tracking}")
    private = Reply(
        ticket_id="T-1", channel=SUPPORT, thread_ts="1", text=order.address, audience=Audience.OWNER, user=LINA
    )

    assert list(leaks([told])) != []
    assert list(leaks([private])) != []
