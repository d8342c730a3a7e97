from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from hermes_bot.cli.ports import PortTaken, check_port


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that somebody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_a_port_in_use_is_told_with_the_option_that_chooses_another(taken: int) -> None:
    with pytest.raises(PortTaken) as caught:
        check_port("127.0.0.1", taken, "--workspace-port")

    assert str(caught.value) == (
        f"cannot listen on 127.0.0.1:{taken}: another program uses this port; choose another with --workspace-port"
    )


def test_an_address_of_another_machine_is_told() -> None:
    with pytest.raises(PortTaken, match="this machine has no such address"):
        check_port("192.0.2.1", 0, "--host")


def test_port_zero_is_always_free() -> None:
    check_port("127.0.0.1", 0, "--port")
