"""Takes secrets out of what is logged: those we know by value, and those that show by their form."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

HIDDEN = "***"

_MIN_LENGTH = 6  # a shorter "secret" would blank out ordinary words
_FORMS = (
    (re.compile(r"\b(xox[a-z]|xapp)[-.][\w.%/+=-]+", re.IGNORECASE), rf"\1-{HIDDEN}"),
    (re.compile(r"\b(Bearer|Basic)(\s+|%20)[^\s\"',;]+", re.IGNORECASE), rf"\1 {HIDDEN}"),
    (re.compile(r"([a-z][a-z0-9+.-]*://[^\s:/@\"']*:)[^\s/\"']*@", re.IGNORECASE), rf"\1{HIDDEN}@"),
    (re.compile(r"([?&](?:ticket|token|secret|signature|password)=)[^&\s\"']+", re.IGNORECASE), rf"\1{HIDDEN}"),
    (re.compile(r"(hooks\.slack(?:-gov)?\.com/)[^\s\"'<>]+", re.IGNORECASE), rf"\1{HIDDEN}"),
    (
        re.compile(r"((?:signing[ _-]?secret|password|api[_-]?key)[\"']?\s*[=:]\s*[\"']?)[^\s\"',;]+", re.IGNORECASE),
        rf"\1{HIDDEN}",
    ),
)
_SECRET_KEY = re.compile(r"token|secret|password|authorization|api_?key|signature", re.IGNORECASE)


class Redactor:
    """Replaces secrets in text and in fields. `secrets` are values to hide wherever they occur."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets = sorted({each for each in secrets if len(each) >= _MIN_LENGTH}, key=len, reverse=True)

    def text(self, text: str) -> str:
        """Return the text without secrets."""
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        for form, replacement in _FORMS:
            text = form.sub(replacement, text)
        return text

    def value(self, value: Any) -> Any:
        """Return plain JSON data without secrets; what JSON has no word for becomes text."""
        if value is None or isinstance(value, bool | int | float):
            return value
        if isinstance(value, Mapping):
            return {str(key): self.field(str(key), each) for key, each in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return [self.value(each) for each in value]
        return self.text(str(value))

    def field(self, key: str, value: Any) -> Any:
        """Return the value of a field, hidden whole where its name says that it is a secret."""
        return HIDDEN if value and isinstance(value, str) and _SECRET_KEY.search(key) else self.value(value)
