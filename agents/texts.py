"""What the bot says: templates by language and key, from `configs/texts/<language>.yaml`.

Nothing is escaped here: a rendered text is plain, and the edge escapes it once for Slack. Words are in the language of
the customer's message; money and days are written as in their own country, where that speaks the language.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from babel import Locale, UnknownLocaleError
from babel.dates import format_date
from babel.numbers import format_currency
from jinja2 import Template, pass_context
from jinja2.runtime import Context

from agents.templates import RENDER_ERRORS, Sandbox
from hermes_bot.errors import PermanentError, SettingsError
from hermes_bot.settings.files import packaged_folder
from hermes_bot.settings.yaml_file import read_yaml

LOCALES = {"en": Locale("en", "US"), "zh": Locale("zh", "CN", script="Hans")}
STAFF_LANGUAGE = "en"
_LOCALE = "_locale"  # no name that a template could use
MOST_BYTES = 1_000_000


class Texts:
    """Renders texts. `sources` holds, for each language, every template by its dotted key."""

    def __init__(self, sources: Mapping[str, Mapping[str, str]]) -> None:
        self._templates: dict[tuple[str, str], Template] = {}
        self._sources = sources
        self._sandbox = _sandbox()
        for language, templates in sources.items():
            for key, source in templates.items():
                template = self._sandbox.compiled(source, file=f"texts/{language}.yaml", key=key)
                self._templates[language, key] = template

    def refuse_values_unknown_to(self, shipped: Mapping[str, Mapping[str, str]]) -> None:
        """Raise SettingsError for a text that wants a value which the text of that key in `shipped` does not take."""
        for language, key in self._templates:
            source, usual = self._sources[language][key], shipped[language][key]
            names, taken = (self._sandbox.takes(each) for each in (source, usual))
            if unknown := names - taken:
                known = ", ".join(sorted(taken)) or "none"
                wanted = ", ".join(sorted(unknown))
                raise SettingsError(
                    f"{key} uses {wanted}, which it is not given; known are {known}",
                    file=f"texts/{language}.yaml",
                    key=key,
                )

    def render(self, language: str, key: str, **values: object) -> str:
        """Return the text in `language`, in English for a language without texts.

        The value `locale` ("en-GB") says how the customer writes money and days, where it is of that language.
        Raise PermanentError for an unknown key and for a value that the template wants and did not get.
        """
        known = language if language in LOCALES else STAFF_LANGUAGE
        template = self._templates.get((known, key))
        if template is None:
            raise PermanentError(f"there is no text {key!r} in {known!r}")
        try:
            return template.render({**values, _LOCALE: _locale(language, str(values.get("locale", "")))}).strip()
        except RENDER_ERRORS as error:
            raise PermanentError(f"text {key!r} in {known!r}: {error}") from error

    def day(self, language: str, moment: datetime | None, *, locale: str = "") -> str:
        """Return the date (UTC) as it is written in `language`, empty for None."""
        return _day(moment, _locale(language, locale)) if moment else ""

    def money(self, language: str, cents: int, currency: str, *, locale: str = "") -> str:
        """Return the amount as it is written in `language`."""
        return _money(cents, currency, _locale(language, locale))


def load_texts(folder: Path) -> Texts:
    """Return the texts of all languages in `folder`; what is not there is said as Hermes ships it.

    Raise SettingsError where a file is missing or wrong, for an unknown key, and for a value that no text gets.
    """
    home = packaged_folder() / "texts"
    shipped = {language: read_texts(home / f"{language}.yaml") for language in LOCALES}
    if folder == home:
        return Texts(shipped)
    own = {language: read_texts(folder / f"{language}.yaml") for language in LOCALES}
    for language, written in own.items():
        _refuse_unknown(written, shipped[language], folder / f"{language}.yaml")
    texts = Texts({language: shipped[language] | own[language] for language in LOCALES})
    if own != shipped:
        texts.refuse_values_unknown_to(shipped)
    return texts


def read_texts(file: Path) -> dict[str, str]:
    """Return the templates in one file by dotted key; raise SettingsError."""
    if file.is_file() and file.stat().st_size > MOST_BYTES:
        raise SettingsError(f"is larger than {MOST_BYTES} bytes", file=str(file))
    tree = read_yaml(file).data
    if not isinstance(tree, dict):
        raise SettingsError("must hold keys with texts", file=str(file))
    return dict(_flat(tree, "", file))


def _refuse_unknown(texts: Mapping[str, str], shipped: Mapping[str, str], file: Path) -> None:
    for key in texts.keys() - shipped.keys():
        near = difflib.get_close_matches(key, list(shipped), n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise SettingsError(f"unknown key {key!r}{hint}", file=str(file), key=key)


def _flat(tree: Mapping[object, object], prefix: str, file: Path) -> Iterator[tuple[str, str]]:
    for name, value in tree.items():
        key = f"{prefix}{name}"
        if isinstance(value, dict):
            yield from _flat(value, f"{key}.", file)
        elif isinstance(value, str) and value.strip():
            yield key, value
        else:
            raise SettingsError(f"{key} must be a text", file=str(file), key=key)


@pass_context
def _money_filter(context: Context, cents: int, currency: str) -> str:
    return _money(cents, currency, context[_LOCALE])


@pass_context
def _day_filter(context: Context, moment: datetime) -> str:
    return _day(moment, context[_LOCALE])


@pass_context
def _plural_filter(context: Context, number: int, one: str, other: str) -> str:
    return _plural(number, one, other, context[_LOCALE])


_FILTERS: dict[str, Callable[..., Any]] = {"money": _money_filter, "day": _day_filter, "plural": _plural_filter}


@cache
def _sandbox() -> Sandbox:
    return Sandbox(_FILTERS)


@lru_cache(maxsize=256)
def _locale(language: str, customers: str = "") -> Locale:
    """Return the customer's own locale where it is of this language, else the language's."""
    usual = LOCALES.get(language, LOCALES[STAFF_LANGUAGE])
    try:
        own = Locale.parse(customers.replace("-", "_"))
    except (ValueError, TypeError, UnknownLocaleError):
        return usual
    return own if own.language == usual.language and own.territory else usual


def _money(cents: int, currency: str, locale: Locale) -> str:
    return format_currency(Decimal(cents) / 100, currency, locale=locale)


def _day(moment: datetime, locale: Locale) -> str:
    return format_date(moment.date(), format="long", locale=locale)


def _plural(number: int, one: str, other: str, locale: Locale) -> str:
    """Return the number with the word that it takes in this language."""
    return f"{number} {one if locale.plural_form(number) == 'one' else other}"
