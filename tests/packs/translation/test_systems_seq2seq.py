"""Translation models of transformers: which languages a model says, a real tiny model, and refusals."""

import pickle
from types import SimpleNamespace

import pytest
from tiny_models import bart

from audit.errors import AuditError, NotInstalled
from audit.packs.translation.seq2seq import SpokenLanguages
from audit.systems import get_system
from audit.tasks import Input, Output

KNOWN = {"it rains today.": "ben eats bread.", "the film is good.": "a dull book."}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A BART that "translates" two sentences into others."""
    return bart(tmp_path_factory.mktemp("models") / "tiny", KNOWN)


def inputs_of(texts, target="es", language="en"):
    return [Input.of(text, language=language, target=target) for text in texts]


def test_a_model_of_one_pair(model):
    system = get_system(f"seq2seq:{model}#en-es")
    assert (system.name, system.tasks, system.settings["pair"]) == ("tiny#en-es", ("translation",), "en-es")
    assert system.needs() is None
    system.prepare()
    other = [*inputs_of(["it rains today."], "fr"), *inputs_of(["ben eats bread."], "en", "es")]
    outputs = system.run([*inputs_of(KNOWN), *other])
    assert outputs == [*(Output(text=text) for text in KNOWN.values()), Output(), Output()]
    again = pickle.loads(pickle.dumps(system))  # noqa: S301
    assert again.run(inputs_of(list(KNOWN)[:1])) == outputs[:1]


def test_what_is_too_long_is_an_error_and_not_cut_off(model):
    long, short = get_system(f"seq2seq:{model}#en-es").run(inputs_of(["it rains today. " * 40, *list(KNOWN)[:1]]))
    assert long.error.endswith("tokens, the model reads 64")
    assert short == Output(text="ben eats bread.")


@pytest.mark.parametrize(
    ("tokenizer", "file", "config", "pairs"),
    [
        ({"src_lang": "en", "vocabulary": ["__en__", "__es__", "__fr__"]}, {}, {}, ["en-es", "fr-en"]),
        ({"src_lang": "en", "vocabulary": ["eng_Latn", "spa_Latn", "fra_Latn"]}, {"pair": "en-es"}, {}, ["en-es"]),
        ({"vocabulary": []}, {}, {"task_specific_params": {"translation_en_to_de": {"prefix": "to "}}}, ["en-de"]),
        ({"vocabulary": [">>spa<<", ">>fra<<"]}, {"pair": "en-fr"}, {}, ["en-fr"]),
    ],
    ids=["M2M-100", "NLLB", "T5", "Marian"],
)
def test_languages_that_models_say(tokenizer, file, config, pairs, tmp_path):
    own = SimpleNamespace(get_vocab=lambda: tokenizer["vocabulary"], **tokenizer)
    about = SimpleNamespace(file=SimpleNamespace(pair=file.get("pair")), config=config, folder=tmp_path, spec="model")
    spoken = SpokenLanguages.of(own, about)
    every = [(one, other) for one in ("en", "es", "fr", "de") for other in ("en", "es", "fr", "de")]
    assert {tuple(pair.split("-")) for pair in pairs} <= {pair for pair in every if spoken.has(pair)}
    assert not spoken.has(("en", "en"))


def test_refusals(model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NotInstalled, match=r"no directory 'some/model-en-es' .*hf download some/model-en-es"):
        get_system("seq2seq:some/model-en-es")
    with pytest.raises(AuditError, match="does not say which languages it translates"):
        get_system(f"seq2seq:{model}").prepare()
    with pytest.raises(AuditError, match="'en-xx' is no pair of languages such as en-es"):
        get_system(f"seq2seq:{model}#en-xx")
