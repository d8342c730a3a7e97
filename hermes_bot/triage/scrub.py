"""Takes personal data out of a customer's words before they become an example for everyone.

What it knows are kinds of data, not people: whoever accepts an utterance reads it first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

MAX_CHARACTERS = 300
ORDER_NUMBER = "1234"  # every number of an order reads the same to the router

_URL = re.compile(
    r"(?:https?://|www\.)\S+|\b[\w-]+(?:\.[\w-]+)*\.(?:com|net|org|de|fr|cn|io|jp|uk|es|it)/\S*", re.IGNORECASE
)
_EMAIL = re.compile(r"[^\s@<>,;:()（）]+@[^\s@<>,;()（）]+\.[^\s@<>,;:()（），。]+")
_MENTION = re.compile(r"<[@#!][^<>\s]{1,100}>|(?<!\w)@[\w.-]{2,40}")
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b")
_PHONE = re.compile(
    r"(?:\+|\b00)\d[\d\s().-]{6,20}\d|\(\d{2,5}\)\s?\d[\d\s-]{4,}\d"
    r"|\b\d{3}[-. ]\d{3,4}[-. ]\d{4}\b|(?<!\d)1[3-9]\d{9}(?!\d)"
)
_CARD = re.compile(r"(?<!\d)\d{4}(?:[ -]\d{4}){2,4}(?!\d)")
_CODE = re.compile(
    r"(?<![A-Za-z0-9])(?=(?:[A-Za-z-]{0,12}\d){4})[A-Za-z0-9][A-Za-z0-9-]{3,40}(?![A-Za-z0-9])", re.ASCII
)
_DIGITS = re.compile(r"\d{4,}")
_STREET = re.compile(
    r"\b\d{1,5}[a-z]?,? (?:[A-Z][\w'.-]+ ){1,4}"
    r"(?:street|st|road|rd|avenue|ave|lane|ln|drive|dr|boulevard|blvd|way|court|square)\b\.?"
    r"|\b[A-ZÄÖÜ][\w.-]*(?:stra(?:ß|ss)e|str\.|weg|platz|allee|gasse)\s?\d{1,4}\s?[a-z]?\b"
    r"|\b(?:rue|avenue|boulevard|calle|via|rua) (?:de |du |des |la |le |del )*[A-Z][\w'-]+(?: [A-Z][\w'-]+)*"
    r"(?:,? \d{1,4})?",
    re.IGNORECASE,
)
_STREET_ZH = re.compile(
    r"(?:(?![到在寄送是为成我请的了至给])[\u4e00-\u9fff]){2,8}?(?:省|自治区|市|区|县|镇|乡)[\u4e00-\u9fff\d]{2,30}(?:路|街|道|巷|号|弄|栋|幢|单元|室|村)"
    r"\d*[号弄栋室]?(?:\d+(?:单元|室|号))*"
    r"|(?:(?![到在寄送是为成我请的了至给])[\u4e00-\u9fff]){2,8}(?:路|街|大道)\d+号(?:[\u4e00-\u9fff\d]{0,12}(?:室|单元|栋|楼))?"
)
_ADDRESS_CUE = re.compile(
    r"\b(?:i live (?:at|in)|my (?:new )?address is|deliver (?:it )?to|ship (?:it )?to)\s*:?\s+[^.!?\n]{3,120}"
    r"|(?:地址|住址|送到|寄到)(?:是|改成|改为|:|：)[^。！？!?\n]{3,60}",
    re.IGNORECASE,
)
_CUE = re.compile(
    r"i live (?:at|in)|my (?:new )?address is|deliver (?:it )?to|ship (?:it )?to"
    r"|(?:地址|住址|送到|寄到)(?:是|改成|改为|:|：)",
    re.IGNORECASE,
)
_SAYS_NAME = re.compile(
    r"\b((?i:my name is|my name's|i am|i'm|this is|name:|regards,?|sincerely,?|cheers,?)\s+)"
    r"((?:[A-ZÄÖÜÉ][\w'-]+)(?:\s+[A-ZÄÖÜÉ][\w'-]+){0,3})"
)
_SAYS_NAME_ZH = re.compile(
    r"((?:我叫|姓名(?:是|:|：)|收件人(?:是|:|：)|本人)\s*)([\u4e00-\u9fff]{2,4})(?=[，,。.！!\s]|$)"
)
_POSTCODE = re.compile(r"\b[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}\b|,? ?\b\d{5} [A-ZÄÖÜ][a-zäöüß]+\b")


def without_personal_data(text: str, *, names: Iterable[str] = ()) -> str:
    """Return the text with placeholders where it had e-mail, phone, numbers, links, addresses and `names`.

    Order numbers and the like become 1234, as utterances write them; the rest becomes a neutral word or goes.
    """
    plain = text.replace("’", "'")
    for pattern, instead in (
        (_URL, ""),
        (_MENTION, ""),
        (_EMAIL, ""),
        (_IBAN, ""),
        (_CARD, ""),
        (_PHONE, ""),
        (_STREET, "my address"),
        (_STREET_ZH, "我的地址"),
        (_POSTCODE, ""),
    ):
        plain = pattern.sub(_instead(instead), plain)
    plain = _ADDRESS_CUE.sub(_shortened, plain)
    plain = _without_names(plain, names)
    plain = _CODE.sub(ORDER_NUMBER, plain)
    plain = _DIGITS.sub(ORDER_NUMBER, plain)
    return _tidy(plain)[:MAX_CHARACTERS].strip()


def _instead(words: str) -> str:
    return f" {words} " if words else " "


def _shortened(found: re.Match[str]) -> str:
    """Return the cue alone: "my address is …" tells the concern, the address does not."""
    cue = _CUE.match(found.group())
    words = cue.group() if cue else ""
    return f"{words} my address" if words.isascii() else words


def _without_names(text: str, names: Iterable[str]) -> str:
    text = _SAYS_NAME_ZH.sub(" ", _SAYS_NAME.sub(" ", text))
    parts = {part for name in names for part in (name, *re.split(r"[\s,()（）]+", name)) if len(part) > 1}
    for part in sorted(parts, key=len, reverse=True):
        edge = r"\b" if part.isascii() else ""
        text = re.sub(f"{edge}{re.escape(part)}{edge}", " ", text, flags=re.IGNORECASE)
    return text


def _tidy(text: str) -> str:
    plain = re.sub(r"\(\s*\)|（\s*）|<\s*>", " ", text)
    plain = re.sub(r"\s+([,.;:!?，。！？；：])", r"\1", re.sub(r"\s+", " ", plain))
    plain = re.sub(r"(?<=[\u4e00-\u9fff]) (?=[\u4e00-\u9fff])", "", plain)
    plain = re.sub(r"([,;:，；：])(?:\s*[,;:，；：])+", r"\1", plain)
    return plain.strip(" ,;:，；：-")
