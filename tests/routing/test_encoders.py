"""The shipped encoders keep the port's promises."""

import subprocess
import sys

import numpy as np
import pytest

from hermes_bot.errors import SettingsError
from hermes_bot.llm.joined_encoder import JoinedEncoder
from hermes_bot.llm.light_encoder import LightEncoder
from hermes_bot.llm.minilm_encoder import MiniLMEncoder

TEXTS = ["where is my parcel", "我的包裹在哪里", ""]


@pytest.fixture(scope="module")
def minilm() -> MiniLMEncoder:
    return MiniLMEncoder()


def test_the_light_encoder_returns_unit_rows_and_knows_that_translations_are_close(light_encoder: LightEncoder) -> None:
    rows = light_encoder.encode([*TEXTS, "the soup is too salty"])

    assert rows.dtype == np.float32
    assert rows.shape == (4, light_encoder.dimension)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-3)
    assert rows[0] @ rows[1] > 0.6 > rows[0] @ rows[3]


def test_no_texts_make_no_rows(light_encoder: LightEncoder) -> None:
    assert light_encoder.encode([]).shape == (0, light_encoder.dimension)


def test_the_light_profile_imports_neither_torch_nor_sentence_transformers() -> None:
    program = (
        "import sys\n"
        "from hermes_bot.llm.light_encoder import LightEncoder\n"
        "import hermes_bot.llm.minilm_encoder, hermes_bot.llm.joined_encoder, routing.router\n"
        "LightEncoder().encode(['a'])\n"
        "print({'torch', 'sentence_transformers', 'sklearn'} & set(sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)

    assert done.stdout.strip() == "set()"


def test_minilm_returns_unit_rows_without_a_network(minilm: MiniLMEncoder) -> None:
    rows = minilm.encode(TEXTS)

    assert rows.dtype == np.float32
    assert rows.shape == (3, minilm.dimension) == (3, 384)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-3)
    assert minilm.encode([]).shape == (0, 384)


def test_joined_encoders_weigh_the_same(light_encoder: LightEncoder, minilm: MiniLMEncoder) -> None:
    joined = JoinedEncoder(light_encoder, minilm)

    rows = joined.encode(TEXTS)

    assert rows.dtype == np.float32
    assert rows.shape == (3, joined.dimension) == (3, 896)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-3)
    assert np.allclose(np.linalg.norm(rows[:, :512], axis=1), 2**-0.5, atol=1e-3)
    assert joined.name == f"{light_encoder.name}+{minilm.name}"


def test_a_model_that_is_not_there_is_a_settings_error_that_names_it_and_the_way_out() -> None:
    with pytest.raises(SettingsError, match=r"no-such/model.*light"):
        MiniLMEncoder("no-such/model")


def test_joining_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        JoinedEncoder()
