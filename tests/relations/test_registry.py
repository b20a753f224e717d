"""The registry: names within a task, their order, parameters; and what every registered relation promises."""

import pickle
from dataclasses import fields
from functools import partial

import pytest

from audit.errors import AuditError, UnknownName
from audit.packs.english import parser
from audit.relations import Plain, all_relations, base, get_relation, relations_named
from audit.relations.expect import on_documents
from audit.relations.registry import configured
from audit.text.tools import version_of

STUDY = [
    *("MR1.1", "MR1.2", "MR1.3", "MR1.4", "MR2.1", "MR2.2", "MR3.1", "MR3.2"),
    *("MR4.1", "MR4.2", "MR4.3", "MR4.4", "MR4.5", "MR5.1", "MR5.2", "MR5.3"),
    *("MR6.1", "MR6.2", "MR7.1", "MR7.2"),
]


def test_a_run_without_names_takes_the_twenty_relations_of_the_study_in_order():
    assert [relation.name for relation in relations_named("sentiment", None)] == STUDY
    assert {"typos", "lower-case"} <= {relation.name for relation in all_relations("sentiment")} - set(STUDY)


def test_a_run_of_another_task_without_names_takes_what_carries_an_answer():
    names = [relation.name for relation in relations_named("classification", None)]
    assert "typos" in names
    assert "tense" not in names
    assert "tense" in [relation.name for relation in all_relations("classification")]


def test_names_that_stand_for_several():
    def named(*names):
        return [relation.name for relation in relations_named("sentiment", names)]

    assert named("MR7.2", "family:Removing sentences", "MR1.1") == ["MR7.2", "MR7.1", "MR1.1"]
    assert named("default") == STUDY
    assert named("all") == [relation.name for relation in all_relations("sentiment")]
    with pytest.raises(UnknownName, match=r"'family:typos'; did you mean .* known are: .*family:noise in letters"):
        named("family:typos")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sentenzes": 5}, "has no parameter 'sentenzes'; it has sentences"),
        ({"sentences": "5"}, "it must be of type int"),
        ({"sentences": True}, "it must be of type int"),
    ],
)
def test_bad_parameters_are_refused(changes, message):
    with pytest.raises(AuditError, match=message):
        configured(get_relation("sentiment", "MR6.1"), changes)


def test_the_version_of_a_tagger_is_a_part_of_its_relations_version(monkeypatch):
    assert get_relation("sentiment", "MR3.1").full_version == get_relation("sentiment", "MR3.1").version
    english = get_relation("sentiment", "MR1.1")
    assert english.full_version == f"{english.version}; {parser.version()}"
    tagging = get_relation("similarity", "MR1.1")
    assert tagging.full_version == f"{tagging.version}; {version_of('jieba')}"
    monkeypatch.setattr(base, "version_of", lambda tagger: f"another {tagger}")
    assert tagging.full_version == f"{tagging.version}; another jieba"


def test_a_copy_by_pickle_is_the_relation():
    """Workers are sent relations; functions are found by their module and name, so that copies make the same groups."""

    def said(relation):  # no partial is equal to another one
        values = ((field.name, getattr(relation, field.name)) for field in fields(relation))
        return {
            name: (value.func, value.args, value.keywords) if isinstance(value, partial) else value
            for name, value in values
        }

    every = all_relations()
    spread = [on_documents(one, 0.5) for one in every if isinstance(one, Plain) and one.unit == "sentence"]
    for relation in (*every, *spread, get_relation("sentiment", "MR1.1 | MR3.1")):
        assert said(pickle.loads(pickle.dumps(relation))) == said(relation), relation.name  # noqa: S301
