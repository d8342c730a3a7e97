"""The noise of the benchmark: the same for the same seed, and never what a schema forbids."""

from __future__ import annotations

import json

from jsonschema import Draft202012Validator

from tests.llm.model_server import Asked
from tests.llm.noise import SLIPS, Noise, written

MEANT = {"action": "finish", "outcome": "answered", "text": "It is on its way."}
SCHEMA = {
    "type": "object",
    "properties": {"action": {"enum": ["finish"]}, "outcome": {"enum": ["answered"]}, "text": {"type": "string"}},
    "required": ["action"],
    "additionalProperties": False,
}
PLAIN = Asked(body={"messages": []})
WITH_SCHEMA = Asked(body={"messages": [], "response_format": {"json_schema": {"schema": SCHEMA}}})


def test_the_same_seed_spoils_in_the_same_way() -> None:
    first, again = Noise(1, 0.5), Noise(1, 0.5)

    assert [first.spoilt(PLAIN, MEANT) for _ in range(200)] == [again.spoilt(PLAIN, MEANT) for _ in range(200)]


def test_every_slip_happens_and_about_the_share_of_answers_is_spoilt() -> None:
    noise, made = Noise(1, 0.5), []
    for _ in range(2000):
        spoilt = noise.spoilt(PLAIN, MEANT)
        made.append(noise.last)
        assert (spoilt.text == written(MEANT)) == (noise.last == "")

    assert set(made) == {"", *SLIPS}
    assert 0.45 < made.count("") / len(made) < 0.55


def test_with_a_schema_only_what_it_allows_is_written_unless_it_is_cut_off() -> None:
    noise = Noise(1, 1.0)
    for _ in range(500):
        spoilt = noise.spoilt(WITH_SCHEMA, MEANT)
        if spoilt.finish_reason == "stop":
            assert Draft202012Validator(SCHEMA).is_valid(json.loads(spoilt.text))
