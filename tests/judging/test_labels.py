"""Labels from elsewhere: what matches, what does not and why, and that doing it twice adds nothing."""

import json

import pytest
from sqlalchemy import select

from audit.errors import AuditError, BadFile, NotAllowed
from audit.judging.answers import counting_votes
from audit.judging.labels import (
    NOT_HERE,
    import_labels,
    read_labels,
)
from audit.judging.sign_in import log_in
from audit.store import input_ids, open_store, table_of, tables
from audit.tasks import Input


@pytest.fixture
def engine(judged):
    return open_store(judged)


@pytest.fixture
def csv(tmp_path):
    def write(text, name="labels.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def studio(csv):
    def write(*tasks):
        return csv(json.dumps(list(tasks)), "export.json")

    return write


def task(text, *labels, by=7, **annotation):
    """A task of Label Studio as its documentation has it (https://labelstud.io/guide/task_format)."""
    annotations = [
        {
            "id": 1001, "completed_by": by, "was_cancelled": False, "lead_time": 4.5,
            "created_at": "2026-03-09T22:16:08.728353Z",
            "result": [
                {
                    "id": "Dx_aB91ISN", "from_name": "sentiment", "to_name": "text", "type": "choices",
                    "value": {"choices": [label]},
                }
            ],
        }
        | annotation
        for label in labels
    ]  # fmt: skip
    return {"id": 3, "data": {"text": text}, "annotations": annotations, "predictions": []}


def votes(engine, name):
    """The counting judgements of an annotator, by text."""
    question, input_table = table_of(tables.Question), table_of(tables.Input)
    with engine.connect() as connection:
        texts = dict(
            connection.execute(
                select(question.c.id, input_table.c.texts).join(input_table, input_table.c.id == question.c.input_id)
            ).all()
        )
        return {
            texts[vote.question_id][0]: vote.answer
            for vote in counting_votes(connection, texts)
            if vote.annotator == name
        }


def test_texts_become_judgements_of_an_annotator_who_cannot_log_in(engine, csv):
    path = csv("text,label\nFilm 1 was fine.,good\nFilm 2 was fine. ,BAD\nFilm 3 was fine.,unsure\nUnknown.,good\n")
    renamed = {"good": "positive", "bad": "negative"}
    imported = import_labels(engine, read_labels(path), annotator="crowd", renamed=renamed)
    assert (imported.labels, imported.added, imported.unmatched, imported.first) == (
        4,
        3,
        {NOT_HERE: 1},
        {NOT_HERE: "line 5"},
    )
    assert votes(engine, "crowd") == {
        "Film 1 was fine.": "positive", "Film 2 was fine.": "negative", "Film 3 was fine.": "unsure"
    }  # fmt: skip
    annotator = table_of(tables.Annotator)
    with engine.connect() as connection:
        row = connection.execute(select(annotator).where(annotator.c.name == "crowd")).mappings().one()
    assert (row["role"], row["password"], row["disabled"]) == ("annotator", None, True)
    with pytest.raises(NotAllowed):
        log_in(engine, "crowd", "")


def test_again_adds_nothing_another_label_supersedes_and_agreement_settles(engine, csv, content):
    with engine.begin() as connection:
        (id,) = input_ids(connection, [Input.of("Never drawn.")]).values()
    path = csv("text,label,annotator\nNever drawn.,positive,x\nNever drawn.,positive,y\n")
    imported = import_labels(engine, read_labels(path))
    assert (imported.opened, imported.added, imported.annotators) == (1, 2, ["x", "y"])
    question, answer = table_of(tables.Question), table_of(tables.Answer)
    with engine.connect() as connection:
        query = select(question.c.priority, answer.c.origin, answer.c.allowed).join(answer)
        assert connection.execute(query.where(question.c.input_id == id)).one() == (None, "people", ["positive"])
    before = content(engine)
    assert (import_labels(engine, read_labels(path)).known, content(engine)) == (2, before)
    path.write_text("text,label,annotator\nNever drawn.,neutral,x\n", encoding="utf-8")
    imported = import_labels(engine, read_labels(path))
    assert (imported.added, imported.changed) == (0, 1)
    assert votes(engine, "x") == {"Never drawn.": "neutral"}
    assert len(content(engine)["judgement"]) == len(before["judgement"]) + 1


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("text,label\na,great", {"annotator": "x"}, r"line 2: label 'great' is not one of positive, neutral"),
        ("text,label\na,one\nb,two", {"annotator": "x"}, r"2 of 2 labels are wrong, so nothing was used:\n  line 2: "),
        ("text,label\na,positive", {}, "does not say who gave the labels; name them with annotator=NAME"),
        ("text,label,annotator\na,positive,x\nb,positive,y", {"annotator": "z"}, "the file names 2 annotators"),
        ("text,label\na,positive", {"annotator": "gold"}, "name 'gold': must be 1 to 80"),
        ("text,label\na,positive", {"annotator": "deleted-3"}, "not begin with 'deleted-'"),
        ("text,label\nFilm 1 was fine.,positive", {"annotator": "anna"}, "'anna' is an account that somebody uses"),
        ("text,label\na,positive", {"annotator": "x", "task": "weather"}, "unknown task 'weather'"),
        ("text,label\na,positive", {"annotator": "x", "renamed": {"a": "b"}}, "renamed a=b: 'b' is not one of"),
    ],
)  # fmt: skip
def test_what_is_refused_changes_nothing(engine, csv, content, text, options, message):
    before = content(engine)
    with pytest.raises(AuditError, match=message):
        import_labels(engine, read_labels(csv(text)), **options)
    assert content(engine) == before


def test_label_studio(engine, studio):
    path = studio(
        task("Film 1 was fine.", "Positive"),
        task("Film 1 was fine.", "Negative", by={"id": 8, "email": "eve@example.org"}),
        task("Film 2 was fine.", "Positive", was_cancelled=True),
        task("Film 2 was fine.", "Positive", result=[]),
        task("Film 2 was fine."),
    )
    file = read_labels(path)
    assert file.without == {"skipped by the annotator": 1, "no choice made": 1, "not annotated": 1}
    imported = import_labels(engine, file)
    assert (imported.added, imported.annotators) == (2, ["eve@example.org", "label-studio-7"])
    judgement, annotator = table_of(tables.Judgement), table_of(tables.Annotator)
    with engine.connect() as connection:
        query = (
            select(judgement)
            .join(annotator, annotator.c.id == judgement.c.annotator_id)
            .where(annotator.c.name == "label-studio-7")
        )
        row = connection.execute(query).mappings().one()
    assert (row["decided_at"] - row["shown_at"]).total_seconds() == 4.5
    assert (row["decided_at"].isoformat()[:19], row["guideline"]) == ("2026-03-09T22:16:08", 0)


def test_several_choices_of_label_studio(studio):
    two = task("a", "positive")
    other = dict(two["annotations"][0]["result"][0]) | {"from_name": "irony", "value": {"choices": ["yes"]}}
    two["annotations"][0]["result"].append(other)
    with pytest.raises(
        BadFile, match=r"task 3: choices of several tags \(irony, sentiment\); choose one with columns=label=TAG"
    ):
        read_labels(studio(two))
    assert [row["label"] for row in read_labels(studio(two), {"label": "irony"}).rows] == ["yes"]
    many = task("a", "positive")
    many["annotations"][0]["result"][0]["value"]["choices"].append("negative")
    assert read_labels(studio(many)).rows[-1]["label"] == "positive+negative", "where a text may have several labels"
    many["annotations"][0]["result"][0]["value"]["choices"] = "positive"
    with pytest.raises(BadFile, match="is not a single choice"):
        read_labels(studio(many))
