"""Models of transformers as systems: what a directory says of itself, files that say more, every task with a real tiny
model that learnt some texts by heart, and refusals."""

import json
import math
import pickle
import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("transformers", reason="pip install 'audit[transformers]'")

from tiny_models import bart, bert_config, classifier, learn, save_tokenizer

from audit.errors import BadFile
from audit.systems import get_system
from audit.systems.models import best_span
from audit.tasks import Input

MOODS = {"the film is good": 1, "the film is bad": 0, "a lovely book": 1, "a dull book": 0}
CONTEXT = "Anna lives in Paris. Ben lives in Rome."


@pytest.fixture(scope="module", autouse=True)
def _one_thread():
    """Whoever forks this process later (other tests do) must find no threads of torch's in it: one, for good."""
    import torch

    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def moods(tmp_path_factory):
    """A classifier of two labels that says their names."""
    return classifier(tmp_path_factory.mktemp("moods") / "moods", ["Negative", "POSITIVE"], MOODS)


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    """A classifier of pairs."""
    texts = {
        ("the man sleeps", "the man is fine"): 1,
        ("the man sleeps", "the man walk"): 0,
        ("it rains today", "it rains"): 2,
    }
    names = ["contradiction", "neutral", "entailment"]
    return classifier(tmp_path_factory.mktemp("pairs") / "nli", names, texts)


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    """A model that finds where Anna and Ben live, and that nobody said what Anna eats."""
    import torch
    import transformers

    folder = tmp_path_factory.mktemp("reader") / "reader"
    tokenizer = save_tokenizer(folder)
    torch.manual_seed(0)
    model = transformers.BertForQuestionAnswering(bert_config(tokenizer))
    asked = [("Where does Anna live?", "Paris"), ("Where does Ben live?", "Rome"), ("What does Anna eats?", "")]
    batch = tokenizer([question for question, _ in asked], [CONTEXT] * 3, return_tensors="pt", padding=True)
    places = [
        0 if not answer else ids.index(tokenizer.convert_tokens_to_ids(answer.lower()))
        for ids, (_, answer) in zip(batch["input_ids"].tolist(), asked, strict=True)
    ]
    found = torch.tensor(places)
    learn(model, {**batch, "start_positions": found, "end_positions": found})
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def summarizer(tmp_path_factory):
    """A BART that knows two summaries."""
    texts = ["it rains today and people walk.", "the book is dull and the film is lovely."]
    folder = tmp_path_factory.mktemp("summarizer") / "bart"
    return bart(folder, dict(zip(texts, ["it rains.", "a lovely film."], strict=True)))


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    """A random encoder of sentences, as sentence-transformers writes one."""
    import torch
    import transformers

    folder = tmp_path_factory.mktemp("encoder") / "encoder"
    tokenizer = save_tokenizer(folder)
    torch.manual_seed(0)
    transformers.BertModel(bert_config(tokenizer)).save_pretrained(folder)
    kinds = ["Transformer", "Pooling", "Normalize"]
    (folder / "modules.json").write_text(json.dumps([{"type": f"sentence_transformers.models.{k}"} for k in kinds]))
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_mean_tokens": true}')
    return folder


def file(folder, text, name="model.toml"):
    (folder / name).write_text(text, encoding="utf-8")
    return f"transformers:{folder / name}"


# Tasks


@pytest.mark.slow
def test_a_directory_says_its_task_and_labels(moods):
    system = get_system(f"transformers:{moods}")
    system.prepare()
    outputs = system.run([Input.of(text) for text in MOODS])
    assert [output.label for output in outputs] == ["positive", "negative", "positive", "negative"]
    assert all(0.9 < output.score <= 1 for output in outputs)
    assert (system.name, system.tasks, system.needs()) == ("moods", ("sentiment",), None)
    assert system.settings["labels"] == ["negative", "positive"]
    again = pickle.loads(pickle.dumps(system))  # noqa: S301
    assert again.run([Input.of("a dull book")])[0] == outputs[3]  # alone as in a batch


def test_similarity_by_a_classifier_of_pairs(tmp_path):
    texts = {("the film", "the film"): 5.0, ("the film", "it rains"): 0.0}
    folder = classifier(tmp_path / "sts", ["LABEL_0"], texts)
    asked = [Input.of(*pair) for pair in texts]
    system = get_system(file(tmp_path, f'model = "{folder}"\nscale = [0, 5]'))
    assert system.tasks == ("similarity",)
    assert [output.score for output in system.run(asked)] == pytest.approx([1, 0], abs=0.05)
    bare = get_system(f"transformers:{folder}")
    assert [output.score for output in bare.run(asked)] == pytest.approx([1 / (1 + math.exp(-5)), 0.5], abs=0.05)
    assert bare.settings != system.settings


def test_similarity_by_an_encoder(encoder, tmp_path):
    import torch
    import transformers

    system = get_system(f"transformers:{encoder}")
    asked = [Input.of("the film", "the film"), Input.of("the film is good", "it rains"), Input.of("a book", "books.")]
    scores = [output.score for output in system.run(asked)]
    assert (system.tasks, system.settings["pooling"]) == (("similarity",), "mean")
    assert scores[0] == pytest.approx(1)
    model = transformers.BertModel.from_pretrained(encoder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(encoder)
    for item, score in zip(asked, scores, strict=True):
        with torch.inference_mode():  # one by one, without padding
            first, second = (
                model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0].mean(0) for text in item.texts
            )
        cosine = torch.nn.functional.cosine_similarity(first, second, dim=0).item()
        assert score == pytest.approx(max(0, cosine), abs=1e-5)


def test_question_answering(reader):
    system = get_system(f"transformers:{reader}")
    questions = ["Where does Anna live?", "Where does Ben live?", "What does Anna eats?"]
    outputs = system.run([Input.of(CONTEXT, question) for question in questions])
    assert [output.text for output in outputs] == ["Paris", "Rome", "unanswerable"]
    assert all(0.8 < output.score <= 1 for output in outputs)
    long = system.run([Input.of(CONTEXT, "who " * 70)])
    assert long[0].error == "the second text has 72 tokens, the model reads 64 with the first"


def test_a_context_that_is_too_long_is_read_in_windows(reader, tmp_path):
    """In windows of 30 tokens the answer is in the last one only."""
    system = get_system(file(tmp_path, f'model = "{reader}"\nmax_length = 30'))
    context = "It was fine. " * 12 + CONTEXT
    (output,) = system.run([Input.of(context, "Where does Anna live?")])
    assert output.text
    assert output.text in context
    windows = system._windows(("Where does Anna live?", context), part=1)
    assert len(windows) > 3
    assert all(len(window.tokens["input_ids"]) <= 30 for window in windows)
    covered = {at for window in windows for at in window.characters if at}
    assert {context[start:end] for start, end in covered} >= {"Anna", "Paris", "Rome"}


@pytest.mark.slow
def test_summaries(summarizer, tmp_path):
    spec = file(tmp_path, f'model = "{summarizer}"\ntask = "summarization"')
    system = get_system(spec)
    asked = [Input.of("it rains today and people walk."), Input.of("the book is dull and the film is lovely.")]
    assert [output.text for output in system.run(asked)] == ["it rains.", "a lovely film."]
    (cut,) = system.run([Input.of("the book is dull. " * 60)])
    assert (len(cut.details["read"]), cut.details["cut"] > 0) == (system.longest, True)
    with pytest.raises(BadFile, match="does not say its task"):
        get_system(f"transformers:{summarizer}")


# Texts that are too long, and what identifies a system


def test_what_is_too_long_is_read_in_windows(moods, pairs, encoder, tmp_path):
    """The mean of the windows' probabilities by their tokens, as the model says them of each window alone."""
    import torch
    import transformers

    long = Input.of("the film is good and a dull book " * 4)
    system = get_system(file(tmp_path, f'model = "{moods}"\nmax_length = 10'))
    (output,) = system.run([long])
    model = transformers.BertForSequenceClassification.from_pretrained(moods)
    tokenizer = transformers.AutoTokenizer.from_pretrained(moods)
    ids = tokenizer(long.text, add_special_tokens=False)["input_ids"]
    windows = [ids[at : at + 8] for at in range(0, len(ids) - 2, 6)]  # 8 and two marks; 8 // 4 = 2 of the one before
    total, weight = 0, 0
    for window in windows:
        tokens = [tokenizer.cls_token_id, *window, tokenizer.sep_token_id]
        with torch.inference_mode():
            total = total + len(tokens) * model(input_ids=torch.tensor([tokens])).logits[0].softmax(-1)
        weight += len(tokens)
    assert output.details is None
    assert output.score == pytest.approx((total / weight).max().item(), abs=1e-5)
    assert system.run([long, Input.of("a dull book")])[0] == output
    (pair,) = get_system(file(tmp_path, f'model = "{pairs}"\nmax_length = 16')).run([Input.of(long.text, "it rains")])
    assert pair.label in ("entailment", "neutral", "contradiction")
    (alike,) = get_system(file(tmp_path, f'model = "{encoder}"\nmax_length = 10')).run([Input.of(long.text, long.text)])
    assert alike.score == pytest.approx(1)


def test_the_version_is_what_the_files_hold_and_not_where_they_are(moods, tmp_path):
    elsewhere = shutil.copytree(moods, tmp_path / "moved" / "moods")
    before, after = get_system(f"transformers:{moods}"), get_system(f"transformers:{elsewhere}")
    assert (before.name, before.version, before.settings) == (after.name, after.version, after.settings)
    paced = get_system(file(tmp_path, f'model = "{moods}"\nbatch = 3\ndevice = "cpu"'))
    assert (paced.version, paced.settings) == (before.version, before.settings)
    weights = elsewhere / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    assert get_system(f"transformers:{elsewhere}").version != before.version


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ('task = "question-answering"', "it must be ForQuestionAnswering"),
        ('task = "similarity"', "it must be an encoder, or ForSequenceClassification with one number"),
    ],
)
def test_a_model_that_does_not_fit_the_task_is_refused(moods, tmp_path, more, problem):
    with pytest.raises(BadFile, match=f"model.toml: .*{problem}"):
        get_system(file(tmp_path, f'model = "{moods}"\n{more}'))


# Spans


LOGITS = st.lists(st.floats(-20, 20), min_size=2, max_size=12)


@given(LOGITS, st.randoms(use_true_random=False), st.integers(1, 5))
def test_the_best_span_is_the_best_of_all(start, random, longest):
    import torch

    end = [random.uniform(-20, 20) for _ in start]
    characters = [None] + [
        (3 * place, 3 * place + 2) if random.random() < 0.7 else None for place in range(1, len(start))
    ]
    logits = [torch.tensor(values, dtype=torch.float64) for values in (start, end)]
    best, nothing = best_span(*logits, characters, longest)
    places = [place for place, at in enumerate(characters) if at]
    spans = {
        (first, last): start[first] + end[last] for first in places for last in places if 0 <= last - first < longest
    }
    assert nothing.sum == start[0] + end[0]
    assert 0 <= nothing.probability <= 1
    if not spans:
        assert best.sum == -math.inf
        return
    first, last = max(spans, key=spans.__getitem__)
    assert best.sum == spans[first, last]
    assert 0 < best.probability + nothing.probability <= 1 + 1e-9


def test_a_text_may_have_several_labels(tmp_path):
    texts = {"the film": [1.0, 0.0], "a book": [0.0, 1.0], "the film and a book": [1.0, 1.0], "it rains": [0.0, 0.0]}
    kind = "multi_label_classification"
    system = get_system(
        f"transformers:{classifier(tmp_path / 'several', ['films', 'books'], texts, problem_type=kind)}"
    )
    assert system.tasks == ("classification/films+books",)
    outputs = system.run([Input.of(text) for text in texts])
    assert [output.label for output in outputs] == ["films", "books", "films+books", "none"]
    assert all(0.8 < output.score <= 1 for output in outputs)
