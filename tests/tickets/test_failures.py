import pytest

from hermes_bot.bus.port import Delivery
from hermes_bot.messages.message import Chain, Hop, Message, utc_now
from hermes_bot.messages.payloads import Failed, Inbound, Reply, Work, fields_of, read
from hermes_bot.tickets.failures import failed_message
from tests.tickets.conftest import inbound


def delivery(type: str, data: dict[str, object], agent: str, chain: Chain = Chain()) -> Delivery:  # noqa: B008 - frozen
    message = Message(type=type, sender="x", context_id="c", data=data, context_chain=chain)
    return Delivery(message=message, subscription=f"{agent}:{type}", agent=agent, queued_at=utc_now())


def test_a_customers_message_that_nobody_answered_names_what_was_written() -> None:
    failed = failed_message(delivery("ticket.created", fields_of(inbound("help!")), "entry"), "boom")

    assert failed is not None
    assert read(failed, Failed).inbound == inbound("help!")


def test_work_that_failed_names_its_ticket() -> None:
    work = Work(ticket_id="T-1", text="refund", language="en")
    failed = failed_message(delivery("ticket.refund", fields_of(work), "refund"), "boom")

    assert failed is not None
    assert read(failed, Failed).ticket_id == "T-1"


@pytest.mark.parametrize("type", ["approval.settled", "handoff.changed", "handoff.noted"])
def test_a_card_that_could_not_be_drawn_is_no_failure_of_the_customers(type: str) -> None:
    assert failed_message(delivery(type, {"ticket_id": "T-1"}, "slack"), "boom") is None


def test_a_settlement_that_the_waiting_agent_could_not_handle_is_one() -> None:
    assert failed_message(delivery("approval.settled", {"ticket_id": "T-1"}, "refund"), "boom") is not None


def test_a_lost_ephemeral_is_no_failure_and_a_lost_answer_is() -> None:
    answer = fields_of(Reply(ticket_id="T-1", channel="C", thread_ts="1.1", text="hello"))

    assert failed_message(delivery("reply.ready", answer | {"audience": "ephemeral"}, "slack"), "boom") is None
    assert failed_message(delivery("reply.ready", answer, "slack"), "boom") is not None


def test_a_failure_about_a_failure_leads_nowhere() -> None:
    answer = fields_of(Reply(ticket_id="T-1", channel="C", thread_ts="1.1", text="sorry"))
    chain = Chain(hops=(Hop(at=utc_now(), agent="tickets", type="ticket.failed", outcome="done"),))

    assert failed_message(delivery("reply.ready", answer, "slack", chain), "boom") is None


def test_a_reply_in_a_thread_keeps_its_place() -> None:
    said = inbound("and now?", thread_ts="1.1")
    failed = failed_message(delivery("ticket.replied", fields_of(said), "entry"), "boom")

    assert failed is not None
    assert isinstance(read(failed, Failed).inbound, Inbound)
    assert failed.context_id == "c"


@pytest.mark.parametrize("type", ["approval.clicked", "handoff.clicked", "proposal.clicked", "route.corrected"])
def test_staff_whose_click_could_not_be_handled_are_told_and_the_customer_is_not(type: str) -> None:
    click: dict[str, object] = {"ticket_id": "T-1", "approval_id": "APR-1", "user": "U0OMAR", "channel": "C0HANDOFF"}
    told = failed_message(delivery(type, click, "approvals"), "boom")

    assert told is not None
    reply = read(told, Reply)
    assert (reply.audience, reply.user, reply.channel) == ("ephemeral", "U0OMAR", "C0HANDOFF")
    assert "click again" in reply.text
    assert failed_message(delivery("reply.ready", told.data, "slack"), "boom") is None


@pytest.mark.parametrize("type, by", [("command.given", "user"), ("shortcut.used", "user"), ("person.forget", "whom")])
def test_whose_command_could_not_be_handled_is_told_to_give_it_again(type: str, by: str) -> None:
    told = failed_message(delivery(type, {by: "U0EMMA", "channel": "C0SUPPORT"}, "slack"), "boom")

    assert told is not None
    reply = read(told, Reply)
    assert (reply.audience, reply.user, reply.channel) == ("ephemeral", "U0EMMA", "C0SUPPORT")
    assert "Please give it again" in reply.text
