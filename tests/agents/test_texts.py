import ast
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from jinja2 import Environment, meta

from agents.handoff import REASONS
from agents.texts import LOCALES, Texts, load_texts, read_texts
from agents.words import SmallTalk
from hermes_bot.errors import PermanentError, SettingsError
from hermes_bot.messages.payloads import Audience
from hermes_bot.tools.order import OrderStatus
from hermes_bot.tools.refund_policy import RefundCode
from tests.agents.conftest import CONFIGS

SOURCES = {language: read_texts(CONFIGS / "texts" / f"{language}.yaml") for language in LOCALES}
ENVIRONMENT = Environment(autoescape=True)
ENVIRONMENT.filters |= {"money": str, "day": str, "plural": str}


def variables(source: str) -> set[str]:
    return meta.find_undeclared_variables(ENVIRONMENT.parse(source))


def test_all_languages_have_the_same_keys_with_the_same_variables() -> None:
    english, chinese = SOURCES["en"], SOURCES["zh"]

    assert english.keys() == chinese.keys()
    assert {key: variables(source) for key, source in english.items()} == {
        key: variables(source) for key, source in chinese.items()
    }


def test_every_text_is_used() -> None:
    trees = [
        ast.parse(file.read_text(encoding="utf-8"))
        for folder in ("agents", "hermes_bot")
        for file in (CONFIGS.parent / folder).rglob("*.py")
    ]
    used = "|".join(pattern for tree in trees for node in ast.walk(tree) for pattern in _keys_in(node))

    assert [key for key in SOURCES["en"] if not re.fullmatch(used, key)] == []


def _keys_in(node: ast.AST) -> list[str]:
    """Return an expression for the keys that a string or an f-string with a dot in it may stand for."""
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    words = [str(part.value) if isinstance(part, ast.Constant) else "" for part in parts]
    if not any(re.fullmatch(r"[a-z_]*\.[a-z_.]*", word) for word in words):
        return []
    return ["".join(re.escape(word) if word else "[a-z_]+" for word in words)]


@pytest.mark.parametrize(
    "key",
    [
        *(f"order.state.{status}" for status in OrderStatus),
        *(f"order.status.{status}" for status in OrderStatus),
        *(f"refund.refused.{code}" for code in RefundCode if code is not RefundCode.ELIGIBLE),
        *(f"small_talk.{kind}" for kind in SmallTalk),
        *(f"handoff.{part}.{reason}" for reason in REASONS for part in ("told", "reason")),
        *(f"private.{audience}" for audience in Audience if audience is not Audience.THREAD),
    ],
)
def test_every_case_that_the_code_knows_has_its_text(key: str) -> None:
    assert key in SOURCES["en"]


def test_money_dates_and_plurals_follow_the_language() -> None:
    source = "{{ cents | money('EUR') }} {{ at | day }} {{ n | plural('day', 'days') }}"
    texts = Texts({language: {"t": source} for language in LOCALES})
    at = datetime(2026, 11, 30, tzinfo=UTC)

    assert texts.render("en", "t", cents=123456, at=at, n=1) == "€1,234.56 November 30, 2026 1 day"
    assert texts.render("zh", "t", cents=123456, at=at, n=2) == "€1,234.56 2026年11月30日 2 days"


def test_a_language_without_texts_gets_english(texts: Texts) -> None:
    assert texts.render("fr", "small_talk.thanks") == "You're welcome!"


def test_values_are_not_templates_and_are_not_escaped(texts: Texts) -> None:
    text = texts.render("en", "order.details", order_id="{{ 7 * 7 }} <b> & co")

    assert "{{ 7 * 7 }} <b> & co" in text


def test_an_unknown_key_and_a_missing_value_are_errors_and_never_a_gap(texts: Texts) -> None:
    with pytest.raises(PermanentError, match=r"nothing\.here"):
        texts.render("en", "nothing.here")
    with pytest.raises(PermanentError, match="order_id"):
        texts.render("en", "order.details")


@pytest.mark.parametrize(
    "content, problem",
    [
        ("a: [1", "not valid YAML"),
        ("- a", "must hold keys"),
        ("a: {b: 3}", "must be a text"),
        ('order: {none: "{{ x"}', "not a template"),
        ("order: {non: x}", r"unknown key 'order\.non'; did you mean 'order\.none'"),
        ("order: {none: '{{ colour }}'}", "uses colour, which it is not given"),
        ("a: " + "[" * 5_000, "nested too deeply"),
        ("a: &a {b: *a}", "nested too deeply"),
        (
            "a0: &a0 {x: x}\n" + "".join(f"a{n}: &a{n} {{x: *a{n - 1}, y: *a{n - 1}}}\n" for n in range(1, 30)),
            "too large",
        ),
        ("a: " + "x" * 1_000_001, "larger than"),
    ],
)
def test_a_wrong_file_is_refused_with_its_place(tmp_path: Path, content: str, problem: str) -> None:
    for language in LOCALES:
        (tmp_path / f"{language}.yaml").write_text(content, encoding="utf-8")

    with pytest.raises(SettingsError, match=problem):
        load_texts(tmp_path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="does not exist"):
        load_texts(tmp_path)


LONG_OR_CURIOUS = [
    "{% include '/etc/passwd' %}",
    "{% for a in x %}{% for b in x %}{% endfor %}{% endfor %}",
    "{% macro a() %}{{ a() }}{% endmacro %}{{ a() }}",
    "{{ x | center(999999999) }}",
    "{{ " + "(" * 3_000 + " }}",
]


@pytest.mark.parametrize("source", LONG_OR_CURIOUS, ids=range(len(LONG_OR_CURIOUS)))
def test_a_template_that_could_run_long_or_read_files_is_refused(source: str) -> None:
    with pytest.raises(SettingsError):
        Texts({"en": {"t": source}})


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "source",
    [
        "{{ 9 ** 9 ** 9 }}",
        "{{ x * 10000000000 }}",
        "{{ '%0999999999d' % 1 }}",
        "{{ x.center(999999999) }}",
        "{% for a in range(999999999) %}{% endfor %}",
        "{{ x.__class__.__mro__ }}",
        "{{ x + 1 }}",
        "{{ 1 / 0 }}",
    ],
)
def test_a_template_that_goes_wrong_ends_at_once_as_our_own_error(source: str) -> None:
    with pytest.raises(PermanentError):
        Texts({"en": {"t": source}}).render("en", "t", x="x")


def test_a_text_that_the_user_has_not_written_is_said_as_shipped(tmp_path: Path) -> None:
    for language in LOCALES:
        (tmp_path / f"{language}.yaml").write_text("small_talk: {thanks: Any time!}", encoding="utf-8")
    texts = load_texts(tmp_path)

    assert texts.render("en", "small_talk.thanks") == "Any time!"
    assert texts.render("en", "small_talk.bye") == Texts(SOURCES).render("en", "small_talk.bye")
