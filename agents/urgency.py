"""How soon a person should look at what is handed over, from the customer's words: danger, the law, fraud, anger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import re2

from agents.leanings import complains
from agents.words import plain
from hermes_bot.tickets.ticket import Priority


def _any(*alternatives: str) -> Any:
    return re2.compile("|".join(alternatives))


_URGENT = {
    "safety": _any(
        r"\b(?:fire|smok(?:e|es|ed|ing)|burn(?:s|t|ed|ing)?|explo\w+|electric shock|injur\w+|hurt|dangerous)\b",
        r"\b(?:allergic|poison\w*)\b",
        r"着火|起火|冒烟|触电|漏电|爆炸|受伤|烫伤|过敏|中毒|危险",
    ),
    "legal": _any(
        r"\b(?:lawyer|attorney|sue|court|police|legal action|consumer protection|ombudsman)\b",
        r"律师|起诉|法院|报警|警察|12315|消协|消费者协会|工商|市场监管",
    ),
    "fraud": _any(
        r"\b(?:fraud\w*|unauthori[sz]ed|hacked|stolen (?:card|account)|identity theft)\b", r"盗刷|诈骗|被盗|冒用"
    ),
}
_HIGH = {
    "deadline": _any(
        r"\b(?:urgent(?:ly)?|asap|right now|immediately|by (?:today|tonight|tomorrow))\b",
        r"马上|立刻|立即|紧急|加急|急用|赶紧",
    ),
    "waiting": _any(
        r"\b(?:for|over|after) (?:\d+|two|three|four|several|many) (?:days|weeks|months)\b",
        r"\b(?:second|third|fourth|\d+(?:rd|th)) time\b",
        r"(?:都|已经|等了|卡了|拖了).{0,4}(?:[0-9两三四五六七八九十几]+|好几)(?:天|周|个星期|个月)",
        r"(?:找|问|催|反映).{0,6}(?:[0-9两三四几]|好几|多)(?:次|遍|回)",
    ),
    "vip": _any(
        r"\b(?:vip|(?:gold|silver|platinum|premium) (?:member|customer))\b",
        r"老客户|老顾客|贵宾|(?:金牌|钻石|白金|黑卡)会员",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Urgency:
    """How soon, and why: one word for each thing that was heard, of safety, legal, fraud, angry, deadline …"""

    priority: Priority
    reasons: tuple[str, ...] = ()


def urgency_of(*texts: str) -> Urgency:
    """Return the urgency that speaks out of the customer's texts.

    It is about how soon alone: whoever says that they are a good customer gets no other rights by it.
    """
    flat = " ".join(plain(text) for text in texts)
    urgent = tuple(reason for reason, pattern in _URGENT.items() if pattern.search(flat))
    angry = ("angry",) if any(complains(text) for text in texts) else ()
    high = (*angry, *(reason for reason, pattern in _HIGH.items() if pattern.search(flat)))
    if urgent:
        return Urgency(priority=Priority.URGENT, reasons=(*urgent, *high))
    return Urgency(priority=Priority.HIGH if high else Priority.NORMAL, reasons=high)


REASONS = (*_URGENT, "angry", *_HIGH)
