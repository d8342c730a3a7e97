"""Prints how many of a model's actions can be used with and without schema and correction, and what a report costs.

The noise is ours and seeded: its share was chosen so that about three in four answers can be used as they come, as the
project's first documents say of plain prompts. What counts is what becomes of the rest.
"""

from __future__ import annotations

import asyncio
import json
import random
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agents.model.meter import Meter
from agents.model.planner import ModelPlanner, Models
from agents.model.reading import read_action
from agents.planner import GaveUp, Run
from agents.spec import Budgets
from agents.spec_file import read_specs
from hermes_bot.app import HermesApp
from hermes_bot.app.agents_file import tools_in
from hermes_bot.llm.chat import ChatAnswer, ChatProtocol
from hermes_bot.llm.openai_chat import OpenAIChat
from hermes_bot.memory.tokens import estimated_tokens
from hermes_bot.messages.message import Message, utc_now
from hermes_bot.store.database import Database
from hermes_bot.store.schema import migrate
from hermes_bot.store.usage import UsageStore
from hermes_bot.tools.discovery import discover
from tests.examples.kit import role_of
from tests.examples.weekly import EDITOR, HISTORIAN, LIBRARIAN, REQUEST, WRITER, laid_out, script
from tests.llm.model_server import Asked, Says, model_server
from tests.llm.noise import Noise

SEED = 20_261_130
ASKED = 600
NOISE = 0.3
CONFIGS = Path(__file__).parents[2] / "configs"
SPECS, _ = read_specs(CONFIGS / "agents.yaml")
TOOLS = [tool for tool in discover("hermes_bot.tools") if tool.name in SPECS.of("order").tools]
MEANT: tuple[dict[str, Any], ...] = (
    {"action": "call_tool", "tool": "find_order", "arguments": {"order_id": "10002"}},
    {"action": "call_tool", "tool": "list_orders", "arguments": {}},
    {"action": "finish", "outcome": "answered", "text": "It is on its way to you."},
    {"action": "finish", "outcome": "ask_customer", "text": "Which order do you mean?"},
    {"action": "delegate", "type": "ticket.refund"},
)
SIZES = (40, 160)
WORDS = ("part", "window", "card", "state", "limit", "order", "answer", "reason", "amount", "customer", "retry", "test")


@dataclass(kw_only=True)
class Rates:
    """What became of the answers to `ASKED` questions."""

    strict: int = 0
    usable: int = 0
    other: int = 0
    slips: Counter[str] = field(default_factory=Counter)
    read: Counter[str] = field(default_factory=Counter)

    @property
    def first(self) -> int:
        """How many first answers could be used."""
        return self.read.total()


async def rates(protocol: ChatProtocol, database: Database) -> Rates:
    """Ask a noisy model, and count whose first answer, and whose first or corrected answer, could be used."""
    found, noise, meant = Rates(), Noise(SEED, NOISE), MEANT[0]
    told: list[str] = []
    first: list[tuple[str, str]] = []

    def spoilt(asked: Asked) -> Says:
        said = noise.spoilt(asked, meant)
        if not asked.corrected:
            first.append((noise.last, said.text))
        return said

    async with model_server(spoilt) as server:
        chat = OpenAIChat("scripted", base_url=server.base_url, protocol=protocol, failure_threshold=ASKED)
        meter = Meter(UsageStore(database, clock=utc_now), budgets=Budgets(), of_agent={}, prices={},
                      on_call=lambda call: told.append(call.outcome))  # fmt: skip
        models = Models(chat=chat, meter=meter, policy="", details=lambda _: "")
        planner = ModelPlanner("order", SPECS.of("order"), TOOLS, models)
        for number in range(ASKED):
            meant = MEANT[number % len(MEANT)]
            told.clear()
            run = Run(ticket=None, agent="order", text="Where is it? 10002", language="en", message_id=str(number))
            await _count(planner, run, meant, told, found)
            slip, text = first[-1]
            found.slips[slip] += 1
            found.read[slip] += told == ["done"]
            found.strict += told == ["done"] and _strictly(text)
        await chat.close()
    return found


async def _count(planner: ModelPlanner, run: Run, meant: dict[str, Any], told: list[str], found: Rates) -> None:
    offer = planner.offer(run)
    wanted = read_action(ChatAnswer(text=json.dumps(meant)), offer, task_timeout_s=1)
    try:
        action = await planner.plan(run)
    except GaveUp:
        return
    found.usable += 1
    found.other += type(action) is not type(wanted)


def _strictly(text: str) -> bool:
    """Return whether the text is JSON and nothing else."""
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


async def report(commits: int) -> tuple[int, int]:
    """Return the tokens of a weekly report as they are sent, and as they would be if everybody read everything."""
    rng = random.Random(SEED)
    with tempfile.TemporaryDirectory() as folder:
        examples = laid_out(Path(folder), _subjects(rng, commits), _documents(rng))
        async with model_server(script) as server:
            await _run(examples / "weekly_report" / "hermes.yaml", folder, server.base_url)
            asked = _in_order(server.asked)
        whole = await _whole(asked, examples)
    return sum(estimated_tokens(f"{each.system}\n{each.user}") for each in asked), whole


def _subjects(rng: random.Random, count: int) -> list[str]:
    parts = ["Refunds", "Orders", "Docs", "Bus", "Edge", "Memory", "Tests"]
    return [f"{rng.choice(parts)}: {' '.join(rng.choices(WORDS, k=rng.randint(4, 12)))}" for _ in range(count)]


def _documents(rng: random.Random) -> dict[str, str]:
    return {
        f"page{number}.md": "\n\n".join(
            f"## {rng.choice(WORDS)}\n\nA refund window. {' '.join(rng.choices(WORDS, k=120))}." for _ in range(5)
        )
        for number in range(6)
    }


async def _run(config: Path, folder: str, url: str) -> None:
    variables = {"HERMES_DATA__PATH": f"{folder}/data", "HERMES_BUS__BACKEND": "memory", "OPENAI_BASE_URL": url}
    app = HermesApp(config, environ=variables | {"HERMES_MODEL__NAME": "scripted"})
    await app.start()
    try:
        await app.publish(
            Message(type="ticket.created", sender="bench", context_id="bench:1", data={"user": "U1", "text": REQUEST})
        )
        (reply,) = await app.drain()
        assert ".md" in reply.data["text"], reply.data
    finally:
        await app.stop()


def _in_order(asked: Sequence[Asked]) -> list[Asked]:
    """Return the requests as one after another would have made them, whatever ran at once."""
    order = [EDITOR, HISTORIAN, LIBRARIAN, WRITER]
    last = [each for each in asked if role_of(each) == EDITOR and each.done]
    return [*sorted((each for each in asked if each not in last), key=lambda each: order.index(role_of(each))), *last]


async def _whole(asked: Sequence[Asked], examples: Path) -> int:
    """Return the tokens if each request held all that was said and found before it, by whomever, uncut."""
    tools = {tool.name: tool.function for tool in tools_in(examples / "weekly_report" / "tools.py")}
    spent, transcript = 0, estimated_tokens(REQUEST)
    for each in asked:
        spent += estimated_tokens(each.system) + transcript
        action = script(each)
        transcript += estimated_tokens(json.dumps(action, ensure_ascii=False))
        if action["action"] == "call_tool":
            key = {"key": "bench"} if action["tool"] == "write_report" else {}
            found = await tools[action["tool"]](**action["arguments"], **key)
            transcript += estimated_tokens(json.dumps(found, ensure_ascii=False))
    return spent


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        database = Database(f"sqlite:///{folder}/hermes.db")
        await database.open()
        await migrate(database)
        plain, schema = [await rates(protocol, database) for protocol in (ChatProtocol.PLAIN, ChatProtocol.SCHEMA)]
        await database.close()
    print(f"valid actions of {ASKED}, {NOISE:.0%} of all answers spoilt (the first documents claim 76 % and 94 %)")
    print(f"  plain, nothing but JSON is read        {plain.strict / ASKED:6.1%}")
    print(f"  plain, read as Hermes reads            {plain.first / ASKED:6.1%}")
    print(f"  plain, sent back once                  {plain.usable / ASKED:6.1%}")
    print(f"  with a schema                          {schema.first / ASKED:6.1%}")
    print(f"  with a schema, sent back once          {schema.usable / ASKED:6.1%}")
    print(f"  of another kind than was meant         {plain.other + schema.other}")
    print("slips of the first answer, and how many of them are read all the same, plain:")
    for name in sorted(set(plain.slips) - {""}):
        print(f"  {name:<20}{plain.slips[name]:>4}{plain.read[name]:>5}")
    for commits in SIZES:
        sent, whole = await report(commits)
        print(f"weekly report, {commits} commits: {sent} tokens sent, {whole} if everybody read everything:"
              f" {sent / whole - 1:+.0%} (claimed -35 %)")  # fmt: skip


if __name__ == "__main__":
    asyncio.run(main())
