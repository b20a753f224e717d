"""The corpora that we wrote: sizes, balance, no text twice, nothing of what is audited in what trains systems."""

import csv

import pytest

from audit.corpora import get_corpus, listing
from audit.packs.english.corpora import training_file
from audit.resources import data_file
from audit.tasks import get_task

SIZES = {"inference-pairs": (393, 300), "support-tickets": (300, 250)}


def records(path):
    with path.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def audited(name):
    return records(data_file(f"corpora/{name.replace('-', '_')}.csv"))


def folded(record):
    """The texts of a record without capitals, marks and spaces."""
    texts = (record["text"], record.get("text_b") or "")
    return tuple("".join(filter(str.isalnum, text.casefold())) for text in texts)


@pytest.mark.parametrize("name", [*SIZES, "similarity-pairs", "question-pairs"])
def test_they_are_listed_and_read(name):
    corpus = get_corpus(name)
    row = next(row for row in listing(corpus.task) if row["corpus"] == name)
    rows = list(corpus.rows())
    assert row["size"] == len(rows) == {**SIZES, "question-pairs": (260, 0)}.get(name, (100, 0))[0]
    assert (row["language"], row["available"], row["gold"]) == ("en", True, name != "question-pairs")
    assert all(len(row.input.texts) == get_task(corpus.task).texts for row in rows)
    assert str(len(rows)) in corpus.summary
    assert corpus.fingerprint() == get_corpus(name).fingerprint()


@pytest.mark.parametrize("name", SIZES)
def test_what_trains_systems_is_never_audited(name):
    sources, training = audited(name), records(training_file(name))
    assert (len(sources), len(training)) == SIZES[name]
    first_texts = {folded(record)[0] for record in sources}
    assert first_texts.isdisjoint(folded(record)[0] for record in training)  # not the premise or context either
    if "document" in sources[0]:
        assert {row["document"] for row in sources}.isdisjoint(row["document"] for row in training)
