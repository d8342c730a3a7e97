from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.observe.redact import Redactor

_TOKEN_TAIL = st.text(alphabet=string.ascii_letters + string.digits + "-", min_size=8, max_size=40)
_PASSWORD = st.text(alphabet="abcdefghijkl0123456789!$%^*()_+.:@-", min_size=6, max_size=30)
_AROUND = st.text(max_size=30)


@given(_AROUND, st.sampled_from(["xoxb-", "xoxp-", "xapp-1-", "xoxe.xoxp-"]), _TOKEN_TAIL)
def test_no_slack_token_survives(around: str, prefix: str, tail: str) -> None:
    redacted = Redactor().text(f"{around} {prefix}{tail} {around}")

    assert prefix + tail not in redacted
    assert redacted.count(tail) <= 2 * around.count(tail)


@given(_TOKEN_TAIL, st.sampled_from(["Bearer ", "bearer ", "Authorization: Bearer  "]))
def test_no_bearer_token_survives(token: str, prefix: str) -> None:
    assert token not in Redactor().text(f"header {prefix}{token}")


@given(st.sampled_from(["postgresql", "postgresql+psycopg", "redis", "https"]), _PASSWORD)
def test_no_password_in_a_url_survives(scheme: str, password: str) -> None:
    redacted = Redactor().text(f"cannot reach {scheme}://hermes:{password}@db.internal:5432/hermes now")

    assert redacted == f"cannot reach {scheme}://hermes:***@db.internal:5432/hermes now"


@given(st.text(min_size=6, max_size=40), st.text(max_size=20))
def test_no_secret_that_we_know_survives_anywhere_in_the_fields(secret: str, around: str) -> None:
    fields = {"a": [f"{around}{secret}"], "b": {"c": secret}, "d": (secret, 1, None)}

    redacted = Redactor([secret]).value(fields)

    assert secret not in redacted["a"][0].replace("***", "")
    assert redacted["b"]["c"] != secret
    assert redacted["d"][1:] == [1, None]


@pytest.mark.parametrize(
    "text, secret",
    [
        ("SLACK_SIGNING_SECRET=8f742231b10e8888abcd99yyyzzz85a5", "8f742231"),
        ("wss://x.slack.com/link/?ticket=1234-5678&app_id=A1", "1234-5678"),
        ("posting to https://hooks.slack.com/actions/T1/2/abc", "T1/2/abc"),
    ],
)
def test_secrets_that_show_by_their_surroundings_are_hidden(text: str, secret: str) -> None:
    assert secret not in Redactor().text(text)


def test_a_field_whose_name_says_secret_is_hidden_whole() -> None:
    assert Redactor().value({"bot_token": "anything", "tokens": 3}) == {"bot_token": "***", "tokens": 3}


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz .,!?", max_size=80))
def test_ordinary_words_are_left_alone(text: str) -> None:
    words = " ".join(word for word in text.split() if word not in {"bearer", "basic"})

    assert Redactor().text(words) == words
