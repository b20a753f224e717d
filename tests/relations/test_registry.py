"""The registry: names within a task, their order, parameters; and what every registered relation promises."""

import random
from dataclasses import replace
from importlib.metadata import version

import pytest

from audit.errors import AuditError, UnknownName
from audit.packs.english import parser
from audit.relations import all_relations, base, get_relation, name_order, relations_named
from audit.relations.registry import configured, register
from audit.text import Analysis
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


def test_sentence_and_document_relations():
    documents = [relation.name for relation in all_relations("sentiment") if relation.unit == "document"]
    assert documents == STUDY[13:]


def test_only_those_that_look_at_outputs_depend_on_the_system():
    # Jiang et al. 2022, section 4.3.2.
    per_system = [relation.name for relation in all_relations("sentiment") if relation.per_system]
    assert per_system == ["MR5.2", "MR5.3", "MR7.1", "MR7.2"]


@pytest.mark.parametrize("name", STUDY)
def test_each_has_a_summary_and_carries_what_it_says(name):
    relation = get_relation("sentiment", name)
    assert relation.summary.endswith(".")
    kept = [label for label in ("positive", "neutral", "negative") if relation.carry({label}) == {label}]
    assert relation.carry.preserves_truth == (len(kept) == 3)


def test_unknown_names_list_the_known():
    with pytest.raises(UnknownName, match=r"unknown relation 'MR9.9'; did you mean 'MR7.2'. known are: .*MR5.1"):
        get_relation("sentiment", "MR9.9")


def test_a_relation_of_another_task_is_told():
    with pytest.raises(UnknownName, match=r"known are: .*; 'negated-hypothesis' belongs to inference$"):
        get_relation("sentiment", "negated-hypothesis")
    with pytest.raises(UnknownName) as problem:
        get_relation("sentiment", "typos | negation-added")
    assert str(problem.value).endswith("'negation-added' belongs to classification")


def test_many_unknown_names_are_shortened_to_those_of_the_language_the_suggestion_first():
    with pytest.raises(UnknownName, match=r"'typo'; did you mean 'typos'\? known are: .* and \d+ more$") as english:
        relations_named("sentiment", ["typo"], ["en"])
    with pytest.raises(UnknownName) as chinese:
        relations_named("sentiment", ["family:none"], ["zh"])
    assert "homophones" not in str(english.value)
    assert str(english.value).count(",") == 11
    assert "noise in characters" in str(chinese.value)
    assert "noise in letters" not in str(chinese.value)


def test_no_family_has_a_comma():
    assert not [relation.name for relation in all_relations() if "," in relation.family]
    with pytest.raises(AuditError, match="cannot be of the family 'a, b': commas stand between names"):
        register(replace(get_relation("sentiment", "MR1.1"), name="MR0", family="a, b"))


def test_a_name_can_be_taken_once():
    with pytest.raises(AuditError, match="registered twice"):
        register(get_relation("sentiment", "MR1.1"))


def test_numbers_are_read_as_numbers():
    assert sorted(["MR10.1", "MR2.10", "MR2.9"], key=name_order) == ["MR2.9", "MR2.10", "MR10.1"]


def test_a_parameter_changes_the_follow_ups_and_is_kept():
    five = configured(get_relation("sentiment", "MR6.2"), {"sentences": 5})
    assert len(five.perturb(Analysis("It is long."), random.Random(0))) == 5
    assert five.params == {"sentences": 5}
    assert get_relation("sentiment", "MR6.2").params == {"sentences": 3}


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("MR6.1", {"sentenzes": 5}, "has no parameter 'sentenzes'; it has sentences"),
        ("MR6.1", {"sentences": "5"}, "it must be of type int"),
        ("MR6.1", {"sentences": True}, "it must be of type int"),
        ("MR3.1", {"sentences": 5}, "it has none"),
    ],
)
def test_bad_parameters_are_refused(name, changes, message):
    with pytest.raises(AuditError, match=message):
        configured(get_relation("sentiment", name), changes)


def test_the_version_of_a_tagger_is_a_part_of_its_relations_version(monkeypatch):
    assert get_relation("sentiment", "MR3.1").full_version == get_relation("sentiment", "MR3.1").version
    english = get_relation("sentiment", "MR1.1")
    assert english.full_version == f"{english.version}; {parser.version()}"
    monkeypatch.setattr(parser, "model_name", lambda: None)
    assert english.full_version == f"{english.version}; textblob {version('textblob')}"
    tagging = get_relation("similarity", "MR1.1")
    assert tagging.full_version == f"{tagging.version}; {version_of('jieba')}"
    monkeypatch.setattr(base, "version_of", lambda tagger: f"another {tagger}")
    assert tagging.full_version == f"{tagging.version}; another jieba"
