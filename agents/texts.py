"""What the bot says: templates by language and key, from `configs/texts/<language>.yaml`.

Nothing is escaped here: a rendered text is plain, and the edge escapes it once for Slack.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import yaml
from babel import Locale
from babel.dates import format_date
from babel.numbers import format_currency
from jinja2 import StrictUndefined, Template, TemplateError
from jinja2.sandbox import SandboxedEnvironment

from hermes_bot.errors import PermanentError, SettingsError

LOCALES = {"en": Locale("en", "US"), "zh": Locale("zh", "CN", script="Hans")}
STAFF_LANGUAGE = "en"


class Texts:
    """Renders texts. `sources` holds, for each language, every template by its dotted key."""

    def __init__(self, sources: Mapping[str, Mapping[str, str]]) -> None:
        self._templates: dict[tuple[str, str], Template] = {}
        for language, templates in sources.items():
            environment = _environment(LOCALES[language])
            for key, source in templates.items():
                self._templates[language, key] = _compiled(environment, language, key, source)

    def render(self, language: str, key: str, **values: object) -> str:
        """Return the text in `language`, in English for a language without texts.

        Raise PermanentError for an unknown key and for a value that the template wants and did not get.
        """
        known = language if language in LOCALES else STAFF_LANGUAGE
        template = self._templates.get((known, key))
        if template is None:
            raise PermanentError(f"there is no text {key!r} in {known!r}")
        try:
            return template.render(values).strip()
        except TemplateError as error:
            raise PermanentError(f"text {key!r} in {known!r}: {error}") from error

    def day(self, language: str, moment: datetime | None) -> str:
        """Return the date (UTC) as it is written in `language`, empty for None."""
        return _day(moment, _locale(language)) if moment else ""

    def money(self, language: str, cents: int, currency: str) -> str:
        """Return the amount as it is written in `language`."""
        return _money(cents, currency, _locale(language))


def load_texts(folder: Path) -> Texts:
    """Return the texts of all languages in `folder`; raise SettingsError where a file is missing or wrong."""
    return Texts({language: read_texts(folder / f"{language}.yaml") for language in LOCALES})


def read_texts(file: Path) -> dict[str, str]:
    """Return the templates in one file by dotted key; raise SettingsError."""
    try:
        tree = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"cannot be read: {error.strerror}", file=str(file)) from error
    except yaml.YAMLError as error:
        raise SettingsError(f"is not YAML: {' '.join(str(error).split())}", file=str(file)) from error
    if not isinstance(tree, dict):
        raise SettingsError("must hold keys with texts", file=str(file))
    return dict(_flat(tree, "", file))


def _flat(tree: Mapping[object, object], prefix: str, file: Path) -> Iterator[tuple[str, str]]:
    for name, value in tree.items():
        key = f"{prefix}{name}"
        if isinstance(value, dict):
            yield from _flat(value, f"{key}.", file)
        elif isinstance(value, str) and value.strip():
            yield key, value
        else:
            raise SettingsError("must be a text", file=str(file), key=key)


def _compiled(environment: SandboxedEnvironment, language: str, key: str, source: str) -> Template:
    try:
        return environment.from_string(source)
    except TemplateError as error:
        raise SettingsError(f"texts/{language}.yaml: not a template: {error}", key=key) from error


def _environment(locale: Locale) -> SandboxedEnvironment:
    environment = SandboxedEnvironment(
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["money"] = lambda cents, currency: _money(cents, currency, locale)
    environment.filters["day"] = lambda moment: _day(moment, locale)
    environment.filters["plural"] = lambda number, one, other: _plural(number, one, other, locale)
    return environment


def _locale(language: str) -> Locale:
    return LOCALES.get(language, LOCALES[STAFF_LANGUAGE])


def _money(cents: int, currency: str, locale: Locale) -> str:
    return format_currency(Decimal(cents) / 100, currency, locale=locale)


def _day(moment: datetime, locale: Locale) -> str:
    return format_date(moment.date(), format="long", locale=locale)


def _plural(number: int, one: str, other: str, locale: Locale) -> str:
    """Return the number with the word that it takes in this language."""
    return f"{number} {one if locale.plural_form(number) == 'one' else other}"
