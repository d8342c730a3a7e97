"""What a person wrote after `/hermes`, read: which verb, about what, and the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

VERBS: Mapping[str, str] = {
    "": "help",
    "help": "help",
    "?": "help",
    "帮助": "help",
    "status": "status",
    "状态": "status",
    "tickets": "tickets",
    "工单": "tickets",
    "approvals": "approvals",
    "审批": "approvals",
    "route": "route",
    "路由": "route",
    "memory": "memory",
    "记忆": "memory",
    "我的记忆": "memory",
    "forget": "forget",
    "忘记": "forget",
    "忘记我": "forget",
    "language": "language",
    "语言": "language",
    "approve": "approve",
    "reject": "reject",
    "ask": "ask",
    "edit": "edit",
    "claim": "claim",
    "take": "take",
    "return": "return",
    "solve": "solve",
    "reopen": "reopen",
    "assign": "assign",
    "priority": "priority",
    "reply": "reply",
    "wrong": "wrong",
    "accept": "accept",
    "decline": "decline",
    "proposals": "proposals",
    "建议": "proposals",
    "continue": "continue",
    "rate": "rate",
    "stop": "stop",
    "停止": "stop",
}
"""The first word of a command, as people may write it, and what it means."""

LANGUAGES: Mapping[str, str] = {
    "en": "en",
    "english": "en",
    "英文": "en",
    "英语": "en",
    "zh": "zh",
    "chinese": "zh",
    "中文": "zh",
    "auto": "",
    "自动": "",
}
YES = frozenset({"yes", "是", "确认"})
MINE = frozenset({"", "mine", "me", "我的"})
QUOTES = "\"'“”„«»「」"


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """`verb` is empty for one that is not known, `first` the word after it, `rest` all that follows the first."""

    verb: str
    first: str = ""
    rest: str = ""

    @property
    def all(self) -> str:
        """Return everything after the verb, without quotation marks around it."""
        return f"{self.first} {self.rest}".strip().strip(QUOTES).strip()


def read_words(text: str) -> Words:
    """Return the command in its parts."""
    head, tail = _parted(text)
    first, rest = _parted(tail)
    return Words(verb=VERBS.get(head.lower(), ""), first=first, rest=rest)


def _parted(text: str) -> tuple[str, str]:
    """Return the first word and the rest, at whatever white space: a new line, a wide space."""
    head, *rest = text.split(maxsplit=1) or [""]
    return head, rest[0].strip() if rest else ""
