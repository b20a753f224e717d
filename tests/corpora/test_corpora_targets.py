"""Corpora to translate: every text once for each target language."""

import pytest

from audit.corpora import get_corpus
from audit.errors import AuditError, BadFile
from audit.tasks import Input


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "texts.csv"
    path.write_text("id,text,document\na,It rains.,d\nb,It snows.,\n", encoding="utf-8")
    return path


def test_each_text_is_a_source_for_each_target_but_its_own_language(file):
    corpus = get_corpus(f"{file}@es,en,fr,es", "translation")
    assert (corpus.task, corpus.language, corpus.targets, corpus.size()) == ("translation", "en", ("es", "fr"), 4)
    rows = list(corpus.rows())
    assert [(row.key, row.cluster, row.attributes["target_language"]) for row in rows] == [
        ("a@es", "d", "es"),
        ("a@fr", "d", "fr"),
        ("b@es", "b", "es"),
        ("b@fr", "b", "fr"),
    ]
    assert rows[0].input == Input.of("It rains.", target="es")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("text\nIt rains.\n", "row '1' does not say which language .* target_language, or say targets="),
        ("text,target_language\nIt rains.,es\nIt snows.,\n", "row '2' does not say"),
        ("text,target_language\nIt rains.,jp\n", "target_language 'jp'; give every row a code such as"),
    ],
)
def test_a_file_that_does_not_say_where_to_is_refused(content, says, tmp_path):
    path = tmp_path / "texts.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(BadFile, match=says):
        get_corpus(path, "translation")


@pytest.mark.parametrize("wrong", [{"task": "similarity"}, {"unit": "document"}, {"language": "de"}])
def test_a_registered_corpus_is_what_it_is(wrong):
    with pytest.raises(AuditError, match="of corpus 'rotten-tomatoes' is"):
        get_corpus("rotten-tomatoes", **wrong)
