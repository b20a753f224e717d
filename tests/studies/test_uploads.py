"""Texts that are uploaded: what is refused, that they stay as they are, and that a plan in the app may name them."""

import pytest

from audit.corpora import Reading, get_corpus
from audit.errors import AuditError, BadFile, BadRow, NotAllowed, Refused
from audit.judging.accounts import add_account, entries
from audit.runner.executors import InProcess
from audit.store import open_store
from audit.store.core import count_rows, source
from audit.studies.jobs import carry_out
from audit.studies.plan import read_plan
from audit.studies.uploads import File, store_corpus, uploaded_here
from audit.studies.versions import set_plan, versions

REVIEWS = "nr,review,label\n" + "".join(
    f"{number},The {thing} was {'great' if number % 2 else 'bad'}.,{'pos' if number % 2 else 'neg'}\n"
    for number, thing in enumerate(("room", "pool", "bar", "bed", "view", "lift"))
)
READING = Reading({"text": "review", "gold": "label"}, {"pos": "positive", "neg": "negative"})
HOTELS = File("hotels.csv", REVIEWS.encode(), reading=READING)


def test_texts_are_stored_once_and_read_as_the_file_is(engine, people, tmp_path):
    stored = store_corpus(engine, " hotels ", HOTELS, by=people["boss"])
    (tmp_path / "hotels.csv").write_text(REVIEWS, encoding="utf-8")
    file = get_corpus(tmp_path / "hotels.csv", reading=READING)
    assert list(stored.rows()) == list(file.rows())
    assert (stored.fingerprint(), stored.size(), stored.unit) == (file.fingerprint(), 6, "sentence")
    assert store_corpus(engine, "hotels", HOTELS, by=people["boss"]) == stored
    assert uploaded_here(engine) == {"hotels": stored}
    entry = entries(engine, people["boss"])[0]
    assert (entry.who, entry.action, entry.detail) == ("boss", "texts uploaded", {"rows": 6, "task": "sentiment"})


@pytest.mark.parametrize(
    ("name", "file", "error", "sentence"),
    [
        ("../x", HOTELS, AuditError, "cannot be the name"),
        ("imdb", HOTELS, AuditError, "comes with audit"),
        ("taken", File("b.csv", b"text\nOther.\n"), Refused, "other texts have the name"),
        ("new", File("a.csv", b"text,gold\nfine,positive\n,positive\n"), BadRow, "line 3"),
        ("new", File("a.csv", b"\xff\xfe\x00"), BadFile, "a.csv"),
        ("new", File("a.csv", b"x" * (5 << 20) + b"y"), AuditError, "too large"),
    ],
)
def test_what_is_refused_changes_nothing(engine, people, content, name, file, error, sentence):
    store_corpus(engine, "taken", HOTELS, by=people["boss"])
    before = content(engine)
    with pytest.raises(error, match=sentence):
        store_corpus(engine, name, file, by=people["boss"])
    with pytest.raises(NotAllowed):
        store_corpus(engine, "hotels", HOTELS, by=people["ann"])
    assert content(engine) == before


@pytest.mark.slow
def test_a_plan_in_the_app_names_them_and_is_carried_out(engine, people, tmp_path):
    study = {"corpus": "hotels", "systems": ["vader", "hiv4"], "relations": ["MR1.4"]}
    document = {"name": "hotels", "study": study, "sample": {"base": 3}}
    with pytest.raises(BadFile, match="is not one of"):
        read_plan(document, registered_only=True, uploaded=uploaded_here(engine))
    store_corpus(engine, "hotels", HOTELS, by=people["boss"])
    plan = read_plan(document, registered_only=True, uploaded=uploaded_here(engine))
    set_plan(engine, plan, by=people["boss"])
    # Another database does not have them: there the plan is refused.
    elsewhere = open_store(str(tmp_path / "other.db"), create=True)
    other = add_account(elsewhere, "mia", "manager", "long enough").id
    with InProcess() as executor, pytest.raises(BadFile, match="is not one of"):
        carry_out(elsewhere, plan, executor, by=other)
    with InProcess() as executor:
        done = carry_out(engine, versions(engine, "hotels")[-1].plan(), executor, by=people["boss"])
    assert done.waiting > 0
    with engine.connect() as connection:
        assert count_rows(connection, source) == 6
