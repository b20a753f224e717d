"""A plan on twenty sentences, and people of every role."""

import csv
import itertools

import pytest

from audit.judging.accounts import add_account
from audit.store import open_store
from audit.studies.plan import read_plan

PASSWORD = "long enough"


@pytest.fixture
def engine(tmp_path):
    return open_store(str(tmp_path / "audit.db"), create=True)


@pytest.fixture
def people(engine):
    """Ids of ann (annotator), judge (adjudicator) and boss (manager)."""
    roles = {"ann": "annotator", "judge": "adjudicator", "boss": "manager"}
    return {name: add_account(engine, name, role, PASSWORD, languages=["en"]).id for name, role in roles.items()}


@pytest.fixture
def document():
    """Makes the document of a plan on rotten-tomatoes; keys are `table__key`."""

    def make(name="films", **changed):
        content = {
            "name": name,
            "study": {
                "corpus": "rotten-tomatoes",
                "systems": ["vader", "textblob"],
                "relations": ["MR1.4", "MR3.1"],
                "limit": 20,
            },
            "sample": {"base": 4},
            "judging": {"annotators": 1, "gold": True},
            "report": {},
        }
        for key, value in changed.items():
            table, _, inner = key.partition("__")
            content[table][inner] = value
        return content

    return make


@pytest.fixture
def plan(document):
    """Makes such a plan."""
    return lambda *names, **changed: read_plan(document(*names, **changed))


@pytest.fixture
def reviews(tmp_path):
    """A CSV of the user's with 200 sentences and gold labels."""
    words = itertools.product(("film", "plot", "cast", "song"), ("good", "bad", "dull", "fine", "odd"), range(10))
    path = tmp_path / "reviews.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "gold"])
        writer.writerows(
            [f"The {noun} of part {n} is {word}.", "positive" if word in ("good", "fine") else "negative"]
            for noun, word, n in words
        )
    return path
