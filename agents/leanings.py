"""What entry hears in a text besides what routing makes of it: who somebody is, anger, what is none of our business.

Routing decides by likeness to examples. These few kinds decide where it is not sure, or where likeness misleads.
"""

from __future__ import annotations

import re
from typing import Any

import re2

from agents.rules.intents import order_wish, refund_wish
from agents.words import plain

LOOSE_CHARACTERS = 200

_EMAIL = re.compile(r"[^\s@]{1,64}@[^\s@]{1,255}")
_NAME = re.compile(r"(?:[A-Z][a-z]+(?:[ '-][A-Z][a-z]+){1,2}|[a-z]+[a-z_.]*\d{2,})[.!]?")


def _any(*alternatives: str) -> Any:
    return re2.compile("|".join(alternatives))


_INTRODUCES = _any(
    r"\bmy (?:full |first |last )?(?:name|e ?mail(?: address)?|zip(?: code)?|postcode|user ?name)(?: is|'s)\b",
    r"\bi'?m [a-z]+ [a-z]+(?: and)? my zip\b",
    r"\bi (?:live|am) in \d{5}\b",
    r"\bzip code\b.{0,60}\b\d{5}\b",
    r"我(?:的名字)?叫.{1,6}$",
    r"我是.{1,4}(?:先生|女士|小姐)",
    r"我的(?:邮箱|姓名|名字|邮编)",
)
_WANTS_MORE = _any(
    r"\b(?:order(?:ed|s)?|refund|return|exchange|cancel|track|parcel|package|deliver\w*|chang\w*|item|card|payment)\b",
    r"订单|退|换|取消|快递|物流|发货",
)
_COMPLAINS = _any(
    r"\b(?:complain|complaint|lawyer|sue|scam|rip ?off|fraud|unacceptable|ridiculous|outrageous|disgusting)\b",
    r"\b(?:second|third|fourth|\d+(?:rd|th)) time (?:i|that i|we)\b",
    r"\b(?:nobody|no one) (?:has )?(?:help\w*|answer\w*|car\w+|repl\w+)\b",
    r"\bstill (?:not|hasn'?t been|isn'?t) (?:re)?solved\b",
    r"(?:找|联系|打|问|催|反映).{0,6}(?:\d|两|三|四|几|多|好几)(?:次|遍|回).{0,12}(?:没|还没|未|不)",
    r"没人(?:管|理|处理)",
    r"(?:一直|都|还)(?:不|没)(?:给)?(?:处理|解决)",
    r"骗人|骗子|欺骗|忽悠|坑人|投诉|举报|曝光|消协|12315|律师|起诉|太气人|气死",
)
_WANTS_PEOPLE = _any(
    r"(?:找|叫|让|喊|换).{0,6}(?:的人|主管|经理|领导|负责人|财务|店长|真人).{0,4}(?:给|跟|和|来|处理|说|联系)",
    r"\b(?:speak|talk|get|connect|escalate|transfer|contact|want|need)\b.{0,30}\b(?:manager|supervisor|in charge)\b",
)
_OUT_OF_SCOPE = _any(
    r"维修|修理|报修|上门(?:安装|维修)|安装|保修|优惠|活动|打折|促销|会员|积分|优惠券",
    r"\b(?:repair|warranty|promo(?:tion)?(?: codes?)?|coupons?|discounts?|price match|overpriced|loyalty points)\b",
    r"\bthinking (?:of|about) (?:ordering|buying)\b",
    r"\bi need (?:a|some) new\b",
    r"\bon your (?:site|website)\b",
)
_QUOTES_STAFF = _any(
    r"客服.{0,6}(?:说|告诉|答应|承诺|回复)",
    r"\b(?:your )?(?:agent|support|colleague|rep)\b.{0,12}\b(?:said|told|promised)\b",
)


def introduces(text: str) -> bool:
    """Return whether the text only says who somebody is: a name, an e-mail address, a postcode."""
    flat = plain(text)
    if not flat or len(flat) > LOOSE_CHARACTERS or _WANTS_MORE.search(flat):
        return False
    return bool(_INTRODUCES.search(flat) or _EMAIL.search(text) or _NAME.fullmatch(text.strip()))


def complains(text: str) -> bool:
    """Return whether the text is angry, threatens, or tells of help that was sought in vain."""
    return bool(_COMPLAINS.search(plain(text)))


def wants_people(text: str) -> bool:
    """Return whether the text asks for somebody by their place: the manager, somebody of the accounts."""
    return bool(_WANTS_PEOPLE.search(plain(text)))


def out_of_scope(text: str) -> bool:
    """Return whether the text is about what no agent does, such as repairs and offers, and about nothing else."""
    if order_wish(text) is not None or refund_wish(text) is not None:
        return False
    return bool(_OUT_OF_SCOPE.search(plain(text)))


def quotes_staff(text: str) -> bool:
    """Return whether the text tells what staff have said, which is no wish to talk to them."""
    return bool(_QUOTES_STAFF.search(plain(text)))
