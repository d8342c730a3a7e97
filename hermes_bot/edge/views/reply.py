"""A reply as it is shown: text, fields, choice buttons."""

from __future__ import annotations

from hermes_bot.edge.text import SECTION_CHARACTERS, escape, shorten, split
from hermes_bot.edge.views.look import (
    BUTTON_CHARACTERS,
    FIELD_CHARACTERS,
    Look,
    actions,
    button,
    field_sections,
    section,
)
from hermes_bot.edge.views.values import packed
from hermes_bot.edge.views.words import fitted
from hermes_bot.messages.payloads import Reply

PART_CHARACTERS = 9_000  # leaves room in a post for fields and buttons
MAX_FIELDS = 20
MAX_CHOICES = 20
VALUE_FIELD = 150
CHOICE_PREFIX = "choice:"


def reply_looks(reply: Reply, *, context_id: str) -> list[Look]:
    """Return the posts for a reply, in order: one, or several where the text is too long for one.

    Fields and buttons stand under the last. Each text is complete, since that is all a notification shows.
    """
    parts = split(reply.text, PART_CHARACTERS) or ["…"]
    looks = [_part(part) for part in parts]
    last, fields = looks[-1], reply.fields[:MAX_FIELDS]
    labelled = "".join(f"\n{escape(label)}: {fitted(value, FIELD_CHARACTERS // 2)}" for label, value in fields)
    blocks = [*last.blocks, *_fields(reply)]
    if reply.choices:
        blocks.append(_choices(reply, context_id))
    return [*looks[:-1], Look(text=last.text + labelled, blocks=tuple(blocks))]


def _part(text: str) -> Look:
    sections = [section(escape(piece)) for piece in split(text, SECTION_CHARACTERS)]
    return Look(text=escape(text), blocks=tuple(sections) or (section(escape(text)),))


def _fields(reply: Reply) -> list[dict[str, object]]:
    pairs = [(fitted(label, VALUE_FIELD), fitted(value, VALUE_FIELD)) for label, value in reply.fields[:MAX_FIELDS]]
    return list(field_sections(pairs))


def _choices(reply: Reply, context_id: str) -> dict[str, object]:
    buttons = [
        button(
            shorten_label(choice.label),
            action_id=f"{CHOICE_PREFIX}{number}",
            value=packed(ticket_id=reply.ticket_id, choice=choice.id, context_id=context_id),
        )
        for number, choice in enumerate(reply.choices[:MAX_CHOICES], start=1)
    ]
    return actions(f"choices:{reply.ticket_id}:{reply.in_reply_to}", *buttons)


def shorten_label(label: str) -> str:
    """Return a button's label, escaped and never too long."""
    return escape(shorten(label.strip() or "…", BUTTON_CHARACTERS))
