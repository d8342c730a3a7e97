"""Every error Hermes raises on purpose.

One root, few children, data in attributes: callers branch on the type, never on the text. Foreign errors are
wrapped into one of these where they enter.
"""


class HermesError(Exception):
    """Root of all errors raised on purpose."""


class TransientError(HermesError):
    """Trying again may help; the bus retries the delivery, not before `retry_after_s` seconds when that is given."""

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class NotYet(TransientError):
    """It is not the turn of what the handler wants to do; nothing was tried, and nothing has failed.

    The bus runs the delivery again after exactly `retry_after_s` seconds, and that costs it no attempt.
    """

    def __init__(self, message: str, *, retry_after_s: float) -> None:
        super().__init__(message, retry_after_s=retry_after_s)
        self.wait_s = retry_after_s


class PermanentError(HermesError):
    """Trying again cannot help; the delivery goes to the dead letters at once."""


class Unroutable(HermesError):
    """No subscription matches the message that was published."""

    def __init__(self, message_type: str, recipient: str = "") -> None:
        target = f" for recipient {recipient!r}" if recipient else ""
        super().__init__(f"no subscription matches type {message_type!r}{target}")
        self.message_type = message_type
        self.recipient = recipient


class BusFull(HermesError):
    """An agent's queue stayed full for the whole bounded wait; the publisher still has the message."""

    def __init__(self, agent: str, queue_size: int) -> None:
        super().__init__(f"queue of agent {agent!r} is full ({queue_size} messages)")
        self.agent = agent
        self.queue_size = queue_size


class BusStopped(HermesError):
    """The bus no longer takes messages, because it is stopping or was never started."""


class StoreError(HermesError):
    """A database file or server cannot be used; the text says which and what to do."""


class SettingsError(HermesError):
    """A setting is wrong; the text names the place (file, line, key or variable) and the remedy."""

    def __init__(self, message: str, *, file: str = "", line: int = 0, column: int = 0, key: str = "") -> None:
        place = f"{file}:{line}" if file and line else file
        place += f":{column}" if place and line and column else ""
        super().__init__(f"{place}: {message}" if place else message)
        self.file = file
        self.line = line
        self.column = column
        self.key = key


class SlackRefused(PermanentError):
    """Slack answered with an error that trying again does not mend.

    `error` is what Slack said, its code and perhaps a remark ("missing_scope (needed: users:read)").
    """

    def __init__(self, method: str, error: str) -> None:
        super().__init__(f"slack: {method} answered {error}")
        self.method = method
        self.error = error

    @property
    def code(self) -> str:
        """Slack's own code for the error, without a remark."""
        return self.error.partition(" ")[0]
