"""The shipped encoders keep the port's promises."""

import subprocess
import sys

import numpy as np
import pytest

from hermes_bot.errors import SettingsError
from hermes_bot.llm.joined_encoder import JoinedEncoder
from hermes_bot.llm.latin_encoder import LatinEncoder, is_latin
from hermes_bot.llm.light_encoder import LightEncoder
from hermes_bot.llm.minilm_encoder import MiniLMEncoder
from hermes_bot.llm.sentence_encoder import SentenceEncoder

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


@pytest.mark.parametrize("built", ["LightEncoder()", "JoinedEncoder(LightEncoder(), LatinEncoder(MiniLMEncoder()))"])
def test_the_shipped_profiles_import_neither_torch_nor_sentence_transformers(built: str) -> None:
    program = (
        "import sys\n"
        "from hermes_bot.llm.joined_encoder import JoinedEncoder\n"
        "from hermes_bot.llm.latin_encoder import LatinEncoder\n"
        "from hermes_bot.llm.light_encoder import LightEncoder\n"
        "from hermes_bot.llm.minilm_encoder import MiniLMEncoder\n"
        "import hermes_bot.llm.sentence_encoder, hermes_bot.llm.openai_encoder, routing.router\n"
        f"{built}.encode(['a'])\n"
        "print({'torch', 'sentence_transformers', 'transformers', 'sklearn', 'openai'} & set(sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)

    assert done.stdout.strip() == "set()"


def test_minilm_returns_unit_rows_without_a_network(minilm: MiniLMEncoder) -> None:
    rows = minilm.encode(TEXTS)

    assert rows.dtype == np.float32
    assert rows.shape == (3, minilm.dimension) == (3, 384)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-3)
    assert minilm.encode([]).shape == (0, 384)


def test_our_minilm_computes_what_sentence_transformers_computes(
    minilm: MiniLMEncoder, capfd: pytest.CaptureFixture[str]
) -> None:
    texts = [*TEXTS, "I want my money back!", "x" * 500, "Ça va très bien, où est mon colis ?", "word " * 600]
    theirs = SentenceEncoder(str(minilm.folder))

    cosines = np.sum(minilm.encode(texts) * theirs.encode(texts), axis=1)

    assert cosines.min() > 0.9999
    assert theirs.encode([]).shape == (0, theirs.dimension) == (0, 384)
    assert capfd.readouterr().err == ""


def test_a_text_has_the_same_vector_alone_and_in_a_batch(minilm: MiniLMEncoder) -> None:
    texts = [f"{'very ' * number}late parcel number {number}" for number in range(60)]

    together = minilm.encode(texts)

    assert np.allclose(together, np.concatenate([minilm.encode([text]) for text in texts]), atol=1e-5)


@pytest.mark.parametrize(
    "text, latin",
    [
        ("where is my parcel 4471?", True),
        ("the café of my friend is closed", True),
        ("我的包裹 order 在哪里", False),
        ("где посылка", False),
        ("où est très bientôt l'été", False),
        ("123 !", False),
        ("", False),
    ],
)
def test_only_texts_of_plain_latin_letters_reach_an_english_model(
    minilm: MiniLMEncoder, text: str, latin: bool
) -> None:
    row = LatinEncoder(minilm).encode([text])[0]

    assert is_latin(text) == latin
    assert np.linalg.norm(row) == pytest.approx(1.0 if latin else 0.0, abs=1e-3)


def test_joined_encoders_weigh_the_same_and_one_alone_weighs_all(
    light_encoder: LightEncoder, minilm: MiniLMEncoder
) -> None:
    joined = JoinedEncoder(light_encoder, LatinEncoder(minilm))

    rows = joined.encode(TEXTS)

    assert rows.dtype == np.float32
    assert rows.shape == (3, joined.dimension) == (3, 896)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-3)
    assert np.linalg.norm(rows[0, :512]) == pytest.approx(2**-0.5, abs=1e-3)
    assert np.linalg.norm(rows[1, :512]) == pytest.approx(1, abs=1e-3)
    assert joined.name == f"{light_encoder.name}+{minilm.name}-latin"


def test_a_model_that_is_not_there_is_a_settings_error_that_names_it_and_the_way_out() -> None:
    with pytest.raises(SettingsError, match=r"no-such/model.*light"):
        SentenceEncoder("no-such/model")


def test_joining_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        JoinedEncoder()
