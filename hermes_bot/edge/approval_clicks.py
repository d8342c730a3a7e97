"""What the buttons of approval cards and the forms behind them mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from hermes_bot.edge.cards import Approvals
from hermes_bot.edge.clicks import Click, Submission, card_fields, mapping, message_of, text_of
from hermes_bot.edge.concerns import Concern, FormErrors, FormReader
from hermes_bot.edge.inbound import identifier
from hermes_bot.edge.text import head
from hermes_bot.edge.views import ask_modal, edit_modal, reject_modal
from hermes_bot.edge.views.approval import APPROVE, ASK, EDIT, REJECT
from hermes_bot.edge.views.look import Json
from hermes_bot.errors import PermanentError
from hermes_bot.messages.approval_payloads import APPROVAL_ASKED, APPROVAL_EDITED, ApprovalAsked, ApprovalEdited
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import APPROVAL_CLICKED, ApprovalClicked
from hermes_bot.tools.outcome import Invalid
from hermes_bot.tools.registry import Tool

ToolOf = Callable[[str], Tool | None]

TOOL = "tool"
ERROR_CHARACTERS = 200
DECISIONS: Mapping[str, str] = {APPROVE: "approve", REJECT: "reject", EDIT: "edit", ASK: "ask"}


def approval_concern(approvals: Approvals, tool_of: ToolOf) -> Concern:
    """Return the buttons and forms of approval cards.

    Reject asks for a reason; without the form it counts as it is. Where another form does not open, whoever acts on
    approvals tells the person why.
    """
    return Concern(
        buttons=dict.fromkeys(DECISIONS, read_decision),
        openers={REJECT: _ask_why, EDIT: partial(_open_edit, approvals, tool_of), ASK: partial(_open_ask, approvals)},
        forms={
            reject_modal.CALLBACK_ID: FormReader(read=read_rejection, error_block=reject_modal.REASON_BLOCK),
            ask_modal.CALLBACK_ID: FormReader(read=read_question, error_block=ask_modal.QUESTION_BLOCK),
            edit_modal.CALLBACK_ID: FormReader(read=partial(read_edit, tool_of), error_block=""),
        },
    )


def read_decision(click: Click, reason: str = "") -> Message | None:
    """Return `approval.clicked`; None for a button that carries nonsense."""
    approval_id, shown_hash = click.fields.get("approval_id", ""), click.fields.get("shown_hash", "")
    if not approval_id:
        return None
    body = ApprovalClicked(
        approval_id=approval_id,
        decision=DECISIONS[click.action_id],
        shown_hash=shown_hash,
        user=click.user,
        team=click.team,
        channel=click.channel,
        message_ts=click.message_ts,
        reason=reason,
        thread_ts=click.inside,
    )
    return message_of(click, APPROVAL_CLICKED, body)


def read_rejection(form: Submission) -> Message | None:
    """Return `approval.clicked` with the reason that was given."""
    reason = form.words(reject_modal.REASON_BLOCK, reject_modal.REASON_CHARACTERS)
    return read_decision(form.as_click(REJECT), reason)


def read_question(form: Submission) -> Message | FormErrors | None:
    """Return `approval.asked`."""
    question = form.words(ask_modal.QUESTION_BLOCK, ask_modal.QUESTION_CHARACTERS)
    if not form.fields.get("approval_id"):
        return None
    if not question:
        return {ask_modal.QUESTION_BLOCK: "Please write a question."}
    click = form.as_click(ASK)
    return message_of(click, APPROVAL_ASKED, ApprovalAsked(question=question, **_place(click)))


def read_edit(tool_of: ToolOf, form: Submission) -> Message | FormErrors | None:
    """Return `approval.edited`, or what the tool's schema finds wrong, by input; the policy is asked later."""
    if not form.fields.get("approval_id"):
        return None
    tool = tool_of(form.fields.get(TOOL, ""))
    arguments = typed_arguments(form, tool.parameters if tool else {})
    if tool is not None:
        read = tool.arguments.read({name: text for name, text in arguments.items() if text})
        if isinstance(read, Invalid):
            return _errors(read, arguments)
    click = form.as_click(EDIT)
    return message_of(click, APPROVAL_EDITED, ApprovalEdited(arguments=arguments, **_place(click)))


def typed_arguments(form: Submission, schema: edit_modal.Schema) -> dict[str, str]:
    """Return what was typed and chosen in the form behind Edit, by argument."""
    properties: Mapping[str, edit_modal.Schema] = schema.get("properties", {})
    arguments = {}
    for block, state in form.values.items():
        if not block.startswith(edit_modal.ARGUMENT):
            continue
        name = block.removeprefix(edit_modal.ARGUMENT)
        answer = mapping(mapping(state).get(block))
        chosen = text_of(mapping(answer.get("selected_option")).get("value"))
        written = chosen or head(text_of(answer.get("value")), edit_modal.TEXT_CHARACTERS)
        arguments[name] = edit_modal.typed(name, written, properties.get(name, {}))
    return arguments


def _errors(invalid: Invalid, arguments: Mapping[str, str]) -> FormErrors:
    """Return each problem at its input; one that belongs to none stands at the first."""
    first = next(iter(arguments), "")
    errors: FormErrors = {}
    for problem in invalid.problems:
        name, _, words = problem.partition(":")
        known = name in arguments
        errors.setdefault(edit_modal.block_of(name if known else first), (words if known else problem).strip())
    return {block: head(words, ERROR_CHARACTERS) for block, words in errors.items()}


def _place(click: Click) -> dict[str, str]:
    return {
        "approval_id": click.fields.get("approval_id", ""),
        "shown_hash": click.fields.get("shown_hash", ""),
        "user": click.user,
        "team": click.team,
        "channel": identifier(click.channel),
        "message_ts": identifier(click.message_ts),
        "thread_ts": identifier(click.inside),
    }


async def _ask_why(click: Click) -> Json | None:
    return reject_modal.reject_modal(card_fields(click)) if click.fields.get("approval_id") else None


async def _open_ask(approvals: Approvals, click: Click) -> Json | None:
    request = await approvals.get(click.fields.get("approval_id", ""))
    return ask_modal.ask_modal(card_fields(click)) if request.pending else None


async def _open_edit(approvals: Approvals, tool_of: ToolOf, click: Click) -> Json | None:
    request = await approvals.get(click.fields.get("approval_id", ""))
    tool = tool_of(request.tool)
    if tool is None:
        raise PermanentError(f"the tool {request.tool} is not there any more")
    if not request.pending or click.fields.get("shown_hash") != request.shown_hash:
        return None
    return edit_modal.edit_modal(request, tool.parameters, card_fields(click) | {TOOL: request.tool})
