"""A language model that thinks about some messages without end: they are in work for as long as a test likes."""

from __future__ import annotations

from tests.llm.model_server import Asked, Fails, ModelServer, Reply, Silent

THINK = "take your time"


def slow(asked: Asked) -> Reply:
    """Think about what says `THINK`; leave the others to the rules."""
    return Silent() if THINK in asked.text else Fails(status=400)


def asking(model: ModelServer) -> dict[str, str]:
    """Return the variables of a bot that asks this model, however long it thinks and however often it fails."""
    return {
        "OPENAI_BASE_URL": model.base_url,
        "HERMES_MODEL__NAME": "scripted",
        "HERMES_MODEL__TIMEOUT_S": "300",
        "HERMES_MODEL__FAILURE_THRESHOLD": "10000",
    }
