"""What an agent is shown of a message: the fields its route names, the request's text and the hop lines."""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from hermes_bot.bus.port import Delivery


def project(delivery: Delivery, include: Collection[str] | None) -> Delivery:
    """Return the delivery as its handler may see it; without a projection (None) that is everything.

    Left are the top-level fields of `data` that `include` names, the original request's text and the hop lines. The
    triples of `processed_by`, and what a newer sender's envelope held besides, are not for agents.
    """
    if include is None:
        return delivery
    message = delivery.message
    data = {name: value for name, value in message.data.items() if name in include}
    return replace(delivery, message=replace(message, data=data, processed_by=(), extra=None))
