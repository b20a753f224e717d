"""Questions in languages that nobody reads: which are counted, and that the queue agrees."""

import json

import pytest
import translations
from quality_world import settle_how
from question_world import add_people

from audit.annotation import control_questions
from audit.annotation.accounts import add_account, disable_account
from audit.annotation.activity import Unread, overview, unread_questions
from audit.annotation.control_questions import add_settled_questions
from audit.annotation.questions import Wanted, open_questions
from audit.annotation.queue import next_question, queue_of
from audit.errors import NotAllowed
from audit.judging.judgements import judge
from audit.judging.training import judging_mode, train
from audit.reports.progress import totals, unread_line
from audit.store import input_ids, open_store
from audit.tasks import Input

SPANISH = [(Input.of(f"Film {number}.", target="es"), f"Película {number}.") for number in range(3)]
BACK = [(Input.of("Film a.", language="fr", target="en"), "Film a.")]


def ask(engine, pairs, annotators=2):
    """Open a question about each (input, translation)."""
    with engine.begin() as connection:
        ids = input_ids(connection, [text for text, _ in pairs])
        wanted = [Wanted(ids[text.key], text.key, rank, output=said) for rank, (text, said) in enumerate(pairs, 1)]
        open_questions(connection, "translation", wanted, annotators=annotators)


@pytest.fixture
def world(tmp_path):
    """Three questions from English into Spanish and one from French into English, for two people each."""
    engine = open_store(str(tmp_path / "a.db"), create=True)
    ask(engine, SPANISH)
    ask(engine, BACK)
    return engine


def test_nothing_is_said_before_there_are_accounts(world):
    assert unread_questions(world) == []


def test_questions_in_a_pair_that_no_annotator_reads(world):
    add_account(world, "ann", "annotator", "long enough", languages=["en", "es"])
    add_account(world, "ben", "annotator", "long enough", languages=["es", "en", "ca"])
    add_account(world, "cem", "annotator", "long enough", languages=["fr"])  # reads the text, not the translation
    boss = add_account(world, "mia", "manager", "long enough").id
    assert unread_questions(world, boss) == [Unread(("fr", "en"), 1, 2, 0, 1)]
    for name in ("dan", "eve"):
        add_account(world, name, "annotator", "long enough", languages=["fr", "en"])
    assert unread_questions(world) == []


def test_annotators_of_no_language_read_all(world):
    add_people(world, {"ann": "annotator", "ben": "annotator"})
    assert unread_questions(world) == []


def test_too_few_readers_counting_what_others_have_answered(world):
    ann = add_account(world, "ann", "annotator", "long enough", languages=["en", "es"]).id
    both = [Unread(("en", "es"), 3, 2, 1, 0), Unread(("fr", "en"), 1, 2, 0, 0)]
    assert unread_questions(world) == both
    # ann's own answer helps nothing: somebody else is wanted.
    judge(world, ann, next_question(world, ann).id, "accurate")
    assert unread_questions(world) == both
    # An answer of somebody who left counts, so that ann alone can fill what he answered.
    ben = add_account(world, "ben", "annotator", "long enough", languages=["en", "es"]).id
    judge(world, ben, next_question(world, ben).id, "accurate")
    second = next_question(world, ben).id
    judge(world, ben, second, "accurate")
    disable_account(world, "ben")
    # The first question is filled, the second wants ann, the third ann and one more.
    assert unread_questions(world) == [Unread(("en", "es"), 1, 2, 1, 0), both[1]]


def test_others_stand_in_only_where_there_are_no_annotators(world):
    add_people(world, {"mia": "manager", "ada": "adjudicator"})
    assert unread_questions(world) == []
    add_account(world, "ann", "annotator", "long enough", languages=["es"])
    assert [(unread.languages, unread.readers, unread.others) for unread in unread_questions(world)] == [
        (("en", "es"), 0, 2),
        (("fr", "en"), 0, 2),
    ]


def test_a_question_about_a_group_needs_the_languages_of_its_links(tmp_path):
    engine = translations.study(tmp_path, "P", groups=20)
    for name in ("ann", "ben"):
        add_account(engine, name, "annotator", "long enough", languages=["en", "fr"])
    # en>es and fr>es are asked about each text; and about each group, which goes from English by French into Spanish.
    assert unread_questions(engine) == [
        Unread(("en", "es"), 4, 2, 0, 0),
        Unread(("en", "es", "fr"), 4, 2, 0, 0),
        Unread(("fr", "es"), 4, 2, 0, 0),
    ]


@pytest.mark.parametrize(
    ("languages", "own"),
    [((), 28), (("en", "es"), 16), (("es",), 0), (("fr", "en"), 4), (("fr", "es"), 4), (("es", "fr", "en", "zh"), 28)],
)
def test_people_are_asked_only_about_pairs_that_they_read(tmp_path, languages, own):
    # Of four texts: en>es 4, es>en 8 (two systems), en>fr 4, fr>es 4; groups 4 of en and es, and 4 of all three.
    engine = translations.study(tmp_path, groups=20)
    ann = add_account(engine, "ann", "annotator", "long enough", languages=languages).id
    queue = queue_of(engine, ann)
    assert (queue.left_for_me, queue.in_other_languages) == (own, 28 - own)
    seen = []
    while (shown := next_question(engine, ann)) is not None:
        members = shown.group.members if shown.group else []
        needed = {*shown.languages, *(code for part in members for code in part.input.languages)}
        assert not languages or needed <= set(languages)
        assert not any(word in repr(shown) for word in ("one'", "two'"))  # no system
        seen.append(shown.id)
        judge(engine, ann, shown.id, shown.labels[0])
    assert len(seen) == own


READERS = [(("en", "es"), True), (("en", "fr"), False), ((), True)]


@pytest.fixture
def with_controls(tmp_path):
    """A database in which two people have settled some translations from English into Spanish, and these questions."""
    engine = translations.study(tmp_path)
    for name in ("yan", "zoe"):
        account = add_account(engine, name, "annotator", "long enough", languages=["en", "es"]).id
        for _ in range(8):
            judge(engine, account, next_question(engine, account).id, "accurate")
    ids = [
        question["id"]
        for question in translations.questions(engine)
        if question["filled"] and question["languages"] == "en,es"
    ]
    assert ids
    return engine, ids


@pytest.mark.parametrize(("languages", "reads"), READERS)
def test_training_is_for_who_reads_both_languages(with_controls, languages, reads):
    engine, ids = with_controls
    add_settled_questions(engine, "training", ids)
    settle_how(engine, pass_mark=0.5)
    ann = add_account(engine, "ann", "annotator", "long enough", languages=languages).id
    training = judging_mode(engine, ann).training
    if not reads:
        assert training is None
        return
    assert (training.questions, training.shown.languages) == (len(ids), ("en", "es"))
    assert training.shown.output in translations.SPANISH
    assert train(engine, ann, training.shown.id, "accurate").right


@pytest.mark.parametrize(("languages", "reads"), READERS)
def test_hidden_questions_are_for_who_reads_both_languages(with_controls, languages, reads, monkeypatch):
    engine, ids = with_controls
    add_settled_questions(engine, "gold", ids)
    settle_how(engine, gold_share=0.1)
    monkeypatch.setattr(control_questions, "uniform", lambda *of: 0.0)  # a hidden question comes whenever there is one
    ann = add_account(engine, "ann", "annotator", "long enough", languages=languages).id
    seen = set()
    while (shown := next_question(engine, ann)) is not None:
        seen.add(shown.id)
        judge(engine, ann, shown.id, "accurate")
    assert seen
    assert seen & set(ids) == (set(ids) if reads else set())


def test_managers_only(world):
    ann = add_account(world, "ann", "annotator", "long enough").id
    with pytest.raises(NotAllowed):
        unread_questions(world, ann)


def test_progress_says_it(world):
    add_account(world, "ann", "annotator", "long enough", languages=["en", "es"])
    entries = totals(overview(world))["unread"]
    assert json.loads(json.dumps(entries)) == [
        {"languages": ["en", "es"], "questions": 3, "wanted": 2, "readers": 1, "others": 0, "studies": []},
        {"languages": ["fr", "en"], "questions": 1, "wanted": 2, "readers": 0, "others": 0, "studies": []},
    ]
    few, nobody = (unread_line(entry) for entry in entries)
    assert few == (
        "3 questions in en, es want 2 people, and only 1 can read all of these languages; "
        "add accounts with these languages."
    )
    assert nobody.startswith("1 question in fr, en waits, and no annotator reads all of these languages;")
