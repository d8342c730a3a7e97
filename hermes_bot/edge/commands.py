"""Answers the slash command, to the one who gave it alone: `command.given`. What it does stands in docs/slack.md."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from hermes_bot.approvals.access import Access
from hermes_bot.approvals.request import ApprovalRequest
from hermes_bot.bus.port import Delivery
from hermes_bot.edge.cards import Approvals
from hermes_bot.edge.command_acts import ACTS, OWN, USAGE, CommandActs
from hermes_bot.edge.command_words import LANGUAGES, MINE, YES, Words, read_words
from hermes_bot.edge.responder import Responder
from hermes_bot.edge.standing import Standing, Standings
from hermes_bot.edge.surface import Surface
from hermes_bot.edge.text import escape
from hermes_bot.edge.views import command_views as views
from hermes_bot.edge.views.look import Json
from hermes_bot.edge.whereabouts import Whereabouts
from hermes_bot.messages.message import Message
from hermes_bot.messages.payloads import read
from hermes_bot.messages.surface_payloads import (
    HOME_OPENED,
    PERSON_FORGET,
    Command,
    Home,
    PersonForget,
)
from hermes_bot.messages.whisper import whisper
from hermes_bot.tickets.waits import Render


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Plain text for the person, blocks where buttons belong to it, and what follows."""

    text: str
    blocks: tuple[Json, ...] = ()
    outputs: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A command with who gave it."""

    message: Message
    command: Command
    words: Words
    person: Standing


class Commands:
    """The handler of `command.given`."""

    def __init__(
        self,
        surface: Surface,
        standings: Standings,
        acts: CommandActs,
        access: Access,
        *,
        approvals: Approvals,
        responder: Responder,
        whereabouts: Whereabouts,
        render: Render,
    ) -> None:
        self._surface = surface
        self._standings = standings
        self._acts = acts
        self._access = access
        self._approvals = approvals
        self._responder = responder
        self._whereabouts = whereabouts
        self._render = render
        self._verbs: Mapping[str, Callable[[Asked], Awaitable[Answer]]] = {
            "help": self._help,
            "status": self._status,
            "tickets": self._tickets,
            "approvals": self._waiting,
            "proposals": self._proposals,
            "route": self._route,
            "memory": self._memory,
            "forget": self._forget,
            "language": self._language,
        }

    async def on_given(self, message: Message, _delivery: Delivery) -> Sequence[Message]:
        """Answer; where the response_url is used up, in another way that only this person sees."""
        command = read(message, Command)
        person = await self._standings.of(command.team, command.user)
        asked = Asked(message=message, command=command, words=read_words(command.text), person=person)
        answer = await self._answer(asked)
        hint = await self._whereabouts.hint(command.channel)
        text = "\n\n".join([answer.text, *([self._say(person, hint)] if hint else [])])
        if await self._responder.whisper(command.response_url, escape(text), answer.blocks):
            return answer.outputs
        return [*answer.outputs, whisper(message, text, channel=command.channel, user=command.user)]

    async def _answer(self, asked: Asked) -> Answer:
        if asked.person.stranger:
            return Answer(text=self._say(asked.person, "command.stranger"))
        if asked.words.verb in ACTS:
            return await self._act(asked)
        verb = self._verbs.get(asked.words.verb)
        if verb is None:
            return Answer(text=f"{self._say(asked.person, 'command.unknown')}\n{(await self._help(asked)).text}")
        return await verb(asked)

    async def _act(self, asked: Asked) -> Answer:
        """Do what a button does. Who may is decided there; only who holds no role at all is told so here."""
        person = asked.person
        if not (asked.words.verb in OWN or person.staff or person.approver or person.admin):
            return Answer(text=self._say(person, "command.staff_only"))
        act = await self._acts.of(asked.words, asked.command, staff=person.staff)
        if act.trouble == USAGE:
            return self._usage(asked)
        if act.trouble:
            return Answer(text=self._say(person, act.trouble))
        said = "command.stopping" if asked.words.verb == "stop" else "command.passed_on"
        return Answer(text=self._say(person, said), outputs=(act.message(asked.message),))

    async def _help(self, asked: Asked) -> Answer:
        person = asked.person
        parts = ["command.help", *(["command.help_staff"] if person.staff or person.approver or person.admin else [])]
        return Answer(text="\n\n".join(self._say(person, part) for part in parts))

    async def _status(self, asked: Asked) -> Answer:
        person, overview = asked.person, self._surface.overview
        trouble = await self._surface.trouble()
        own = await overview.count_open(person.team, person.user)
        lines = [self._say(person, "command.status.unwell" if trouble else "command.status.well")]
        lines.append(self._say(person, "command.status.own", count=own))
        if person.staff:
            waiting, everything = await overview.count_waiting(), await overview.count_open()
            approvals = len(await self._decidable(person))
            lines.append(
                self._say(person, "command.status.staff", open=everything, waiting=waiting, approvals=approvals)
            )
        if trouble and (person.admin or person.staff):
            lines.append(trouble)
        return Answer(text="\n".join(lines))

    async def _tickets(self, asked: Asked) -> Answer:
        person, overview = asked.person, self._surface.overview
        own = await overview.own(person.team, person.user)
        parts = [views.tickets_text(own, person.language, self._render)]
        if person.staff:
            parts.append(views.waiting_text(await overview.waiting(), person.language, self._render))
        return Answer(text="\n\n".join(parts))

    async def _waiting(self, asked: Asked) -> Answer:
        if not asked.person.approver:
            return Answer(text=self._say(asked.person, "command.approvers_only"))
        requests = await self._decidable(asked.person)
        return Answer(text=views.approvals_text(requests, asked.person.language, self._render))

    async def _proposals(self, asked: Asked) -> Answer:
        if not asked.person.admin:
            return Answer(text=self._say(asked.person, "command.admins_only"))
        text = views.proposals_text(await self._surface.proposals(), asked.person.language, self._render)
        return Answer(text=text)

    async def _route(self, asked: Asked) -> Answer:
        if not asked.person.staff:
            return Answer(text=self._say(asked.person, "command.staff_only"))
        text = asked.words.all
        return Answer(text=await self._surface.explain(text)) if text else self._usage(asked)

    async def _memory(self, asked: Asked) -> Answer:
        person = asked.person
        if asked.words.first.lower() not in MINE:
            return self._usage(asked)
        facts = await self._surface.facts(person.team, person.user)
        return Answer(text=views.facts_text(facts, person.language, self._render))

    async def _forget(self, asked: Asked) -> Answer:
        person = asked.person
        if asked.words.first.lower() in YES or asked.words.rest.lower() in YES:
            body = PersonForget(whom=person.user, whose_team=person.team, language=person.language)
            forget = asked.message.child(PERSON_FORGET, body, context_id=f"forget:{person.team}:{person.user}")
            return Answer(text=self._say(person, "command.forget.begun"), outputs=(forget,))
        text = self._say(person, "command.forget.ask")
        return Answer(text=text, blocks=views.forget_blocks(person.language, self._render))

    async def _language(self, asked: Asked) -> Answer:
        person, wanted = asked.person, asked.words.first.lower()
        if wanted not in LANGUAGES:
            return Answer(text=self._say(person, "command.language.which"))
        await self._surface.preferences.choose_language(person.team, person.user, LANGUAGES[wanted])
        home = asked.message.child(
            HOME_OPENED, Home(user=person.user, team=person.team), context_id=f"home:{person.team}:{person.user}"
        )
        done = "command.language.done" if LANGUAGES[wanted] else "command.language.auto"
        said = self._render(LANGUAGES[wanted] or person.language, done)
        looking = await self._surface.preferences.look_at_home(person.team, [person.user])
        return Answer(text=said, outputs=(home,) if looking else ())

    def _usage(self, asked: Asked) -> Answer:
        """Return how the command is written, for one that was not written so."""
        return Answer(text=self._say(asked.person, f"{USAGE}.{asked.words.verb}"))

    async def _decidable(self, person: Standing) -> list[ApprovalRequest]:
        return await views.decidable(self._approvals, self._access, team=person.team, user=person.user)

    def _say(self, person: Standing, key: str, **values: object) -> str:
        return self._render(person.language, key, **values)
