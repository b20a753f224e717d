"""Translation models of transformers: what a directory says, real tiny models from tokenizer to text, and refusals.

The models are made here and learn a handful of sentences by heart in a second; they translate nothing else.
"""

import json
import pickle
import re
import shutil
from types import SimpleNamespace

import pytest

from audit.errors import NotInstalled
from audit.packs.translation.seq2seq import SpokenLanguages
from audit.systems import get_system
from audit.tasks import Input, Output

ENGLISH = ("It rains.", "The train is late.", "We like bread.")
SPANISH = ("Llueve.", "El tren va con retraso.", "Nos gusta el pan.")
FRENCH = ("Il pleut.", "Le train est en retard.", "Nous aimons le pain.")
TINY = {
    "d_model": 32,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 32,
    "decoder_ffn_dim": 32,
    "max_position_embeddings": 48,
    "dropout": 0.0,
    "attention_dropout": 0.0,
}


@pytest.fixture(scope="module", autouse=True)
def _one_thread():
    """Whoever forks this process later (other tests do) must find no threads of torch's in it: one, for good."""
    import torch

    torch.set_num_threads(1)


def pieces(folder):
    """A sentencepiece model of the sentences: its file and its pieces."""
    import sentencepiece

    folder.mkdir(parents=True)
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter((*ENGLISH, *SPANISH, *FRENCH) * 3),
        model_prefix=str(folder / "spm"),
        vocab_size=80,
        hard_vocab_limit=False,
        minloglevel=2,
        num_threads=1,
    )
    model = sentencepiece.SentencePieceProcessor(model_file=str(folder / "spm.model"))
    return str(folder / "spm.model"), [model.id_to_piece(number) for number in range(3, model.get_piece_size())]


def vocabulary(folder, tokens):
    (folder / "vocabulary.json").write_text(json.dumps({token: number for number, token in enumerate(tokens)}))
    return str(folder / "vocabulary.json")


def learn(model, batches):
    """Until the sentences are known by heart."""
    import torch

    model.train()
    steps = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(600):
        loss = sum(model(**batch).loss for batch in batches)
        if loss.item() < 0.01 * len(batches):
            return
        loss.backward()
        steps.step()
        steps.zero_grad()
    raise AssertionError(f"the model did not learn its sentences: {loss.item()}")


def labelled(tokenizer, sources, targets):
    batch = tokenizer(list(sources), text_target=list(targets), return_tensors="pt", padding=True)
    batch["labels"][batch["labels"] == tokenizer.pad_token_id] = -100
    return dict(batch)


@pytest.fixture(scope="module")
def marian(tmp_path_factory):
    """A directory as of opus-mt-en-es."""
    import torch
    from transformers import MarianConfig, MarianMTModel, MarianTokenizer

    folder = tmp_path_factory.mktemp("marian")
    spm, found_pieces = pieces(folder / "parts")
    tokens = ["</s>", "<unk>", *found_pieces, "<pad>"]
    vocab = vocabulary(folder, tokens)
    tokenizer = MarianTokenizer(spm, spm, vocab, source_lang="eng", target_lang="spa")
    pad = len(tokens) - 1
    torch.manual_seed(0)
    model = MarianMTModel(
        MarianConfig(
            vocab_size=len(tokens),
            pad_token_id=pad,
            decoder_start_token_id=pad,
            eos_token_id=0,
            forced_eos_token_id=0,
            **TINY,
        )
    )
    learn(model, [labelled(tokenizer, ENGLISH, SPANISH)])
    tokenizer.save_pretrained(folder / "opus-mt-en-es")
    model.save_pretrained(folder / "opus-mt-en-es")
    return folder / "opus-mt-en-es"


def inputs_of(texts, target, language="en"):
    return [Input.of(text, language=language, target=target) for text in texts]


@pytest.mark.slow
def test_a_model_of_one_pair(marian):
    system = get_system(f"seq2seq:{marian}")
    assert (system.name, system.tasks, system.settings["pair"]) == ("opus-mt-en-es", ("translation",), "en-es")
    assert {"beams": 1, "too_long": "error"}.items() <= system.settings.items()
    assert system.needs() is None
    system.prepare()
    outputs = system.run(
        [*inputs_of(ENGLISH, "es"), *inputs_of(["It rains."], "fr"), *inputs_of(["Llueve."], "en", "es")]
    )
    assert outputs == [*(Output(text=text) for text in SPANISH), Output(), Output()]
    again = pickle.loads(pickle.dumps(system))  # noqa: S301
    assert again.run(inputs_of(ENGLISH[:1], "es")) == outputs[:1]


def test_what_is_too_long_is_an_error_and_not_cut_off(marian):
    long, short = get_system(f"seq2seq:{marian}").run(inputs_of(["It rains. " * 40, "It rains."], "es"))
    assert re.fullmatch(r"the text has \d+ tokens, the model reads 48", long.error)
    assert short == Output(text="Llueve.")


def test_a_translation_that_does_not_end_is_an_error(marian, tmp_path):
    from transformers import AutoModelForSeq2SeqLM

    model = AutoModelForSeq2SeqLM.from_pretrained(marian)
    model.final_logits_bias[0, 0] = -1e9  # it never says that it has ended, though its settings would force it to
    folder = shutil.copytree(marian, tmp_path / "endless")
    model.save_pretrained(folder)
    (output,) = get_system(f"seq2seq:{folder}").run(inputs_of(["It rains."], "es"))
    assert output == Output(error="the translation did not end within 48 tokens")


@pytest.mark.parametrize(
    ("tokenizer", "file", "config", "pairs"),
    [
        ({"src_lang": "en", "vocabulary": ["__en__", "__es__", "__fr__"]}, {}, {}, ["en-es", "fr-en"]),
        ({"src_lang": "en", "vocabulary": ["eng_Latn", "spa_Latn", "fra_Latn"]}, {"pair": "en-es"}, {}, ["en-es"]),
        (
            {"vocabulary": []},
            {},
            {"task_specific_params": {"translation_en_to_de": {"prefix": "to German: "}}},
            ["en-de"],
        ),
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
    assert not spoken.has(("en", "zh"))


def test_an_absent_model_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        NotInstalled, match=r"no directory 'some/model-en-es' and no model .*hf download some/model-en-es"
    ):
        get_system("seq2seq:some/model-en-es")
