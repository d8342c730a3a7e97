"""What is pressed and chosen on Home and under the question whether everything is to be forgotten."""

from __future__ import annotations

from hermes_bot.edge.clicks import Click
from hermes_bot.edge.command_reader import home_lane
from hermes_bot.edge.concerns import Concern
from hermes_bot.edge.inbound import SENDER
from hermes_bot.edge.views.command_views import FORGET
from hermes_bot.edge.views.home import LANGUAGE, NAMES
from hermes_bot.messages.message import PRIORITY_OPERATOR, Message
from hermes_bot.messages.payloads import fields_of
from hermes_bot.messages.surface_payloads import LANGUAGE_CHOSEN, PERSON_FORGET, LanguageChosen, PersonForget


def home_concern() -> Concern:
    """Return the language menu of Home, and the button that forgets everything."""
    return Concern(buttons={LANGUAGE: _language, FORGET: _forget})


def _language(click: Click) -> Message | None:
    if click.selected not in ("auto", *NAMES):
        return None
    language = "" if click.selected == "auto" else click.selected
    body = LanguageChosen(user=click.user, team=click.team, language=language)
    return Message(
        type=LANGUAGE_CHOSEN,
        sender=SENDER,
        context_id=home_lane(click.team, click.user),
        task_id=click.task_id,
        data=fields_of(body),
        priority=PRIORITY_OPERATOR,
    )


def _forget(click: Click) -> Message | None:
    """Return `person.forget` for whoever pressed, who is the only one to see the button."""
    body = PersonForget(whom=click.user, whose_team=click.team, language=click.fields.get("language", "en"))
    return Message(
        type=PERSON_FORGET,
        sender=SENDER,
        context_id=f"forget:{click.team}:{click.user}",
        task_id=click.task_id,
        data=fields_of(body),
        priority=PRIORITY_OPERATOR,
    )
