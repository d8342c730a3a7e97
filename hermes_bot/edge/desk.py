"""What the edge is built from: how Slack reaches us, and what it reads."""

from __future__ import annotations

from dataclasses import dataclass, field

from hermes_bot.edge.approval_clicks import ToolOf
from hermes_bot.edge.cards import Approvals
from hermes_bot.edge.painter import Due
from hermes_bot.edge.posts import Posts
from hermes_bot.edge.proposal_cards import Corrections
from hermes_bot.edge.renewing import Renew, never
from hermes_bot.edge.surface import Surface
from hermes_bot.people import Directory
from hermes_bot.settings.slack_access import APP_TOKEN
from hermes_bot.tickets.tickets import Tickets
from hermes_bot.tickets.waits import Render


@dataclass(frozen=True, slots=True, kw_only=True)
class Doors:
    """How Slack reaches us: an app token opens Socket Mode, otherwise the signing secret HTTP. `port` 0: any.

    `renew_app_token` and `renew_signing_secret` return what stands in their files by now. `app_token_variable` is what
    the operator is told to look at when Slack refuses the app token.
    """

    app_token: str = field(default="", repr=False)
    app_token_variable: str = APP_TOKEN
    signing_secret: str = field(default="", repr=False)
    host: str = "127.0.0.1"
    port: int = 0
    ping_interval_s: float = 5.0
    renew_app_token: Renew = never
    renew_signing_secret: Renew = never


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What the edge reads: people, tickets, approvals, what it posted, and what there is to correct, if anything.

    `render` gives a text for customers, `tool_of` the tool of a name, whose arguments Edit asks for, `due` the tickets
    whose card is to be drawn, `on_call` are those who are told when no card can be posted, and `surface` is what
    commands, shortcuts and Home read; without it there are none. An answer of `stream_from` characters appears piece by
    piece; 0: none does. `seen_reaction` is the reaction on a message that is in work, empty for none.
    """

    directory: Directory
    tickets: Tickets
    approvals: Approvals
    posts: Posts
    render: Render
    tool_of: ToolOf
    due: Due | None = None
    on_call: tuple[str, ...] = ()
    corrections: Corrections | None = None
    surface: Surface | None = None
    stream_from: int = 0
    seen_reaction: str = ""
