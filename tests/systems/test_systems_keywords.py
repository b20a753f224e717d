"""Labels by words: what counts as a word, what wins, what a file may say."""

import pytest

from audit.errors import AuditError
from audit.systems import get_system
from audit.tasks import Input

WORDS = """
billing = ["invoice", "refund*", "charged twice", "€"]
delivery = ["parcel", "快递"]
other = []
"""


@pytest.fixture(scope="module")
def system(tmp_path_factory):
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
def test_the_label_with_the_most_words_is_the_output(system, text, label, score):
    assert (output(system, text).label, output(system, text).score) == (label, score)


def test_it_does_every_task_on_texts_with_these_labels(system, tmp_path):
    assert system.tasks == ("classification/billing,delivery,other",)
    assert (system.name, system.needs(), system.languages) == ("keywords:tickets.toml", None, ("*",))
    (tmp_path / "films.toml").write_text('positive = ["good"]\nnegative = ["bad"]\n')
    films = get_system(f"keywords:{tmp_path / 'films.toml'}")
    assert {"sentiment", "classification/inews", "classification/negative,positive"} == set(films.tasks)
    assert "similarity" not in films.tasks
    assert output(films, "neither").label == "positive"  # no label is without words: the first one


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ('a = ["x"]\n', "must have two labels or more, each written once, and a word"),
        ('a = ["x", 3]\nb = []\n', "a: must be a list of words in quotes"),
        ('"a,b" = ["x"]\nb = []\n', "'a,b' is no label"),
        ("", "empty"),
    ],
)
def test_a_file_that_is_no_list_of_words_is_refused_in_a_sentence(content, sentence, tmp_path):
    (tmp_path / "bad.toml").write_text(content)
    with pytest.raises(AuditError, match=sentence) as problem:
        get_system(f"keywords:{tmp_path / 'bad.toml'}")
    assert "bad.toml" in str(problem.value)
