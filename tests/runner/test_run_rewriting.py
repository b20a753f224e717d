"""Runs of relations whose check is told what was replaced: never stored, it is made again by a run that goes on."""

from dataclasses import replace

import pytest
from small_corpus import SmallCorpus
from sqlalchemy import select

from audit.keys import fingerprint
from audit.relations import Outcome, Rewriting, base
from audit.relations.base import Rewritten, unchanged
from audit.relations.expect import same_text
from audit.reports.study import study_report
from audit.runner.executors import InProcess
from audit.runner.run import run
from audit.store import open_store, table_of, tables
from audit.tasks import Input
from audit.text.tools import version_of

OWN = """
from audit.tasks import Output


class First:
    '''The first sentence; "long" texts are cut in the middle of a word, which no replacement of words repairs.'''
    tasks, languages = ("summarization",), ("zh",)
    name, version = "first", "1"
    def predict(self, texts):
        return [Output(text=text[:4] if "长" in text else text.split("。")[0] + "。") for text in texts]
"""


def rename(texts, choices):
    """Everybody gets a longer name that is drawn for the text."""
    new = choices.choice(["欧阳小明", "司马小红"])
    return Rewritten(tuple(text.text.replace("王强", new) for text in texts), (("王强", new),))


RENAME = Rewriting(
    task="summarization",
    name="MR0.2",
    family="tests",
    summary="",
    unit="any",
    carry=unchanged,
    languages=("zh",),
    rewrite=rename,
    check=same_text,
)


class Articles(SmallCorpus):
    """Forty articles in Chinese: every fourth is a "long" one, every fifth has nobody in it."""

    task, language = "summarization", "zh"

    def __init__(self):
        texts = [
            f"{'长' if row % 4 == 0 else ''}{'有人' if row % 5 == 0 else '王强'}说第{row}句。后来下雨了。"
            for row in range(40)
        ]
        super().__init__("articles", texts)

    def rows(self):
        for row in super().rows():
            yield type(row)(row.key, Input.of(row.input.text, language="zh"))


@pytest.fixture
def spec(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("audit.runner.studies.CHUNK", {"sentence": 8, "document": 2})
    name = f"summarizing_{fingerprint([str(tmp_path)])}"
    (tmp_path / f"{name}.py").write_text(OWN, encoding="utf-8")
    return f"{name}:First"


def outcomes(engine):
    """The outcome of each source row's group."""
    group, verdict, source = table_of(tables.Group), table_of(tables.Verdict), table_of(tables.Source)
    query = (
        select(source.c.row, verdict.c.outcome)
        .select_from(verdict)
        .join(group, group.c.id == verdict.c.group_id)
        .join(source, source.c.id == group.c.source_id)
    )
    with engine.connect() as connection:
        return {int(row): Outcome(outcome) for row, outcome in connection.execute(query)}


def test_the_check_replaces_the_words_of_its_group(spec):
    engine = open_store("sqlite://", create=True)
    run(engine, Articles(), [spec], [RENAME], InProcess())
    # A short article's first sentence is repeated with the new name; a long one is cut after "长王强说", whose
    # replacement is longer than four characters.
    assert outcomes(engine) == {
        row: Outcome.VIOLATED if row % 4 == 0 else Outcome.SATISFIED for row in range(40) if row % 5
    }


def test_words_of_another_tagger_are_another_relation_of_the_run(spec, monkeypatch):
    with_tagger = replace(RENAME, params={"tagger": "jieba"})
    engine = open_store("sqlite://", create=True)
    run(engine, Articles(), [spec], [with_tagger], InProcess())
    monkeypatch.setattr(base, "version_of", lambda tagger: f"another {tagger}")
    run(engine, Articles(), [spec], [with_tagger], InProcess())
    with engine.connect() as connection:
        versions = list(connection.execute(select(table_of(tables.Relation).c.version)).scalars())
    assert versions == [f"1; {version_of('jieba')}", "1; another jieba"]
    labels = [cell["relation"] for cell in study_report(engine)["cells"]]
    assert sorted(labels) == ["MR0.2 (another jieba)", f"MR0.2 ({version_of('jieba')})"]
