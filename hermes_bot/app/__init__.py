"""The composition root: the only package that knows every concrete class and puts them together.

`HermesApp` is the bot; `offline` opens the same parts for one command, without starting anything.
"""

from hermes_bot.app.hermes_app import HermesApp
from hermes_bot.app.offline import Offline, offline

__all__ = ["HermesApp", "Offline", "offline"]
