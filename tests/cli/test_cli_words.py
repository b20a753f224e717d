"""Words of one's own on the command line: of a run, of a file, of a plan; and several labels of a text."""

import pytest

from audit.cli import main
from audit.judging.words import stored_words, words_of
from audit.store import open_store

REVIEWS = "text,gold\nThe headphones are great.,positive\nThe headphones are bad.,negative\nThey came late.,\n"
RUN = ("run", "--db", "a.db", "--corpus", "reviews.csv", "--systems", "vader", "--relations", "MR3.1", "--workers", "0")
PLAN = """name = "own"
[study]
corpus = "reviews.csv"
systems = ["vader"]
relations = ["MR3.1"]
[sample]
base = 3
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


def test_a_plan_carries_its_words(capsys, here):
    (here / "own.toml").write_text(PLAN, encoding="utf-8")
    assert call(capsys, "study", "check", "own.toml")[0] == 0
    code, _, told = call(capsys, "study", "run", "own.toml", "--db", "a.db", "--workers", "0")
    assert code == 0, told
    assert (words().question, words().labels["positive"]) == ("Would they buy them again?", "Yes")
    assert call(capsys, "study", "run", "own", "--db", "a.db", "--workers", "0")[0] == 0  # again: nothing to change
    with open_store("a.db").connect() as connection:
        assert stored_words(connection, "sentiment").version == 1
