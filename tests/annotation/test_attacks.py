"""What somebody with an account might try on the functions: each is refused in a sentence and changes nothing."""

import pytest
from sqlalchemy import inspect, select

from audit.annotation.accounts import add_account, list_accounts, log_in
from audit.annotation.queue import next_question
from audit.errors import AuditError, BadFile, NotAllowed, Refused
from audit.judging.adjudications import adjudicate, check
from audit.judging.deferral import flag, send_back, skip
from audit.judging.judgements import judge, undo
from audit.judging.labels import answer_with_gold, import_labels, read_labels
from audit.judging.staleness import Choice, mark_stale
from audit.store import open_store, table_of, tables

MEGABYTE = "x" * 1_000_000
HOSTILE = {
    "html": "<img src=x onerror=alert(1)><script>alert(1)</script>",
    "markdown": "[a](javascript:alert(1)) **b** :red[c] ![d](https://evil.example/d.png)",
    "latex": "$\\href{javascript:alert(1)}{x}$",
    "ansi": "\x1b[2J\x1b]0;title\x07",
    "rtl": "user\u202egnp.exe",
    "sql": "'; DROP TABLE judgement; --",
    "formula": '=HYPERLINK("https://evil.example")',
    "newlines": "a\r\nSet-Cookie: x=y",
}


@pytest.fixture
def world(judged):
    """The judged database with room for more: three people who have judged nothing, and a manager."""
    engine = open_store(judged)
    people = {name: add_account(engine, name, "annotator", "long enough").id for name in ("eve", "cy")}
    people["mia"] = add_account(engine, "mia", "manager", "long enough").id
    question = table_of(tables.Question)
    with engine.begin() as connection:
        connection.execute(question.update().values(annotators=9, filled=False, priority=1))
    table = table_of(tables.Annotator)
    with engine.connect() as connection:
        people |= {row.name: int(row.id) for row in connection.execute(select(table)) if row.name in ("anna", "ada")}
    return engine, people


def unchanged(engine, content, kind, message, work):
    before = content(engine)
    with pytest.raises(kind, match=message) as problem:
        work()
    assert len(str(problem.value)) < 400
    assert content(engine) == before


@pytest.mark.parametrize("where", ["another's", "nobody's", "none", "negative", "huge"])
def test_a_question_that_is_not_leased_to_me(world, content, where):
    engine, people = world
    theirs = next_question(engine, people["cy"]).id
    own = next_question(engine, people["eve"]).id
    other = 1 + max(theirs, own)
    id = {"another's": theirs if theirs != own else other, "nobody's": other, "none": 10**6, "negative": -1,
          "huge": 2**62}[where]  # fmt: skip
    eve = people["eve"]
    for work in (lambda: judge(engine, eve, id, "positive"), lambda: skip(engine, eve, id),
                 lambda: flag(engine, eve, id, "odd")):  # fmt: skip
        unchanged(engine, content, Refused, "not leased to you|there is no question", work)


def test_undo_takes_back_nothing_of_anybody_else(world, content):
    engine, people = world
    before = content(engine, "judgement")
    assert undo(engine, people["eve"]) is None
    assert content(engine, "judgement") == before


def test_an_annotator_settles_checks_and_sends_back_nothing(world, content):
    engine, people = world
    eve = people["eve"]
    for work in (
        lambda: adjudicate(engine, eve, 1, ["positive"], "because"),
        lambda: check(engine, eve, 1, ["positive"]),
        lambda: send_back(engine, eve, 1),
        lambda: mark_stale(engine, eve, Choice(below=9), "because"),
        lambda: answer_with_gold(engine, by=eve),
    ):
        unchanged(engine, content, NotAllowed, "needs the role", work)


def test_an_adjudicator_checks_and_sends_back_only_what_waits(world, content):
    engine, people = world
    ada = people["ada"]
    for id in (1, 10**6, -1):
        unchanged(engine, content, Refused, "does not wait for a check", lambda id=id: check(engine, ada, id, ["x"]))
        unchanged(engine, content, Refused, "not flagged any more", lambda id=id: send_back(engine, ada, id))
    for id in (10**6, -1):
        unchanged(
            engine,
            content,
            Refused,
            "there is no question",
            lambda id=id: adjudicate(engine, ada, id, ["x"], "because"),
        )


@pytest.mark.parametrize(
    "answer", ["", "POSITIVE", "withdrawn", "holds", "positive\0", "positive' OR '1'='1", MEGABYTE]
)
def test_an_answer_that_is_no_label(world, content, answer):
    engine, people = world
    shown = next_question(engine, people["eve"])
    unchanged(engine, content, Refused, "is not one of", lambda: judge(engine, people["eve"], shown.id, answer))


@pytest.mark.parametrize("text", [MEGABYTE, "odd\0", "odd \ud800"], ids=["megabyte", "nul", "half a character"])
def test_a_comment_that_cannot_be_kept_by_every_way_in(world, content, text):
    engine, people = world
    eve, ada, mia = people["eve"], people["ada"], people["mia"]
    shown = next_question(engine, eve)
    message = "the comment has"
    for work in (
        lambda: judge(engine, eve, shown.id, "positive", comment=text),
        lambda: flag(engine, eve, shown.id, text),
        lambda: adjudicate(engine, ada, shown.id, ["positive"], text),
        lambda: adjudicate(engine, ada, shown.id, [], text) if len(text) < 100 else adjudicate(
            engine, ada, shown.id, ["negative"], text),
        lambda: send_back(engine, ada, shown.id, text),
        lambda: mark_stale(engine, mia, Choice(below=9), text),
    ):  # fmt: skip
        unchanged(engine, content, Refused, f"{message}|choose at least", work)


def test_a_check_s_remark_of_a_megabyte(world, content):
    engine, people = world
    agreed = table_of(tables.Answer)
    with engine.begin() as connection:
        settled = select(table_of(tables.Adjudication).c.question_id)
        query = select(agreed.c.question_id).where(agreed.c.origin == "people", agreed.c.question_id.not_in(settled))
        id = connection.execute(query).scalars().first()
        connection.execute(table_of(tables.SpotCheck).insert(), {"question_id": id, "priority": 1})
    unchanged(
        engine, content, Refused, "the comment has", lambda: check(engine, people["ada"], id, ["neutral"], MEGABYTE)
    )


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_comment_is_kept_as_it_is_and_does_nothing(world, text):
    engine, people = world
    shown = next_question(engine, people["eve"])
    id = judge(engine, people["eve"], shown.id, "positive", comment=text)
    table = table_of(tables.Judgement)
    with engine.connect() as connection:
        assert connection.execute(select(table.c.comment).where(table.c.id == id)).scalar() == text
        assert inspect(connection).has_table("judgement")


@pytest.mark.parametrize("name", [HOSTILE[key] for key in ("ansi", "rtl", "newlines")] + ["a\0b", MEGABYTE, "\ud800"])
def test_names_that_would_lie_on_a_screen(world, content, name):
    engine, people = world
    unchanged(
        engine, content, AuditError, "must be 1 to 80 printable", lambda: add_account(
            engine, name, "annotator", "long enough", by=people["mia"])
    )  # fmt: skip
    unchanged(engine, content, NotAllowed, "name or password is wrong", lambda: log_in(engine, name, "long enough"))


@pytest.mark.parametrize("key", ["sql", "latex"])
def test_a_name_is_a_text(world, key):
    engine, people = world
    name = HOSTILE[key]
    account = add_account(engine, name, "annotator", "long enough", by=people["mia"])
    assert log_in(engine, name, "long enough") == account
    assert name.casefold() in {listed.name for listed in list_accounts(engine)}


def test_languages_without_end(world, content):
    engine, people = world
    many = [f"aa-{number:08d}" for number in range(100_000)]
    unchanged(
        engine, content, AuditError, "at most 50", lambda: add_account(
            engine, "new", "annotator", "long enough", languages=many, by=people["mia"])
    )  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("text,label\nFilm 1 était bien.,positive\n".encode("latin-1"), "is not UTF-8"),
        (b"\xff\xfe\x00", "begins as UTF-16"),
        (f"text,label\nFilm 1 was fine.,{MEGABYTE}\n".encode(), "is not one of"),
        (f"text,label,annotator\nFilm 1 was fine.,positive,{MEGABYTE[:120_000]}\n".encode(), "printable characters"),
        (b"text,label,annotator\nFilm 1 was fine.,positive,\x1b[2J\n", "printable characters"),
        (b"text,label,annotator\nFilm 1 was fine.,positive,gold\n", "not 'gold'"),
        (b"text,label,annotator\nFilm 1 was fine.,positive,anna\n", "is an account that somebody uses"),
        (b"text,label,annotator\nFilm 1 was fine.,<script>,eve2\n", "is not one of positive"),
    ],
    ids=range(8),
)
def test_labels_files(world, content, tmp_path, rows, message):
    engine, people = world
    path = tmp_path / "labels.csv"
    path.write_bytes(rows)
    before = content(engine)
    with pytest.raises((AuditError, BadFile), match=message):
        import_labels(engine, read_labels(path), annotator=None if b"annotator" in rows else "crowd", by=people["mia"])
    assert content(engine) == before
