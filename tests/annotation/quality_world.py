"""A database of questions, people and known answers, for tests of training and hidden questions."""

from sqlalchemy import event, select

from audit.annotation.accounts import add_account
from audit.annotation.judging import judge
from audit.annotation.known import add_known
from audit.annotation.known_files import KnownText
from audit.annotation.questions import Wanted, open_questions
from audit.annotation.queue import next_question
from audit.annotation.settings import change_settings
from audit.store import input_ids, open_store, table_of
from audit.tasks import Input

PASSWORD = "long enough"
LABELS = ("positive", "neutral", "negative")
ROLES = {"ann": "annotator", "bob": "annotator", "ada": "adjudicator", "mia": "manager"}


def world(path, questions=12, annotators=2, people=ROLES):
    """A new database with so many open questions (`Film 1 was fine.` ...) and these people: engine, ids by name."""
    engine = open_store(str(path), create=True)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA synchronous=OFF"))
        engine.dispose()  # its connections are made anew, and no test here pulls the plug
    inputs = [Input.of(f"Film {number} was fine.") for number in range(1, questions + 1)]
    with engine.begin() as connection:
        ids = input_ids(connection, inputs)
        wanted = [Wanted(ids[one.key], one.key, rank) for rank, one in enumerate(inputs, 1)]
        open_questions(connection, "sentiment", wanted, annotators=annotators)
    return engine, {name: add_account(engine, name, role, PASSWORD).id for name, role in people.items()}


def know(engine, purpose, count, begin="Known", explanation="Because."):
    """Make so many texts known; the right answer to number n is the label n modulo 3."""
    items = [
        KnownText(Input.of(f"{begin} {number} was fine."), (LABELS[number % 3],), explanation)
        for number in range(count)
    ]
    return add_known(engine, purpose, items)


def right_answer(text):
    """The right answer to a text that `know` made."""
    return LABELS[int(text.split()[1]) % 3]


def settle_how(engine, **values):
    change_settings(engine, None, values)


def rows(engine, model, *order):
    table = table_of(model)
    with engine.connect() as connection:
        return [
            dict(row) for row in connection.execute(select(table).order_by(*(order or table.primary_key))).mappings()
        ]


def answer_next(engine, account, label="positive"):
    """Answer the next question; what was shown, or None."""
    shown = next_question(engine, account)
    if shown is not None:
        judge(engine, account, shown.id, label)
    return shown
