"""Ports for servers that have to know theirs before they listen."""

from __future__ import annotations

import itertools
import random
import socket

FIRST, COUNT = 11_000, 20_000  # where no system takes ports for outgoing connections and for port 0
_places = itertools.count(random.SystemRandom().randrange(COUNT))


def free_port() -> int:
    """Return a port of this machine that nobody listens on, another one each time.

    Test runs beside each other begin at different places, so that none is given out twice before it is used.
    """
    while True:
        port = FIRST + next(_places) % COUNT
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
