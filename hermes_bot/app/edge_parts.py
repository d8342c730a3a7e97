"""Builds the edge from the settings."""

from __future__ import annotations

from agents.texts import Texts
from hermes_bot.app.approving import rules_of
from hermes_bot.app.build import Clock, Stores, secret
from hermes_bot.bus.bus import Bus
from hermes_bot.edge.channels import ChannelPolicy
from hermes_bot.edge.channels import Mode as ChannelMode
from hermes_bot.edge.edge import Desk, Doors, SlackEdge
from hermes_bot.edge.files import MEGABYTE, FileRules
from hermes_bot.edge.http_door import Probes
from hermes_bot.edge.posts import Posts
from hermes_bot.edge.slack_api import SlackApi
from hermes_bot.edge.surface import Surface
from hermes_bot.people import Directory
from hermes_bot.settings import Settings
from hermes_bot.settings.slack_access import APP_TOKEN, SIGNING_SECRET, renewed, variable_of
from hermes_bot.tickets.cards_due import CardsDue
from hermes_bot.triage.corrections import CorrectionForms


def build_edge(
    settings: Settings,
    stores: Stores,
    api: SlackApi,
    directory: Directory,
    bus: Bus,
    clock: Clock,
    *,
    texts: Texts,
    probes: Probes | None = None,
    surface: Surface | None = None,
) -> SlackEdge:
    """Return the edge, not connected."""
    slack, access = settings.slack, settings.access
    policy = _policy(settings)
    doors = Doors(
        app_token=secret(access.app_token),
        app_token_variable=variable_of(access, APP_TOKEN),
        signing_secret=secret(access.signing_secret),
        host=settings.http.host,
        port=settings.http.port,
        renew_app_token=lambda: renewed(access, APP_TOKEN),
        renew_signing_secret=lambda: renewed(access, SIGNING_SECRET),
    )
    desk = Desk(
        directory=directory,
        tickets=stores.tickets,
        approvals=stores.approvals,
        posts=Posts(stores.database, clock=clock),
        render=texts.render,
        tool_of=stores.toolbox.get,
        due=CardsDue(stores.database, every=settings.tickets.cards == "every"),
        on_call=settings.handoff.on_call,
        corrections=CorrectionForms(stores.proposals, stores.tickets, file=settings.routing.file),
        surface=surface,
        stream_from=slack.stream_from,
        seen_reaction=slack.seen_reaction,
    )
    rules = rules_of(settings)
    return SlackEdge(api, desk, bus.publish, doors=doors, policy=policy, rules=rules, clock=clock, probes=probes)


def _policy(settings: Settings) -> ChannelPolicy:
    """Return where the bot listens, as the settings name it."""
    slack = settings.slack
    return ChannelPolicy(
        support_channels=slack.support_channels,
        handoff_channel=slack.handoff_channel,
        approvals_channels=rules_of(settings).channels,
        modes={channel: ChannelMode(each.mode) for channel, each in slack.channels.items()},
        webhooks=frozenset(channel for channel, each in slack.channels.items() if each.webhooks),
        files=FileRules(max_bytes=slack.files.max_mb * MEGABYTE, types=slack.files.types),
    )
