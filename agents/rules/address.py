"""Finds a delivery address in what a customer writes, and says whether it can be one."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

from agents.words import READ_CHARACTERS

FEWEST_CHARACTERS, MOST_CHARACTERS = 6, 300
FEWEST_WORDS = 3
LONGEST_TAIL = 200  # of what may follow an address in the same message
MOST_LEADS = 50  # places where an address may begin

_LEAD = re.compile(
    r"\b(?:address|it|that|this)(?:'s|:| is| should be| would be| will be)? ?(?:to|as|now|instead)?[:\s]\s*(?=\S*\d|\d)"
    r"|\b(?:to|at|is|as|be)\b:?\s+(?:my new (?:home|place|flat)[:,]?\s+(?:is|at)?\s*)?"
    r"|:\s*|\n\s*"
    r"|(?:改成|改到|改为|改去|换成|换到|寄到|送到|发到|地址是|地址为|地址改成|地址[:：])\s*[:：]?",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"(?:[.!?;]\s+(?=(?:can|could|please|thank|thanks|everything|and|i|it|that|also|is|will|would|let|make)\b"
    r"|(?:my |for )?order\b)"
    r"|,?\s+(?:please|thanks|thank you)\b|[。！？；]|[，,](?=谢谢|麻烦|拜托|请)"
    r"|[，,]?\s*(?:可以|行|好)?[吗么吧]\s*[?？]?$).*",
    re.IGNORECASE | re.DOTALL,
)
_HAN = re.compile(r"[\u4e00-\u9fff]")
_SAYS_MORE = re.compile(
    r"\b(?:orders?|address|chang\w*|updat\w*|deliver\w*|ship\w*|cancel\w*|refund\w*|number)\b|订单|地址|单号|电话",
    re.IGNORECASE,
)
_CHINESE_PARTS = re.compile(r"[省市区县镇乡村路街巷弄号栋幢楼室园]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A text parted: `rest` is everything but the address, which is empty where there is none."""

    rest: str
    address: str = ""


def address_in(text: str) -> Read:
    """Return the address that follows "to", "is", 改成 and the like, and the text around it."""
    head = text[:READ_CHARACTERS]
    for lead in itertools.islice(_LEAD.finditer(head), MOST_LEADS):
        after = " ".join(head[lead.end() : lead.end() + MOST_CHARACTERS + LONGEST_TAIL].split())
        candidate = tidy(after)
        if may_be_address(candidate):
            tail = _TAIL.search(after)
            return Read(rest=f"{head[: lead.start()]} {tail.group() if tail else ''}".rstrip(), address=candidate)
    return Read(rest=text)


def address_given(text: str) -> str:
    """Return the address in an answer to the question for it, which may be nothing but the address."""
    found = address_in(text).address
    whole = tidy(text[:READ_CHARACTERS])
    return found or (whole if may_be_address(whole) else "")


def may_be_address(text: str) -> bool:
    """Return whether a parcel could be sent there: a place with a number, neither too short nor too long."""
    if not FEWEST_CHARACTERS <= len(text) <= MOST_CHARACTERS or _SAYS_MORE.search(text):
        return False
    if _HAN.search(text):
        return len(set(_CHINESE_PARTS.findall(text))) >= 2
    words = re.findall(r"[\w'-]+", text)
    return (
        len(words) >= FEWEST_WORDS and any(word[0].isdigit() for word in words) and bool(re.search(r"[^\W\d]{3}", text))
    )


def tidy(text: str) -> str:
    """Return the text on one line, without what follows the address."""
    return " ".join(_TAIL.sub("", " ".join(text.split())).split()).strip(" .,;:，。；：\"'“”")
