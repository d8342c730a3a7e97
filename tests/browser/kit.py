"""Block Kit in few words, for tests that post it."""

from typing import Any

Json = dict[str, Any]


def words(text: str) -> Json:
    return {"type": "plain_text", "text": text}


def mrkdwn(text: str) -> Json:
    return {"type": "mrkdwn", "text": text}


def button(label: str, **more: Any) -> Json:
    return {"type": "button", "text": words(label), "action_id": label.lower(), "value": "A-1", **more}
