"""What a ticket's card shows of the thread before it."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.edge.views.handoff import handoff_look
from hermes_bot.edge.views.look import fault_in
from hermes_bot.edge.views.thread import BEFORE, SHOWN_LINES, shown_lines, thread_before, writers
from hermes_bot.tickets.thread import ThreadLine, Writer
from tests.edge.test_views import HOSTILE, NAMES, TICKET


def line(user: str, text: str, place: int = 0, writer: Writer = Writer.PERSON) -> ThreadLine:
    return ThreadLine(ts=f"{place}.0", user=user, writer=writer, text=text, root=place == 0)


def test_the_card_shows_who_said_what_escaped_and_on_one_line() -> None:
    thread = [
        line("B0MONITOR", "Alert", writer=Writer.PROGRAM),
        line("U0OMAR", "<!channel> & so on\nEmma <Fischer>: I agree", 1),
        line("U0NEW", "Hm", 2),
    ]
    look = handoff_look(TICKET, names=NAMES, thread=thread)

    shown = "\n".join([
        BEFORE,
        "a program: Alert",
        "Omar Haddad: &lt;!channel&gt; &amp; so on Emma &lt;Fischer&gt;: I agree",
        "U0NEW: Hm",
    ])  # fmt: skip
    assert look.text.endswith(shown)
    assert any(block.get("text", {}).get("text") == shown for block in look.blocks)
    assert writers(thread) == ["U0OMAR", "U0NEW"]


def test_the_parent_and_the_last_lines_are_shown_and_nothing_where_there_are_none() -> None:
    thread = [line("U0EMMA", f"Part {place}", place) for place in range(SHOWN_LINES + 5)]

    assert [each.text for each in shown_lines(thread)] == ["Part 0", *(f"Part {place}" for place in range(5, 11))]
    assert BEFORE not in handoff_look(TICKET, names=NAMES).text
    assert thread_before([], NAMES) == ""


@given(st.lists(HOSTILE, max_size=20), HOSTILE)
def test_whatever_stands_there_slack_takes_the_card(texts: list[str], summary: str) -> None:
    thread = shown_lines([line("U0EMMA", text, place) for place, text in enumerate(texts)])
    look = handoff_look(replace(TICKET, handoff_summary=summary), names=NAMES, thread=thread)

    assert fault_in(look.blocks) == ""
    assert "<!channel>" not in look.text
    assert "<!channel>" not in thread_before(thread, NAMES)
