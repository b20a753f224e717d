"""A database of questions, people and known answers, for tests of training and hidden questions."""

from question_world import add_people, ask
from sqlalchemy import event

from audit.judging.control_questions import KnownText, add_known
from audit.judging.judgements import judge
from audit.judging.queue import next_question
from audit.judging.settings import change_settings
from audit.store import open_store, table_of, tables
from audit.tasks import Input

LABELS = ("positive", "neutral", "negative")
ROLES = {"ann": "annotator", "bob": "annotator", "ada": "adjudicator", "mia": "manager"}


def world(path, questions=12, annotators=2, people=ROLES):
    """A new database with so many open questions (`Film 1 was fine.` ...) and these people: engine, ids by name."""
    engine = open_store(str(path), create=True)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA synchronous=OFF"))
        engine.dispose()  # its connections are made anew, and no test here pulls the plug
    ask(engine, [Input.of(f"Film {number} was fine.") for number in range(1, questions + 1)], annotators)
    return engine, add_people(engine, people)


def forget(engine):
    """Nothing is known any more; the judgements stay."""
    with engine.begin() as connection:
        connection.execute(table_of(tables.Known).delete())


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


def answer_next(engine, account, label="positive"):
    """Answer the next question; what was shown, or None."""
    shown = next_question(engine, account)
    if shown is not None:
        judge(engine, account, shown.id, label)
    return shown
