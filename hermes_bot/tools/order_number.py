"""Finds order numbers in what customers write, in the many ways in which people write them.

The demo shop's own numbers have five digits (10023). Other shops put letters in front (W6405710, SO0937171), groups
(5923-6153282) or more digits, so all of that is read. What comes out are candidates: only the order book knows which
of them exist and are the customer's own.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime

MAX_TEXT = 10_000  # characters that are looked at; nobody names an order after ten pages

_ORDER_WORDS = (
    r"orders?|purchases?|pur?ch?ase?|ordem|bestellung|bestellnummer|bestellnr|auftrag|commande|pedido|ordine|zam[oó]wieni[ea]"
    r"|заказ[а-я]*|sipari[şs][a-zıişğü]*|bestelling|订单|訂單|单号|單號|訂單號|注文|주문"
)
_OTHER_WORDS = (
    r"invoices?|bills?|accounts?|cards?|phone|mobile|tel|fax|zip|postcode|postal|plz|iban|pin|code|tracking|parcel|ticket"
    r"|room|flight|model|发票|账号|帐号|账户|卡号|手机号?|电话|邮编|快递单号|快递|运单号?|物流单号|身份证号?|验证码|工号"
)
_SENT = frozenset(
    {"parcel", "快递"}
)  # goes with the order's number as often as with the carrier's, which is a long one
_LONGEST_OWN = 8
_FILLER = (
    r"(?:numbers?|num|nr|no|nº|n°|№|id|ids|code|ref|reference|is|was|are|my|the|called|with|of|est|es|ist|è|corr?ec?t[eoa]?|номер|numéro|numero|número"
    r"|nummer|号码|號碼|编号|号|號|番号|번호|是|为|の|[#:.,\-=()（）\[\]\"'“”’`*])"
)
_CUE = re.compile(rf"(?:(?P<order>{_ORDER_WORDS})|(?P<other>{_OTHER_WORDS}))(?:\s*{_FILLER}){{0,6}}\s*$")
_TRACKING_OF = re.compile(r"\btracking\b.{0,20}\b(?:of|for)\b\s*(?:#|no\.?|number)?\s*$")  # of this order, then
_EXPLICIT = re.compile(r"(?:#|№|n°|nº|\bno\.?:?|\bnr\.?:?|\bnumber(?: is)?:?|号码?[:是为]?|號[:是]?)\s*$")
_BEFORE_IS_OTHER = re.compile(
    r"(?:[$€£¥₹]|\b(?:usd|eur|cny|rmb|gbp|us\$|paid|pay|costs?|worth|(?:amount|charge)(?: of)?|(?:price|total)(?: is)?)"
    r"|[人民币价钱付]|共)\s*$"
)
_AFTER_IS_MONEY = re.compile(r"\s?(?:[$€£¥₹%°]|[元块圆]|(?:usd|eur|cny|rmb|gbp|dollars?|euros?|pounds?|bucks|yuan)\b)")
_AFTER_IS_UNIT = re.compile(
    r"\s?(?:[度个件天年月日岁米次人斤克分点张台]|号楼|(?:items?|pieces?|pcs|people|times|days?|weeks?|months?|years?|hours?|hrs?"
    r"|min(?:ute)?s?|miles?|units?|k|kg|g|mg|km|m|cm|mm|ml|l|gb|mb|tb|mah|w|hz|am|pm)\b)"
)
_NOISE = re.compile(
    r"https?://\S+|[^\s@]{1,64}@[^\s@]+"  # addresses
    r"|\b\d{4}\s?[-/.年]\s?\d{1,2}\s?[-/.月]\s?\d{1,2}日?"  # 2026-05-01
    r"|\b\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}\b"  # 01/05/2026
    r"|\b\d{1,2}:\d{2}(?::\d{2})?\b"  # 12:30
    r"|\+\s?\d[\d\s()\-]{6,}\d"  # +49 30 1234567
    r"|\(\d{2,5}\)\s?\d[\d\s\-]{4,}\d"  # (030) 1234567
    r"|\b\d{3}[-. ]\d{3}[-. ]\d{4}\b"  # 555-123-4567
    r"|\b\d{4}(?:[- ]\d{4}){2,4}\b"  # a card
    r"|\b\d{1,3}(?:,\d{3})+(?:\.\d+)?\b|\b\d+[.,]\d{1,2}\b"  # 1,250.00 or 12.50
)
_ZIP = re.compile(
    r",\s*[A-Z]{2}\.?,?\s+\d{5}(?:-\d{4})?\b"  # Springfield, IL 62704
    r"|\b(?:AL|AK|AZ|AR|CA|CO|CT|FL|GA|IL|IA|KS|KY|LA|MD|MA|MI|MN|MS|MO|MT|NE|NV|NH|NJ|NM|NY|NC|ND|OH|PA|RI|SC|SD|TN|TX"
    r"|UT|VT|VA|WA|WV|WI|WY|DC),?\s+\d{5}(?:-\d{4})?\b"
    r"|\b(?:[Ll]ive|[Ll]iving|[Bb]ased|[Ll]ocated|[Mm]oved)\b[^.!?]{0,40}?\b\d{5}\b"
)
_SPEAKS_OF_ZIP = re.compile(r"\bzip\b|\bpost ?codes?\b|\bpostal codes?\b|邮编|邮政编码")
_UNSEEN = re.compile(r"[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")  # comes along with what is copied
_GLUED = re.compile(r"\b(orders?|purchases?)(?=(?:[a-z]{1,4}-?)?\d)")  # order10023, orderORD-38201160
_HOTLINES = frozenset({"12315"})  # China's consumer complaints line, which angry customers name
_ORDINARY_LETTERS = frozenset({"in", "on", "at", "to", "of", "for", "and", "or", "tel"})
_TOKEN = re.compile(
    r"(?<![a-z0-9_])(?P<letters>[a-z]{1,4})?-?(?P<digits>\d{1,3}(?: \d{3})+(?!\d)|\d+(?:-\d+)?)(?![a-z0-9_]|-\d)"
)


def order_numbers_in(text: str) -> tuple[str, ...]:
    """Return the candidate order numbers in `text`, in order of appearance, each once, as `canonical` writes them."""
    seen = _UNSEEN.sub("", unicodedata.normalize("NFKC", text[:MAX_TEXT]))
    kept = _ZIP.sub(_blank, seen)
    plain = _GLUED.sub(r"\1 ", _NOISE.sub(_blank, _flat(kept)))
    found = dict.fromkeys(number for token in _TOKEN.finditer(plain) for number in _read(plain, token))
    return tuple(found)


def canonical(written: str) -> str:
    """Return the number without spaces and `#`, in ASCII capitals: "＃ w１００２３" is "W10023"."""
    return re.sub(r"[\s#№]", "", _flat(written)).upper()


def same_number(stored: str, written: str) -> bool:
    """Return whether both mean one order: the same number, or the same digits where one was written without letters."""
    left, right = canonical(stored), canonical(written)
    if left == right:
        return bool(left)
    one_is_bare = left.isdigit() or right.isdigit()
    digits = re.sub(r"\D", "", left)
    return one_is_bare and len(digits) >= 3 and digits == re.sub(r"\D", "", right)


def _flat(text: str) -> str:
    """Return the text in lower case with full-width digits and signs as ASCII."""
    return unicodedata.normalize("NFKC", text).lower().replace("‑", "-").replace("–", "-")


def _blank(noise: re.Match[str]) -> str:
    return " \x00 "


def _read(text: str, token: re.Match[str]) -> tuple[str, ...]:
    before, after = text[max(0, token.start() - 60) : token.start()], text[token.end() : token.end() + 12]
    cue, explicit = _CUE.search(before), bool(_EXPLICIT.search(before))
    other = bool(cue and cue["other"]) and not _TRACKING_OF.search(before)
    if other and cue and cue["other"] in _SENT and len(token["digits"]) <= _LONGEST_OWN:
        other = False
    if other or _BEFORE_IS_OTHER.search(before):
        return ()
    if " " in token["digits"]:  # "10 023" is one number only where the writer said that a number follows
        return (canonical(token.group()),) if explicit else ()
    if not explicit and _is_an_amount(token, after, cued=bool(cue)):
        return ()
    if not (explicit or cue or token["letters"]) and len(token["digits"]) == 5 and _SPEAKS_OF_ZIP.search(text):
        return ()
    return (canonical(token.group()),) if _plausible(token, cued=explicit or bool(cue), explicit=explicit) else ()


def _is_an_amount(token: re.Match[str], after: str, *, cued: bool) -> bool:
    long_and_cued = cued and len(token["digits"]) >= 5
    return bool(_AFTER_IS_MONEY.match(after)) or (not long_and_cued and bool(_AFTER_IS_UNIT.match(after)))


def _plausible(token: re.Match[str], *, cued: bool, explicit: bool) -> bool:
    digits = token["digits"].replace("-", "")
    if cued:
        return (3 if explicit else 4) <= len(digits) <= 20
    if token["letters"]:
        return 5 <= len(digits) <= 15 and token["letters"] not in _ORDINARY_LETTERS
    something_else = digits in _HOTLINES or _looks_like_a_date(digits) or _looks_like_a_phone(digits)
    return 5 <= len(digits) <= 14 and not something_else


def _looks_like_a_date(digits: str) -> bool:
    if len(digits) != 8 or not digits.startswith(("19", "20")):
        return False
    try:
        datetime.strptime(digits, "%Y%m%d")  # noqa: DTZ007 - only whether it is a date matters
    except ValueError:
        return False
    return True


def _looks_like_a_phone(digits: str) -> bool:
    return len(digits) == 11 and digits[0] == "1" and digits[1] in "3456789"
