"""Translation models of transformers: what a directory says, real tiny models from tokenizer to text, and refusals.

The models are made here and learn a handful of sentences by heart in a second; they translate nothing else.
"""

import json
import pickle
import re
import shutil

import pytest

from audit.errors import AuditError, BadFile, NotInstalled
from audit.packs.translation.seq2seq import SpokenLanguages, language_tokens, pair_of, read_pair, spoken_languages
from audit.systems import get_system
from audit.tasks import Input, Output

for package in ("torch", "transformers", "sentencepiece"):
    pytest.importorskip(package, reason="pip install 'audit[translation]'")

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


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A directory as of M2M-100, between English, Spanish and French."""
    import torch
    from transformers import M2M100Config, M2M100ForConditionalGeneration, M2M100Tokenizer

    folder = tmp_path_factory.mktemp("many")
    spm, found_pieces = pieces(folder / "parts")
    vocab = vocabulary(folder, ["<s>", "<pad>", "</s>", "<unk>", *found_pieces])
    tokenizer = M2M100Tokenizer(vocab, spm, num_madeup_words=0)
    torch.manual_seed(0)
    model = M2M100ForConditionalGeneration(
        M2M100Config(
            vocab_size=max(tokenizer.lang_token_to_id.values()) + 1,
            pad_token_id=1,
            bos_token_id=0,
            eos_token_id=2,
            decoder_start_token_id=2,
            encoder_layerdrop=0.0,
            decoder_layerdrop=0.0,
            activation_dropout=0.0,
            **TINY,
        )
    )
    batches = []
    for target, sentences in (("es", SPANISH), ("fr", FRENCH)):
        tokenizer.src_lang, tokenizer.tgt_lang = "en", target
        batch = labelled(tokenizer, ENGLISH, sentences)
        # Whoever asks says the language, so that it need not, and cannot, be learnt.
        starts = batch["labels"].new_full((len(ENGLISH), 1), model.config.decoder_start_token_id)
        before = torch.cat([starts, batch["labels"][:, :-1]], dim=1)
        batch["decoder_input_ids"] = before.masked_fill(before == -100, tokenizer.pad_token_id)
        batch["labels"][:, 0] = -100
        batches.append(batch)
    learn(model, batches)
    tokenizer.save_pretrained(folder / "m2m")
    model.save_pretrained(folder / "m2m")
    return folder / "m2m"


def inputs_of(texts, target, language="en"):
    return [Input.of(text, language=language, target=target) for text in texts]


def test_a_model_of_one_pair(marian):
    system = get_system(f"seq2seq:{marian}")
    assert (system.name, system.tasks, system.languages) == ("opus-mt-en-es", ("translation",), ("en",))
    assert system.settings == {"beams": 1, "longest": 512, "pair": "en-es"}
    assert re.fullmatch(r"[0-9a-f]{12}, transformers [\w.]+, sacremoses [\w.]+", system.version)
    assert system.needs() is None
    system.prepare()
    outputs = system.run(
        [*inputs_of(ENGLISH, "es"), *inputs_of(["It rains."], "fr"), *inputs_of(["Llueve."], "en", "es")]
    )
    assert outputs == [*(Output(text=text) for text in SPANISH), Output(), Output()]
    again = pickle.loads(pickle.dumps(system))  # noqa: S301
    assert again.run(inputs_of(ENGLISH[:1], "es")) == outputs[:1]


def test_beams_are_the_models_own_and_a_setting(marian, tmp_path):
    folder = shutil.copytree(marian, tmp_path / "beams")
    (folder / "generation_config.json").write_text(
        json.dumps(json.loads((folder / "generation_config.json").read_text()) | {"num_beams": 3, "do_sample": True})
    )
    original, changed = get_system(f"seq2seq:{marian}"), get_system(f"seq2seq:{folder}")
    assert changed.settings["beams"] == 3
    assert changed.version != original.version
    assert changed.run(inputs_of(ENGLISH, "es")) == original.run(
        inputs_of(ENGLISH, "es")
    )  # known by heart, so never sampled


def test_what_is_too_long_is_an_error_and_not_cut_off(marian):
    long, short = get_system(f"seq2seq:{marian}").run(inputs_of(["It rains. " * 40, "It rains."], "es"))
    assert re.fullmatch(r"the text has \d+ tokens, the model takes 48", long.error)
    assert short == Output(text="Llueve.")


def test_a_translation_that_does_not_end_is_an_error(marian, tmp_path):
    from transformers import AutoModelForSeq2SeqLM

    model = AutoModelForSeq2SeqLM.from_pretrained(marian)
    model.final_logits_bias[0, 0] = -1e9  # it never says that it has ended, though its settings would force it to
    folder = shutil.copytree(marian, tmp_path / "endless")
    model.save_pretrained(folder)
    (output,) = get_system(f"seq2seq:{folder}").run(inputs_of(["It rains."], "es"))
    assert output == Output(error="the translation did not end within 48 tokens")


def test_a_model_of_many_languages(many):
    system = get_system(f"seq2seq:{many}")
    assert (system.languages, system.settings["pair"]) == (("*",), None)
    mixed = [item for pair in zip(inputs_of(ENGLISH, "es"), inputs_of(ENGLISH, "fr"), strict=True) for item in pair]
    texts = [text for pair in zip(SPANISH, FRENCH, strict=True) for text in pair]
    assert system.run(mixed) == [Output(text=text) for text in texts]
    absent = [*inputs_of(["It rains."], "en"), *inputs_of(["It rains."], "pt-BR"), Input.of("It rains.")]
    assert all(output.absent for output in system.run(absent))


def test_a_pair_narrows_a_model_of_many(many):
    system = get_system(f"seq2seq:{many}#en-fr")
    assert (system.name, system.languages, system.settings["pair"]) == ("m2m#en-fr", ("en",), "en-fr")
    assert system.run([*inputs_of(ENGLISH[:1], "fr"), *inputs_of(ENGLISH[:1], "es")]) == [
        Output(text=FRENCH[0]),
        Output(),
    ]


def test_the_version_names_what_the_files_hold(marian, tmp_path):
    folder = shutil.copytree(marian, tmp_path / "copy")
    version = get_system(f"seq2seq:{marian}").version
    (folder / "README.md").write_text("about")
    assert get_system(f"seq2seq:{folder}").version == version
    weights = folder / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-100] ^= 1
    weights.write_bytes(content)
    assert get_system(f"seq2seq:{folder}").version != version


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("seq2seq:", "does not name a model"),
        ("seq2seq:x#english", "'english' is no pair of languages such as en-es"),
        ("seq2seq:x#en-en", "is no pair of languages"),
    ],
)
def test_specs_that_are_none(spec, says):
    with pytest.raises(AuditError, match=says):
        get_system(spec)


def test_an_absent_model_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    system = get_system("seq2seq:some/model-en-es")
    assert (system.name, system.version.partition(",")[0]) == ("model-en-es", "absent")
    assert "hf download some/model-en-es" in system.needs()
    with pytest.raises(NotInstalled, match="no directory 'some/model-en-es' and no model of this name in the Hugging"):
        system.run(inputs_of(["It rains."], "es"))


def test_directories_that_hold_no_such_model(tmp_path, marian):
    with pytest.raises(BadFile, match=r"config\.json is absent or of no model that translates"):
        get_system(f"seq2seq:{tmp_path}")
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(BadFile, match=r"config\.json: cannot be read"):
        get_system(f"seq2seq:{tmp_path}")
    (tmp_path / "config.json").write_text('{"is_encoder_decoder": true, "model_type": "nothing"}')
    with pytest.raises(BadFile, match="transformers cannot load this model"):
        get_system(f"seq2seq:{tmp_path}").prepare()
    folder = shutil.copytree(marian, tmp_path / "unsaid")
    settings = json.loads((folder / "tokenizer_config.json").read_text()) | {"target_lang": "roa"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    with pytest.raises(AuditError, match="does not say which languages it translates"):
        get_system(f"seq2seq:{folder}").prepare()
    assert get_system(f"seq2seq:{folder}#en-es").run(inputs_of(ENGLISH, "es")) == [
        Output(text=text) for text in SPANISH
    ]


def test_code_of_a_model_is_not_executed(marian, tmp_path):
    folder = shutil.copytree(marian, tmp_path / "code")
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "own", "auto_map": {"AutoConfig": "own.Own", "AutoModelForSeq2SeqLM": "own.Own"}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    with pytest.raises(BadFile, match="transformers cannot load this model"):
        get_system(f"seq2seq:{folder}").run(inputs_of(["It rains."], "es"))
    assert not (tmp_path / "ran").exists()


class Words:
    """A tokenizer as far as languages are looked for."""

    def __init__(self, *tokens):
        self.tokens = tokens

    def get_vocab(self):
        return dict.fromkeys(self.tokens, 0)


def test_prefixes_of_t5_and_of_marian_into_several_languages():
    tasks = {
        "task_specific_params": {
            "translation_en_to_de": {"prefix": "translate English to German: "},
            "summarization": {"prefix": "summarize: "},
        }
    }
    assert spoken_languages(Words("a"), tasks, None) == SpokenLanguages(
        {}, {("en", "de"): "translate English to German: "}
    )
    several = Words(">>spa<<", ">>fr<<", ">>pt_BR<<", "a")
    assert spoken_languages(several, {}, ("en", "es")).prefixes == {("en", "es"): ">>spa<< "}
    assert spoken_languages(several, {}, ("en", "ca")).prefixes == {("en", "ca"): ""}


def test_names_of_languages():
    # As the vocabularies of M2M-100, mBART-50 and NLLB-200 have them.
    assert language_tokens(["__zh__", "__en__", "__s__", "en"]) == {"zh": "__zh__", "en": "__en__"}
    assert language_tokens(["en_XX", "zh_CN"]) == {"en": "en_XX", "zh": "zh_CN"}
    tokens = language_tokens(["zho_Hant", "zho_Hans", "arb_Arab", "ast_Latn"])
    assert tokens == {"zh": "zho_Hans", "zh-Hant": "zho_Hant", "ar": "arb_Arab", "ast": "ast_Latn"}
    assert (read_pair("en-pt-BR"), read_pair("jp-en")) == (("en", "pt-BR"), None)
    assert pair_of({"source_lang": "en"}) is None
