"""Makes a call that writes at most once, whatever is retried."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from hermes_bot.tools.call_log import CallLog, digest_of
from hermes_bot.tools.outcome import Caller, Done, Refused
from hermes_bot.tools.registry import Tool, ToolRefusal, ToolUnavailable

MAY_HAVE_RUN = "may_have_run"

Run = Callable[[], Awaitable[dict[str, Any]]]


async def once(
    log: CallLog, key: str, tool: Tool, arguments: Mapping[str, Any], caller: Caller, run: Run
) -> Done | Refused:
    """Return what comes of the call, or came of it before.

    A call that was begun and never finished is made again only where the tool recognises the repeat; for any other
    tool, and for another call under the same key, this is Refused("may_have_run") and a person looks. What the tool
    itself refuses is final. Only `ToolUnavailable` says for certain that nothing happened.
    """
    known = await log.begin(
        key, tool=tool.name, level=tool.level_of(arguments).name, caller=caller, arguments=arguments
    )
    if known is not None:
        if known.digest != digest_of(tool.name, arguments):
            return Refused(code=MAY_HAVE_RUN)
        if known.outcome is not None:
            return known.outcome
        if not tool.takes_key:
            return Refused(code=MAY_HAVE_RUN)
    try:
        outcome: Done | Refused = Done(result=await run())
    except ToolRefusal as refusal:
        outcome = Refused(code=refusal.code)
    except ToolUnavailable:
        if known is None:
            await log.release(key)
        raise
    await log.finish(key, outcome)
    return outcome
