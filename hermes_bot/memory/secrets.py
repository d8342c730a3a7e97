"""Finds what must never be kept: card numbers, passwords, keys, identity numbers, one-time codes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator

REMOVED = "[removed]"

_DIGITS = re.compile(r"(?<![0-9])[0-9](?:[\s\-._·/]{0,3}[0-9]){11,29}(?![0-9])")
_CHINESE_DIGITS = str.maketrans("〇零一二三四五六七八九", "00123456789")
_CHINESE_RUN = re.compile(r"[〇零一二三四五六七八九](?:[\s\-]?[〇零一二三四五六七八九]){11,18}")
_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]){11,30}(?![A-Za-z0-9])")
_CHINESE_ID = re.compile(r"(?<![0-9])[1-9][0-9]{16}[0-9Xx](?![0-9])")
_CARD_WORDS = (
    r"card (?:number|no\.?)|credit card|debit card|account (?:number|no\.?)|卡号|银行卡|信用卡|银行账号|银行账户"
)
_CODE_WORDS = r"cvv2?|cvc2?|security code|verification code|one[- ]time (?:code|password)|otp|2fa code|pin(?: code)?"
_CODE_WORDS_ZH = "安全码|验证码|校验码|动态码|取款密码|交易密码"
_LOGIN_WORDS = (
    r"pass ?words?|pass ?codes?|passwd|pwd|pass ?phrases?|login details|密码|密碼|口令|パスワード|contraseña|"
    r"passwor[td]|mot de passe|parol[ae]|пароль"
)
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:{_CARD_WORDS})\D{{0,20}}[0-9][0-9 \-]{{6,}}",
        rf"(?<![a-z])(?:{_CODE_WORDS})(?![a-z])\D{{0,16}}[0-9]{{3,8}}",
        rf"(?:{_CODE_WORDS_ZH})\D{{0,8}}[0-9]{{3,8}}",
        rf"(?:{_LOGIN_WORDS})[^\n.!?。！？]*(?:[.!?][^\s.!?。！？]+)*",
        r"(?<![0-9-])[0-9]{3}-[0-9]{2}-[0-9]{4}(?![0-9-])",  # a US social security number
        r"-----BEGIN [A-Z ]+-----.*",
        r"(?<![a-z])bearer\s+[a-z0-9._~+/=-]{12,}",
        r"(?<![a-z])(?:api[ _-]?key|secret|token)\s*(?:is|=|:|是|为)\s*\S{6,}",
    )
)
_KEYS = re.compile(
    r"sk-[A-Za-z0-9_-]{12,}|xox[a-z]-[A-Za-z0-9-]{8,}|xapp-[A-Za-z0-9-]{8,}|gh[pousr]_[A-Za-z0-9]{16,}|"
    r"github_pat_[A-Za-z0-9_]{16,}|glpat-[A-Za-z0-9_-]{12,}|AKIA[0-9A-Z]{12,}|AIza[A-Za-z0-9_-]{20,}|"
    r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"
)
_LONG = re.compile(r"[A-Za-z0-9+/_=-]{40,}")
_ID_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)

Span = tuple[int, int]


def holds_secret(text: str) -> bool:
    """Return whether there is anything in the text that must not be kept."""
    return next(_spans(_one_form(text)), None) is not None


def without_secrets(text: str) -> str:
    """Return the text with each secret replaced by a word that says so; where there is one, in one form (NFKC)."""
    plain = _one_form(text)
    spans = sorted(_spans(plain))
    if not spans:
        return text
    parts, at = [], 0
    for start, end in spans:
        if start >= at:
            parts += [plain[at:start], REMOVED]
        at = max(at, end)
    return "".join([*parts, plain[at:]])


def _one_form(text: str) -> str:
    """Return the text without what only disguises it: full-width digits, zero-width characters."""
    folded = unicodedata.normalize("NFKC", text)
    return "".join(char for char in folded if unicodedata.category(char) != "Cf")


def _spans(text: str) -> Iterator[Span]:
    for pattern in (*_PATTERNS, _KEYS):
        yield from (match.span() for match in pattern.finditer(text))
    for pattern, is_secret in _CHECKED:
        yield from (match.span() for match in pattern.finditer(text) if is_secret(match.group()))


def _is_card(found: str) -> bool:
    """Return whether any 13 to 19 digits in a row of the number pass Luhn's check (ISO/IEC 7812-1)."""
    digits = [int(char) for char in found.translate(_CHINESE_DIGITS) if char.isascii() and char.isdigit()]
    longest = min(19, len(digits))
    return any(
        _luhn(digits[start : start + length])
        for length in range(13, longest + 1)
        for start in range(len(digits) - length + 1)
        if length == len(digits) or length >= 15
    )


def _luhn(digits: list[int]) -> bool:
    if len(set(digits)) == 1:
        return False
    doubled = (digit * 2 for digit in digits[-2::-2])
    return (sum(digits[-1::-2]) + sum(each - 9 if each > 9 else each for each in doubled)) % 10 == 0


def _is_iban(found: str) -> bool:
    """Return whether the check digits fit (ISO 13616: remainder 1 of 97)."""
    account = found.replace(" ", "")
    moved = account[4:] + account[:4]
    return 15 <= len(account) <= 34 and int("".join(str(int(char, 36)) for char in moved)) % 97 == 1


def _is_chinese_id(found: str) -> bool:
    """Return whether the last sign fits (GB 11643-1999)."""
    total = sum(int(digit) * weight for digit, weight in zip(found, _ID_WEIGHTS, strict=False))
    return "10X98765432"[total % 11] == found[-1].upper()


def _is_key(found: str) -> bool:
    kinds = (str.isupper, str.islower, str.isdigit)
    return all(any(kind(char) for char in found) for kind in kinds)


_CHECKED: tuple[tuple[re.Pattern[str], Callable[[str], bool]], ...] = (
    (_DIGITS, _is_card),
    (_CHINESE_RUN, _is_card),
    (_IBAN, _is_iban),
    (_CHINESE_ID, _is_chinese_id),
    (_LONG, _is_key),
)
