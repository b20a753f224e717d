"""Plain questions about groups: one for every relation, in both languages, without words of metamorphic testing."""

import re

import pytest

from audit.relations import all_relations
from audit.relations.asking import group_question
from audit.relations.base import Plain, nothing
from audit.relations.expect import LabelsAlone, different, equivalent, goes_up, opinionated
from audit.relations.registry import RELATIONS, register
from audit.tasks import OwnWords, Wording
from audit.tasks.words import ANY

FOREIGN = re.compile(
    r"relation|\bhold|follow-?up|\bsource|metamorphic|verdict|\blink\b|member|蜕变|成立|衍生|原始输入|中间输入|关系|[{}]",
    re.IGNORECASE,
)
"""Words that nobody needs who judges texts."""
CHINESE = re.compile("[一-鿿]")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_relation_has_a_plain_question(language):
    relations = all_relations()
    assert len(relations) > 200
    for relation in relations:
        for follow_ups in (1, 3):
            question = group_question(relation.task, relation.name, follow_ups, language)
            where = (relation.task, relation.name, question)
            assert question.endswith("?" if language == "en" else "？"), where
            assert not FOREIGN.search(question), where
            assert bool(CHINESE.search(question)) == (language == "zh"), where
            assert relation.summary not in question, where
            assert len(question) < 260, where


def test_what_is_asked_follows_from_the_check():
    with RELATIONS.restored():
        for name, check in {"same": equivalent, "other": opinionated(different), "up": LabelsAlone(goes_up)}.items():
            register(Plain(task="sentiment", name=name, family="own", summary="What it does.", unit="any",
                           perturb=str, check=check, carry=nothing))  # fmt: skip
        assert group_question("sentiment", "same", 2).startswith("Is the opinion the same in texts A, B and C")
        assert group_question("sentiment", "other") == "Is the opinion in text B another one than in text A?"
        assert group_question("sentiment", "up") == "Does text B sound at least as positive as text A?"
        assert group_question("sentiment", "up", language="zh") == "文本 B 读起来，是否至少和文本 A 一样正面？"


def test_a_question_of_the_database_is_the_one_that_is_compared():
    words = OwnWords({ANY: Wording(question="Is it praise?", labels={"entailment": "Must be so"})}, 1)
    assert (
        group_question("sentiment", "MR1.1", own=words) == "“Is it praise?” Is the right answer the same for A and B?"
    )
    assert "“Must be so”" in group_question("inference", "hypothesis-from-premise", own=words)
    # What is right of an output says nothing about another input.
    assert group_question("summarization", "typos", own=words) == group_question("summarization", "typos")
