"""Starts a program shut in: `python shut_in.py SECONDS MEGABYTES PROGRAM ARGUMENT…`, in its own process group.

The first byte that it writes says what the system allowed: `+` no network and no other processes, `-` neither.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import resource
import socket
import struct
import sys

NEW_USER, NEW_PID, NEW_NET = 0x10000000, 0x20000000, 0x40000000  # linux/sched.h
NO_NEW_PRIVILEGES = 38  # linux/prctl.h
LARGEST_FILE = 1 << 20
OPEN_FILES = 64
SET_FLAGS, UP = 0x8914, 0x1 | 0x40  # SIOCSIFFLAGS; IFF_UP and IFF_RUNNING


def main(seconds: int, megabytes: int, program: list[str]) -> None:
    """Become the program, within limits."""
    alone = apart()
    os.write(1, b"+" if alone else b"-")
    limit(seconds, megabytes)
    if not alone:
        os.execv(program[0], program)  # noqa: S606 - no shell is wanted
    child = os.fork()  # the first process of its own world: when it ends, everything that it started ends
    if child == 0:
        os.execv(program[0], program)  # noqa: S606 - no shell is wanted
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else 128 - code)


def apart() -> bool:
    """Return whether the process has a network of its own now, with loopback alone, and its children no other company.

    It takes Linux with user namespaces; with one of its own it may look into no process outside, not even its parent.
    """
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        if libc.unshare(NEW_USER | NEW_PID | NEW_NET) != 0:
            return False
    except (OSError, AttributeError):
        return False
    try:
        with socket.socket() as anything:
            fcntl.ioctl(anything, SET_FLAGS, struct.pack("16sH14x", b"lo", UP))
    except OSError:  # then there is no loopback either
        pass
    return True


def limit(seconds: int, megabytes: int) -> None:
    """Set the limits that a program cannot lift again."""
    for what, most in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_AS, megabytes << 20),
        (resource.RLIMIT_FSIZE, LARGEST_FILE),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(what, (most, most))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
