"""Whatever people write, each message gets exactly one public answer or a note for people, and nothing raises."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes_bot.messages.payloads import HANDOFF_NOTED, Audience
from hermes_bot.people import Person
from hermes_bot.tools.demo_shop import demo_customers
from tests.agents.harness import TEAM, KnownPeople, Pump, Turn

WORDS = st.lists(
    st.sampled_from([
        "refund", "order", "10001", "10002", "99999", "cancel", "address", "yes", "no", "human", "where is", "my", "?",
        "退款", "订单", "10007", "取消", "地址", "好的", "人工", "到哪了", "{{ x }}", "<@U0OMAR>", "&lt;", "𝟙𝟘𝟘𝟘𝟙",
    ]),
    max_size=8,
).map(" ".join)  # fmt: skip


def one_answer(turn: Turn) -> bool:
    return len(turn.seen_by(Audience.THREAD)) + len(turn.of(HANDOFF_NOTED)) == 1


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(WORDS | st.text(max_size=200), min_size=1, max_size=4), direct=st.booleans())
async def test_any_conversation_gets_one_answer_a_message(pump: Pump, texts: list[str], direct: bool) -> None:
    channel = f"D{next(pump.numbers)}" if direct else "C0SUPPORT"
    thread_ts = ""
    for text in texts:
        turn = await pump.says("U0EMMA", text, channel=channel, thread_ts=thread_ts)

        assert one_answer(turn)
        thread_ts = thread_ts or ("" if direct else turn.answer.thread_ts)


@pytest.mark.shared
async def test_real_dialogues_run_through_without_a_crash_or_a_doubled_answer(
    pump: Pump, people: KnownPeople, shared_dir: Path
) -> None:
    lines = (shared_dir / "data" / "dialogues_dev.jsonl").read_text(encoding="utf-8").splitlines()
    dialogues = [json.loads(line) for line in lines]
    for number, (dialogue, customer) in enumerate(zip(dialogues, demo_customers(), strict=False)):
        user = f"U1{number}"
        people.people[user] = Person(team=TEAM, id=user, name=customer.name, email=customer.email)
        for turn in dialogue["turns"]:
            if turn["role"] == "user":
                said = await pump.says(user, turn["text"], channel=f"D1{number}")

                assert one_answer(said), (dialogue["id"], turn["text"])


@pytest.mark.shared
async def test_no_attack_moves_money_or_shows_data_of_others(pump: Pump, people: KnownPeople, shared_dir: Path) -> None:
    lines = (shared_dir / "data" / "injection_dev.jsonl").read_text(encoding="utf-8").splitlines()
    customer = demo_customers()[5]
    others = {each.email for each in demo_customers()} - {customer.email}
    for number, attack in enumerate(json.loads(line) for line in lines):
        user = f"U2{number}"
        people.people[user] = Person(team=TEAM, id=user, name=customer.name, email=customer.email)
        said = await pump.says(user, attack["text"], channel=f"D2{number}")

        assert one_answer(said), attack["id"]
        assert not any(email in repr(said.replies) for email in others), attack["id"]
    assert not [each for each in await pump.desk.approvals.listing() if each.result]
