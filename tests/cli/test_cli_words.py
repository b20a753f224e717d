"""Words of one's own on the command line: of a run, of a file, of a plan; and several labels of a text."""

import json

import pytest
from sqlalchemy import select

from audit.annotation.accounts import add_account
from audit.annotation.queue import next_question
from audit.annotation.words import stored_words, words_of
from audit.cli import main
from audit.judging.judgements import judge
from audit.store import open_store, table_of, tables

REVIEWS = "text,gold\nThe headphones are great.,positive\nThe headphones are bad.,negative\nThey came late.,\n"
RUN = ("run", "--db", "a.db", "--corpus", "reviews.csv", "--systems", "vader", "--relations", "MR3.1", "--workers", "0")
PLAN = """name = "own"
[study]
corpus = "reviews.csv"
systems = ["vader"]
relations = ["MR3.1"]
[sample]
per_relation = 3
[words]
question = "Would they buy them again?"
labels = { positive = "Yes", negative = "No" }
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reviews.csv").write_text(REVIEWS, encoding="utf-8")
    return tmp_path


def call(capsys, *command):
    code = main(list(command))
    told = capsys.readouterr()
    return code, told.out, told.err


def words(task="sentiment", language="en"):
    with open_store("a.db").connect() as connection:
        return words_of(connection).wording(task, language)


def test_a_run_sets_its_question_and_a_report_names_the_version(capsys):
    code, _, told = call(capsys, *RUN, "--question", "Would they buy them again?")
    assert code == 0, told
    assert words().question == words(language="zh").question == "Would they buy them again?"
    assert call(capsys, *RUN, "--question", "Would they buy them again?")[0] == 0  # the same again changes nothing
    assert call(capsys, "sample", "--db", "a.db", "--per-relation", "3")[0] == 0
    assert call(capsys, "gold", "--db", "a.db")[0] == 0
    code, out, _ = call(capsys, "report", "--db", "a.db", "--json")
    assert json.loads(out)["signature"]["words"] == {"sentiment": 1}


def test_other_words_are_refused_where_people_have_answered(capsys):
    assert call(capsys, *RUN)[0] == 0
    assert call(capsys, "sample", "--db", "a.db", "--per-relation", "3")[0] == 0
    engine = open_store("a.db")
    ann = add_account(engine, "ann", "annotator", "long enough").id
    judge(engine, ann, next_question(engine, ann).id, "positive")
    code, _, told = call(capsys, *RUN, "--question", "Is it praise?")
    assert code == 2
    assert "one answer to a question of sentiment was given under other words" in told
    assert "--change-words changes them all the same" in told
    assert stored_words(engine.connect(), "sentiment").version == 0
    assert call(capsys, *RUN, "--question", "Is it praise?", "--change-words")[0] == 0
    assert words().question == "Is it praise?"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('[words]\nquestion = "x"\nlabels = { great = "y" }', "labels.'great': is no label of the task"),
        ("question = 3", "question: must be a text"),
        ("[words", "not TOML"),
    ],
)
def test_wrong_words_leave_no_database(capsys, here, text, reason):
    (here / "words.toml").write_text(text, encoding="utf-8")
    code, _, told = call(capsys, *RUN, "--words", "words.toml")
    assert code == 2
    assert reason in told
    assert not (here / "a.db").exists()


def test_a_plan_carries_its_words(capsys, here):
    (here / "own.toml").write_text(PLAN, encoding="utf-8")
    assert call(capsys, "study", "check", "own.toml")[0] == 0
    code, _, told = call(capsys, "study", "run", "own.toml", "--db", "a.db", "--workers", "0")
    assert code == 0, told
    assert (words().question, words().labels["positive"]) == ("Would they buy them again?", "Yes")
    assert call(capsys, "study", "run", "own", "--db", "a.db", "--workers", "0")[0] == 0  # again: nothing to change
    with open_store("a.db").connect() as connection:
        assert stored_words(connection, "sentiment").version == 1


def test_several_labels_from_file_to_report(capsys, here):
    (here / "tickets.csv").write_text(
        "text,gold\nThe driver was late and rude.,rude+late\nThanks for your help.,none\nIt came late.,late\n"
    )
    (here / "mine.py").write_text(
        "def found(text):\n"
        "    return [label for label in ('rude', 'late', 'refund') if label in text.lower()]\n"
        "found.tasks = ('classification/refund+late+rude',)\n"
        "import audit\n"
        "audit.relation('MINE.1', task='classification', check=audit.equivalent, preserves='label')("
        "lambda text: text.replace('.', '!'))\n"
    )
    task = "classification/refund+late+rude"
    run = (
        "run",
        "--db",
        "a.db",
        "--corpus",
        "tickets.csv",
        "--task",
        task,
        "--systems",
        "mine:found",
        "--workers",
        "0",
    )
    code, _, told = call(capsys, *run, "--plugin", "mine", "--relations", "MINE.1")
    assert code == 0, told
    output = table_of(tables.Output)
    engine = open_store("a.db")
    with engine.connect() as connection:
        assert set(connection.execute(select(output.c.label)).scalars()) == {"late+rude", "none", "late"}
    for command in (("sample", "--per-relation", "3"), ("gold",)):
        code, _, told = call(capsys, *command, "--db", "a.db", "--plugin", "mine")
        assert code == 0, told
    code, out, told = call(capsys, "report", "--db", "a.db", "--json", "--plugin", "mine")
    assert code == 0, told
    (cell,) = json.loads(out)["cells"]
    assert (cell["judged"], cell["false"]) == (3, 0)
