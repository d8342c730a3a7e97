import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.tools.redaction import redacted


def test_a_record_keeps_what_shows_what_was_meant_and_nobodys_data() -> None:
    kept = redacted(
        {
            "order_id": "#W2611340",
            "amount_cents": 1250,
            "express": True,
            "note": None,
            "address": "986 Sunset Drive, Denver",
            "email": "noah.brown7922@example.com",
            "card": "4111 1111 1111 1111",
            "phone": 491701234567,
            "api_key": "sk-123456",
            "items": [{"sku": "HD-210", "gift_message": "Happy birthday, Mum"}],
        }
    )

    assert kept == {
        "order_id": "#W2611340",
        "amount_cents": 1250,
        "express": True,
        "note": None,
        "address": "text of 24 characters",
        "email": "***@example.com",
        "card": "***1111",
        "phone": "***4567",
        "api_key": "***",
        "items": [{"sku": "HD-210", "gift_message": "text of 19 characters"}],
    }


words = st.text(alphabet="abcdefghijklmnopqrstuvwxyz äöü李娜", min_size=3, max_size=40).filter(
    lambda word: word.strip()
)


@given(value=words, nested=st.booleans())
def test_words_of_a_person_are_never_kept(value: str, nested: bool) -> None:
    kept = redacted({"reason": [{"text": value}] if nested else value})

    told = f"text of {len(value)} characters"
    assert kept == {"reason": [{"text": told}] if nested else told}


@given(arguments=st.dictionaries(st.text(max_size=8), st.integers() | st.text(max_size=30) | st.none(), max_size=5))
def test_whatever_is_redacted_is_json(arguments: dict[str, Any]) -> None:
    assert json.loads(json.dumps(redacted(arguments))) == redacted(arguments)
