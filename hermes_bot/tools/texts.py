"""Reads the texts that tools take: free text as it is; what has options, or an example in its description, by those.

An example such as '#W0000000' tells what an order number looks like: a number without its sign, in full-width digits or
between words is then put right, and what cannot be such a number is an error.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Sequence

from hermes_bot.tools.dates import looks_like_a_date, read_date, read_moment
from hermes_bot.tools.numerals import chinese_number, digit_by_digit
from hermes_bot.tools.wanted import Wanted

NOTHING = frozenset({"null", "none", "nil", "undefined", "nan", "n/a", "<null>", "(null)", "(none)"})
_PLACEHOLDER = re.compile(r"<[^<>]{1,60}>|\{\{.*\}\}|\$\{.*\}|\.{3}|…|your[_ -].*|x{5,}", re.IGNORECASE)
_FORMAT_WORDS = frozenset(
    {"format", "please", "mode", "style", "type", "option", "as", "in", "the", "a", "格式", "类型", "模式", "请"}
)
_AROUND = frozenset(
    {
        "the",
        "my",
        "is",
        "it",
        "its",
        "please",
        "number",
        "numbers",
        "no",
        "nr",
        "num",
        "id",
        "ids",
        "order",
        "item",
        "items",
    }
    | {
        "product",
        "code",
        "zip",
        "postcode",
        "postal",
        "user",
        "订单",
        "单号",
        "号码",
        "编号",
        "邮编",
        "商品",
        "号",
        "请",
        "是",
    }
)
_NUMBERED = re.compile(r"#?[A-Z]{0,3}\d{6,}")
_TEMPLATE = re.compile(r"[a-z]+(?:_[a-z]+)*_0{3,}")
_EMAIL = re.compile(r"[^\s@<>,;()\"']{1,64}@[^\s@<>,;()\"']+\.[^\s@<>,;()\"'.]{2,}")
_TOKEN = re.compile(r"[#\w-]+")
_QUOTES = (("'", "'"), ('"', '"'), ("“", "”"), ("‘", "’"), ("`", "`"), ("「", "」"))
_CHINESE_NUMERAL = re.compile(r"[〇零一二三四五六七八九十百千万亿两壹贰叁肆伍陆柒捌玖拾佰仟]+")
_HANDLE = re.compile(r"(?:^|_)ids?$|[a-z]Ids?$")
_NO_PART_OF_AN_ID = frozenset("$€£¥₹￥,;%")


class Unreadable(ValueError):
    """A value that cannot be read for sure; the text says what was wanted."""


def read_text(wanted: Wanted, value: str) -> str:
    """Return the text that is meant; raise Unreadable. One without an example or a format stays as it is."""
    if value.strip().lower() in NOTHING:
        raise Unreadable(f"{value!r} stands for nothing; give a value, or leave the argument out")
    if wanted.format == "date":
        return _iso_date(value)
    if wanted.format == "date-time":
        return _iso_moment(value)
    if wanted.format == "email":
        return _email(value)
    if wanted.examples:
        if not wanted.blank and not value.strip():
            raise Unreadable(f"is empty; give a value such as {wanted.examples[0]!r}")
        return _like(wanted.examples, value)
    return _handle(value) if _HANDLE.search(wanted.name) else value


def read_option(value: str, options: Sequence[str]) -> str:
    """Return the option that the text names, as in "JSON format" for json; no slip of the pen is guessed at."""
    if value in options:
        return value
    said = _flat(value)
    without = " ".join(word for word in said.split() if word not in _FORMAT_WORDS).removesuffix("格式").strip()
    named = [option for option in options if _flat(option) == said] or [
        option for option in options if without and _flat(option) == without
    ]
    if len(named) != 1:
        raise Unreadable(f"{value!r} is none of {', '.join(options)}{_nearest(said, options)}")
    return named[0]


def confirmed(wanted: Wanted, digits: str) -> bool:
    """Return whether a text of these digits can have lost nothing, such as a leading zero, while it was a number."""
    same = any(example.isdigit() and len(example) == len(digits) for example in wanted.examples)
    return same or wanted.length == len(digits)


def _flat(text: str) -> str:
    """Return the text without what does not tell options apart: case, width, quotes, and which sign parts words."""
    plain = unicodedata.normalize("NFKC", text).casefold().strip(" .!。'\"`“”‘’")
    return re.sub(r"(?<=\w)[-_\s]+(?=\w)", " ", plain)


def _nearest(said: str, options: Sequence[str]) -> str:
    near = difflib.get_close_matches(said, [_flat(option) for option in options], n=1, cutoff=0.7)
    return f"; did you mean {next(each for each in options if _flat(each) == near[0])!r}?" if near else ""


def _iso_date(value: str) -> str:
    day = read_date(value)
    if day is None:
        raise Unreadable(f"{value!r} is not one date for sure; give it as YYYY-MM-DD")
    return day.isoformat()


def _iso_moment(value: str) -> str:
    moment = read_moment(value)
    if moment is None:
        raise Unreadable(f"{value!r} is not a time; give it as YYYY-MM-DDThh:mm:ssZ")
    return moment.isoformat()


def _email(value: str) -> str:
    plain = _narrow(value).strip().removeprefix("mailto:")
    angled = re.fullmatch(r"[^<>@]*<([^<>]+)>", plain)
    plain = angled[1] if angled else plain
    if not _EMAIL.fullmatch(plain):
        raise Unreadable(f"{value!r} is not an e-mail address")
    return plain


def _handle(value: str) -> str:
    """Return what is called an id, without what cannot belong to it."""
    plain = _unquoted(_narrow(value).strip())
    plain = digit_by_digit(plain) if _is_western(plain) else plain
    if not plain or _PLACEHOLDER.fullmatch(plain) or looks_like_a_date(plain) or re.search(r"\s", plain):
        raise Unreadable(f"{value!r} is not an id; give the id alone")
    return plain


def _like(examples: Sequence[str], value: str) -> str:
    """Return the text in the form that the examples have."""
    plain = _unquoted(_narrow(value).strip()) if all(example.isascii() for example in examples) else value.strip()
    if plain and (_PLACEHOLDER.fullmatch(plain) or looks_like_a_date(plain) > any(map(looks_like_a_date, examples))):
        raise Unreadable(f"{value!r} is not a value such as {examples[0]!r}")
    if all("@" in example for example in examples):
        return _email(plain)
    with_digits = any(any(map(str.isdigit, example)) for example in examples)
    if any(each.isspace() for example in examples for each in example) or not with_digits:
        return _with_ascii_numbers(plain) if with_digits else plain
    return _identifier(examples, value, digit_by_digit(plain) if _is_western(plain) else plain)


def _identifier(examples: Sequence[str], value: str, plain: str) -> str:
    """Return the identifier in the text: like an example, or at least made of what one is made of."""
    alike = {found for token in _TOKEN.findall(plain) if (found := _shaped(examples, token))}
    tokens = [token for token in _TOKEN.findall(plain) if not _shaped(examples, token)]
    if len(alike) == 1 and not set(plain) & _NO_PART_OF_AN_ID and all(token.lower() in _AROUND for token in tokens):
        return alike.pop()
    numbered, templates = [all(map(form.fullmatch, examples)) for form in (_NUMBERED, _TEMPLATE)]
    fits = not alike and not (numbered and not all(map(str.isdigit, examples)))
    fits &= plain.isdigit() if numbered else bool(re.fullmatch(r"\w+", plain, re.ASCII)) if templates else True
    if not fits or (set(plain) & _NO_PART_OF_AN_ID) - set("".join(examples)):
        raise Unreadable(f"{value!r} is not one value such as {examples[0]!r}")
    return plain


def _shaped(examples: Sequence[str], token: str) -> str:
    """Return the token as an example with a fixed form writes it, empty where it has the form of none."""
    for example in examples:
        if not (_NUMBERED.fullmatch(example) or _TEMPLATE.fullmatch(example) or example.isdigit()):
            continue
        head = example.rstrip("0123456789")
        digits = len(example) - len(head)
        form = re.compile(rf"#?{re.escape(head.lstrip('#'))}(?P<digits>[0-9]{{{digits}}})", re.IGNORECASE)
        if (match := form.fullmatch(token)) and ("#" in head or "#" not in token or not head):
            return head + match["digits"]
    return ""


def _is_western(text: str) -> bool:
    return _CHINESE_NUMERAL.sub("", text).isascii()


def _with_ascii_numbers(text: str) -> str:
    """Return the text with Chinese numerals as digits, where the rest of it is written in ASCII."""
    if text.isascii() or not _is_western(text):
        return text

    def number(match: re.Match[str]) -> str:
        spelled = digit_by_digit(match[0])
        value = spelled if spelled.isdigit() else chinese_number(match[0])
        if value is None:
            raise Unreadable(f"{match[0]!r} can be read in two ways; write numbers in digits")
        return str(value)

    return _CHINESE_NUMERAL.sub(number, text)


def _narrow(text: str) -> str:
    """Return the text with full-width letters, digits and signs as ASCII; only letters and digits in other scripts."""
    narrow = "".join(chr(ord(sign) - 0xFEE0) if "！" <= sign <= "～" else sign for sign in text).replace("\u3000", " ")
    if _is_western(narrow):
        return narrow
    return "".join(chr(ord(sign) - 0xFEE0) if "！" <= sign <= "～" and sign.isalnum() else sign for sign in text)


def _unquoted(text: str) -> str:
    for opening, closing in _QUOTES:
        inner = text[1:-1]
        if len(text) >= 2 and text[0] == opening and text[-1] == closing and not {opening, closing} & set(inner):
            return inner.strip()
    return text
