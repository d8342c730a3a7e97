"""What a model is shown of a long ticket: no more than the limit, and the first constraints always."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from hermes_bot.llm.english_words import minilm_folder
from hermes_bot.memory.tokens import cut_to, estimated_tokens
from hermes_bot.memory.window import MODEL_INPUT_TOKENS, MOST_ENTRIES, WHOLE_ENTRIES, Entry, EntryKind, Window

ROOT = Path(__file__).parents[2]
NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
FIRST = ("Only the order 10002 is meant.", "Nothing may cost the customer more than 20 EUR.", "只用中文回答。")
TALK = (
    "The customer writes that the parcel was left in the rain and that the box is soaked, the jacket inside is damp, "
    "and that the courier did not ring although somebody was at home all day. They ask what can be done about it. "
    "客户说包裹被放在雨里，外箱湿透，里面的衣服也湿了，希望尽快处理。"
)


def entry(kind: EntryKind, text: str, task: str = "") -> Entry:
    return Entry(kind=kind, text=text, at=NOON, task=task)


def test_20_sub_tasks_and_200_messages_stay_flat_with_the_first_constraints_in_it() -> None:
    window = Window().added(*(entry(EntryKind.CONSTRAINT, text) for text in FIRST))
    sizes = []
    for number in range(200):
        kind = (EntryKind.CUSTOMER, EntryKind.ANSWER, EntryKind.STEP, EntryKind.DECISION)[number % 4]
        window = window.added(entry(kind, f"{number}: {TALK}"))
        if number % 10 == 9:
            task = f"task {number // 10}"
            window = window.added(*(entry(EntryKind.STEP, f"{step} of {task}: {TALK}", task) for step in range(5)))
            window = window.finished(task, f"result of {task}")
            assert not window.of(task)
        shown = window.shown()
        sizes.append(shown.tokens)
        assert shown.tokens <= MODEL_INPUT_TOKENS
        assert shown.constraints == FIRST

    assert WHOLE_ENTRIES < len(window.entries) <= MOST_ENTRIES
    assert max(sizes[100:]) - min(sizes[100:]) < 0.1 * MODEL_INPUT_TOKENS  # flat
    assert shown.newest[-1].text == f"199: {TALK}"
    assert "result of task 19" in shown.text


def test_the_newest_twenty_are_whole_and_older_ones_a_line() -> None:
    window = Window().added(*(entry(EntryKind.STEP, f"step {number} " + "done " * 60) for number in range(30)))

    shown = window.shown()
    assert [each.text for each in shown.newest] == [each.text for each in window.entries[-WHOLE_ENTRIES:]]
    assert [line.split()[1] for line in shown.steps] == [str(number) for number in range(10)]
    assert all(estimated_tokens(line) <= 40 for line in shown.steps)


def test_decisions_that_are_old_are_kept_apart_from_steps() -> None:
    window = Window().added(entry(EntryKind.DECISION, "Refund 20 EUR, no more"))
    window = window.added(*(entry(EntryKind.STEP, f"step {number}") for number in range(200)))

    assert window.shown().decisions == ("Refund 20 EUR, no more",)


def test_a_constraint_said_twice_is_one() -> None:
    window = Window().added(*(entry(EntryKind.CONSTRAINT, FIRST[0]) for _ in range(3)))

    assert window.shown().constraints == FIRST[:1]


entries = st.builds(
    entry,
    st.sampled_from(EntryKind),
    st.one_of(st.text(max_size=300), st.text("快递地址退款", max_size=3_000), st.text("ab1 ", max_size=9_000)),
    st.sampled_from(("", "a", "b")),
)


@given(new=st.lists(entries, max_size=70), limit=st.integers(300, MODEL_INPUT_TOKENS))
def test_no_history_makes_the_model_input_larger_than_the_limit(new: list[Entry], limit: int) -> None:
    window = Window().added(entry(EntryKind.CONSTRAINT, FIRST[0])).added(*new).finished("a", "done")

    shown = window.shown(limit)
    assert shown.tokens <= limit
    assert shown.constraints[0] == FIRST[0]
    assert len(window.entries) <= MOST_ENTRIES


@given(text=st.text(max_size=500), limit=st.integers(0, 200))
def test_a_cut_text_costs_no_more_than_the_limit(text: str, limit: int) -> None:
    cut = cut_to(text, limit)

    assert estimated_tokens(cut) <= max(limit, 0)
    assert cut == text or text.startswith(cut.removesuffix("…"))


def test_the_estimate_is_above_what_a_tokenizer_counts() -> None:
    folder = minilm_folder()
    assert folder is not None
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    rows = map(json.loads, (ROOT / "tests" / "data" / "labelled.jsonl").read_text(encoding="utf-8").splitlines())
    texts = [row["text"] for row in rows if row["lang"] in ("en", "zh")]
    texts += [TALK, "see https://example.com/track?id=SF676470201646&x=1"]

    for text in texts:
        counted = len(tokenizer.encode(text, add_special_tokens=False).ids)
        assert counted <= estimated_tokens(text)
