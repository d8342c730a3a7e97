"""Finds out before the start whether the ports are free, so that a person gets one clear sentence."""

from __future__ import annotations

import errno
import socket

from hermes_bot.errors import HermesError
from hermes_bot.settings import Mode, Settings

WORKSPACE_HOST = "127.0.0.1"


class PortTaken(HermesError):
    """An address cannot be listened on; the text says which and what to do."""

    def __init__(self, host: str, port: int, reason: str, option: str) -> None:
        super().__init__(f"cannot listen on {host}:{port}: {reason}; choose another with {option}")
        self.host = host
        self.port = port


def check_ports(settings: Settings) -> None:
    """Raise PortTaken for the first address that cannot be listened on."""
    check_port(settings.http.host, settings.http.port, "--port")
    if settings.mode is Mode.WORKSPACE:
        check_port(WORKSPACE_HOST, settings.workspace.port, "--workspace-port")


def check_port(host: str, port: int, option: str) -> None:
    """Raise PortTaken where nothing can be bound to host and port; port 0 is always free."""
    try:
        families = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except socket.gaierror as error:
        raise PortTaken(host, port, "there is no such address here", "--host") from error
    for family, kind, protocol, _, address in families:
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(address)
            except OSError as error:
                raise PortTaken(host, port, _reason(error), option) from error


def _reason(error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return "another program uses this port"
    if error.errno == errno.EADDRNOTAVAIL:
        return "this machine has no such address"
    return error.strerror or str(error)
