"""Baselines that learn from a labelled file, words of a file, and what needs neither a package nor a language."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_corpus import SmallCorpus

from audit.errors import AuditError
from audit.runner.executors import InProcess
from audit.runner.run import run
from audit.systems import get_system
from audit.tasks import Input, get_task

TICKETS = """text,gold
The parcel is late again.,delivery
Where is my parcel?,delivery
The courier lost my parcel.,delivery
The invoice is wrong.,billing
You sent the invoice twice.,billing
Please correct my invoice.,billing
"""
PAIRS = """text,text_b,gold
The shop is open.,The shop is open today.,Neutral
The shop is open.,The shop is not open.,contradiction
A dog sleeps.,A dog does not sleep.,contradiction
A dog sleeps.,A dog sleeps.,entailment
It rained in May.,It rained.,entailment
It rained in May.,It rained in Paris in the morning.,neutral
"""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("AUDIT_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def tickets(tmp_path):
    (tmp_path / "tickets.csv").write_text(TICKETS)
    return str(tmp_path / "tickets.csv")


@pytest.fixture
def pairs(tmp_path):
    (tmp_path / "pairs.csv").write_text(PAIRS)
    return str(tmp_path / "pairs.csv")


def labels(system, *texts):
    return [output.label for output in system.run([Input.of(*one) for one in texts])]


@pytest.mark.parametrize("kind", ["logreg", "centroid"])
def test_it_learns_the_labels_of_the_file(kind, tickets, pairs):
    system = get_system(f"{kind}:{tickets}")
    assert (system.name, system.tasks) == (f"{kind}:tickets.csv", ("classification/billing,delivery",))
    assert labels(system, ["My parcel has not come."], ["I cannot read the invoice!"]) == ["delivery", "billing"]
    inputs = [Input.of(text) for text in ("parcel invoice", "the late courier", "??", "x" * 5_000, "")]
    outputs = system.run(inputs)
    assert [system.run([item])[0] for item in inputs] == outputs  # a batch is its parts
    assert get_system(f"{kind}:{tickets}").run(inputs) == outputs  # as in another process
    of_pairs = get_system(f"{kind}:{pairs}")  # the task that has their labels, in its own spelling
    assert of_pairs.tasks == ("inference",)
    assert set(of_pairs.labels) == set(get_task("inference").labels)
    door = labels(of_pairs, ["The door is open.", "The door is not open."])
    assert kind == "centroid" or door == ["contradiction"]


def test_a_probability_is_scikit_learns(tickets):
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    rows = [line.rsplit(",", 1) for line in TICKETS.splitlines()[1:]]
    vectorizer = TfidfVectorizer(token_pattern=r"\w+", ngram_range=(1, 2), sublinear_tf=True)
    regression = LogisticRegression(C=10.0, max_iter=2_000)
    regression.fit(vectorizer.fit_transform([text for text, _ in rows]), [gold for _, gold in rows])
    text = "The parcel and the invoice were late"
    (expected,) = regression.predict_proba(vectorizer.transform([text]))
    (output,) = get_system(f"logreg:{tickets}").run([Input.of(text)])
    assert math.isclose(output.score, max(expected), rel_tol=1e-9)
    assert output.label == regression.classes_[expected.argmax()]


def test_it_is_not_run_on_what_it_was_trained_on(tickets, tmp_path):
    corpus = SmallCorpus("mine", ["Nobody knows.", "the PARCEL is late, again"], first=1)
    corpus.task = "classification/billing,delivery"
    spec = f"logreg:{tickets}"
    assert [get_system(spec).trained_on(row.input) for row in corpus.rows()] == [False, True]

    def never():
        raise AssertionError("a database is opened")

    with pytest.raises(AuditError, match=r"was trained on 1 text of corpus .*, row 2 first: it would look better"):
        run(never, corpus, [spec], [], InProcess())


# Words


WORDS = """
billing = ["invoice", "refund*", "charged twice", "€"]
delivery = ["parcel", "快递"]
other = []
"""


@pytest.fixture(scope="module")
def keywords(tmp_path_factory):
    path = tmp_path_factory.mktemp("words") / "tickets.toml"
    path.write_text(WORDS, encoding="utf-8")
    return get_system(f"keywords:{path}")


def output(system, text):
    return system.run([Input.of(text)])[0]


@pytest.mark.parametrize(
    ("text", "label", "score"),
    [
        ("My PARCEL is late.", "delivery", 1.0),
        ("The invoice of the parcel: no refunds, refunding", "billing", 3 / 4),
        ("parcels and invoices", "other", 1 / 3),  # neither word stands alone
        ("I was charged\n  twice", "billing", 1.0),
        ("我的快递没到", "delivery", 1.0),
        ("5€ too much", "billing", 1.0),
        ("one invoice, one parcel", "billing", 1 / 2),  # the first of the file
        ("", "other", 1 / 3),
    ],
)
def test_the_label_with_the_most_words_is_the_output(keywords, text, label, score):
    assert (output(keywords, text).label, output(keywords, text).score) == (label, score)


@pytest.mark.parametrize(
    ("spec", "content", "sentence"),
    [
        ("logreg:bad.csv", "text,gold\na,x\nb,\nc,y\n", "row 2 has no gold; a system is trained on rows with a label"),
        ("logreg:bad.csv", "text,gold,text_b\na,x,b\nb,y,\n", "row 2 has no text_b, and others do; give it one"),
        ("keywords:bad.toml", 'a = ["x"]\n', "must have two labels or more, each written once, and a word"),
        ("keywords:bad.toml", 'a = ["x", 3]\nb = []\n', "a: must be a list of words in quotes"),
    ],
)
def test_a_file_that_is_of_no_use_is_refused_in_a_sentence(spec, content, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / spec.partition(":")[2]).write_text(content)
    with pytest.raises(AuditError, match=f"^bad.*{sentence}"):
        get_system(spec)


# Surfaces


@pytest.mark.parametrize("name", ["rapidfuzz", "word-jaccard"])
@given(first=st.text(max_size=60), second=st.text(max_size=60))
def test_a_similarity_is_symmetric_and_1_with_itself(name, first, second):
    asked = [Input.of(*pair) for pair in ((first, second), (second, first), (first, first))]
    there, back, same = [get_task("similarity").checked(output).score for output in get_system(name).run(asked)]
    assert (there, same) == (pytest.approx(back), 1.0)


@pytest.mark.parametrize(
    ("name", "pair", "score"),
    [
        ("word-jaccard", ("The cat sat on the mat.", "the cat lay on a mat"), 4 / 7),
        ("word-jaccard", ("我喜欢猫", "我喜欢狗"), 3 / 5),
    ],
)
def test_known_similarities(name, pair, score):
    assert get_system(name).run([Input.of(*pair)])[0].score == pytest.approx(score)


def test_the_first_three_sentences():
    asked = [
        Input.of("Mr. A left. B came.\n\nC slept! D woke."),
        Input.of("甲来了。乙走了！丙睡了？丁醒了。", language="zh"),
    ]
    said = [output.text for output in get_system("lead-3").run(asked)]
    assert said == ["Mr. A left. B came.\n\nC slept!", "甲来了。乙走了！丙睡了？"]
