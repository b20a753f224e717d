"""Questions about texts, the people who answer them, and what is stored then."""

import threading

import pytest
from drawn_questions import draw_each
from sqlalchemy import Engine, select

from audit.judging.accounts import add_account
from audit.judging.judgements import judge
from audit.judging.queue import Remembered, Shown, next_question, show
from audit.store import open_store, table_of, tables
from audit.tasks import Input

PASSWORD = "long enough"


def ask(engine: Engine, inputs: list[Input], annotators: int = 2) -> None:
    """Open a question about each of these, in this order, that waits for so many people."""
    draw_each(engine, inputs, annotators)


def asked(where, texts: list[str]) -> Engine:
    """A new database with a question about each of these texts, for two people; its id is its place in the list."""
    engine = open_store(str(where), create=True)
    ask(engine, [Input.of(text) for text in texts])
    return engine


def filled(where, questions: int, people: int, languages: str = "", texts: list[Input] | None = None) -> Engine:
    """A new database with so many questions, for two people each, and annotators without a password, from number 1."""
    engine = open_store(str(where), create=True)
    ask(engine, texts or [Input.of(f"Film {number} was fine.") for number in range(questions)])
    same = {"role": "annotator", "languages": languages, "created_at": tables.now()}
    with engine.begin() as connection:
        connection.execute(table_of(tables.Annotator).insert(), [same | {"name": f"p{n}"} for n in range(people)])
    return engine


def add_people(engine: Engine, roles: dict[str, str]) -> dict[str, int]:
    """Add an account of each name and role; their ids by name."""
    return {name: add_account(engine, name, role, PASSWORD).id for name, role in roles.items()}


def recalled(engine: Engine, account: int, question_id: int) -> Remembered:
    """What somebody is reminded of with a question on their screen."""
    with engine.connect() as connection:
        return show(connection, question_id, account).remembered


def give(engine: Engine, account: int, *labels: str) -> list[int]:
    """Answer the next questions with these labels; the questions' ids."""
    ids = []
    for label in labels:
        shown = next_question(engine, account)
        judge(engine, account, shown.id, label)
        ids.append(shown.id)
    return ids


def claim_at_once(engine: Engine, *accounts: int) -> dict[int, Shown | None]:
    """Let these people claim a question at the same moment; what each got."""
    barrier, got = threading.Barrier(len(accounts)), {}

    def claim(account):
        barrier.wait()
        got[account] = next_question(engine, account)

    threads = [threading.Thread(target=claim, args=(account,)) for account in accounts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return got


def rows(engine: Engine, model, *order) -> list[dict]:
    """Every row of the table, in this order or in that of its key."""
    table = table_of(model)
    query = select(table).order_by(*(order or table.primary_key))
    with engine.connect() as connection:
        return [dict(row) for row in connection.execute(query).mappings()]


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def where(request, tmp_path) -> str:
    """Where an empty database is to be, of either kind."""
    return str(tmp_path / "audit.db") if request.param == "sqlite" else request.getfixturevalue("postgres_url")


@pytest.fixture
def who(engine) -> dict[str, int]:
    """Account ids by name, in the module's database `engine`."""
    roles = {"ann": "annotator", "bob": "annotator", "cy": "annotator", "ada": "adjudicator", "mia": "manager"}
    return add_people(engine, roles)
