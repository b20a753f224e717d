"""MR5.1 to MR7.2, and sentence relations on documents."""

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from audit.errors import AuditError
from audit.relations import Outcome, Source, Verdict, get_relation
from audit.relations.base import NO_SCORE
from audit.relations.expect import on_documents, rearrange
from audit.relations.registry import configured, with_lines
from audit.tasks import Input, Output
from audit.text import Analysis

DOCUMENT = "Good start. Bad middle.\n\nGreat end. Poor sound."
SCORES = {"Great": ("positive", 0.9), "Good": ("positive", 0.7), "Poor": ("negative", 0.8), "Bad": ("negative", 0.6)}
"""What a system says of a text, by its first word."""


def source(text, seed="test"):
    return Source(Input.of(text), Analysis(text), seed)


def walked(name, document, **params):
    """Roles of each round, the follow-ups, and the verdict of one relation on one source."""
    steps, rounds, made = configured(get_relation("sentiment", name), params).steps(document), [], []
    try:
        members = next(steps)
        while True:
            rounds.append([member.role for member in members])
            made += [member.input.text for member in members if member.role == "follow_up"]
            firsts = (re.findall(r"\w+", member.input.text)[0] for member in members)
            members = steps.send([Output(*SCORES.get(first, ("neutral", 1.0))) for first in firsts])
    except StopIteration as end:
        return rounds, made, end.value


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("MR5.2", "Good start. Great end.\n\nBad middle. Poor sound."),
        ("MR7.1", "Bad middle. Poor sound."),
        ("MR7.2", "Good start.\n\nGreat end."),
    ],
)
def test_sentences_are_grouped_and_removed_by_what_the_system_says_of_them(name, expected):
    rounds, made, verdict = walked(name, source(DOCUMENT))
    assert [role for members in rounds for role in members] == ["source", *["probe"] * 4, "follow_up"]
    assert (made, verdict.outcome) == ([expected], Outcome.SATISFIED)
    assert get_relation("sentiment", name).carry({"positive"}) == ({"positive"} if name == "MR5.2" else None)


def test_groups_ordered_by_score():
    assert {walked("MR5.3", source(DOCUMENT, str(seed)))[1][0] for seed in range(40)} == {
        f"{praise}\n\n{blame}"
        for praise in ("Good start. Great end.", "Great end. Good start.")
        for blame in ("Bad middle. Poor sound.", "Poor sound. Bad middle.")
    }


@pytest.mark.parametrize("name", ["MR1.4", "MR2.1", "MR3.2", "MR6.1", "MR6.2"])
def test_checks_that_compare_scores_do_not_apply_without(name):
    for label in ("positive", "neutral", "negative"):  # other labels alone must not violate, nor satisfy
        verdict = get_relation("sentiment", name).check([Output("positive"), Output(label)])
        assert verdict == Verdict(Outcome.INAPPLICABLE, reason=NO_SCORE)


@given(
    some.lists(some.sampled_from(["It is good", "Is it?", "No!", "The end."]), min_size=2, max_size=6), some.randoms()
)
@settings(max_examples=60, deadline=None)
def test_rearranging_loses_no_word(parts: list[str], choices: random.Random) -> None:
    text = Analysis("\n\n".join(parts))
    order = list(range(len(text.spans)))
    choices.shuffle(order)
    assert sorted(re.findall(r"\w+", rearrange(text, order))) == sorted(re.findall(r"\w+", text.text))
    assert rearrange(text, sorted(order)).replace(".", "") == text.text.replace(".", "")


def test_our_sentences_are_added_to_what_may_be_a_review():
    relation = get_relation("sentiment", "MR6.1")
    assert len(relation.follow_ups(source("It is a dull film."))) == 3
    assert relation.follow_ups(source("The licensee shall pay the fee.")) == []


@pytest.mark.parametrize(
    ("sentences", "reason"),
    [
        (["It broke."], "has 1 different text; at least 2 are needed"),
        (["It broke.", " "], "has something that is no text"),
        (True, "must be of type int or list"),
    ],
)
def test_wrong_sentences_are_refused(sentences, reason):
    with pytest.raises(AuditError, match=reason):
        configured(get_relation("sentiment", "MR6.1"), {"sentences": sentences})


def test_files_of_sentences_are_read_for_who_may_read_files(tmp_path):
    file = tmp_path / "good.txt"
    file.write_text("It works.\n\n  It is quick.\n", encoding="utf-8")
    params = {"MR6.1": {"sentences": str(file)}, "MR6.2": {"sentences": 5}}
    read = {"MR6.1": {"sentences": ["It works.", "It is quick."]}, "MR6.2": {"sentences": 5}}
    assert with_lines("sentiment", params) == read
    with pytest.raises(AuditError, match="there is no such file"):
        with_lines("sentiment", {"MR6.1": {"sentences": "absent.txt"}})


def test_sentence_relations_on_documents():
    relation = get_relation("sentiment", "MR4.2")
    text = "It is dull and silly. It is long.\n\nThe songs are loud and ugly. It is sad and slow."
    every, half = on_documents(relation), on_documents(relation, 0.5)
    assert (every.unit, every.name, every.carry, every.check) == ("document", "MR4.2", relation.carry, relation.check)
    assert every.params == {"on": "documents", "share": 1.0}
    assert [follow_up.text for follow_up in every.follow_ups(source(text))] == [
        "It is silly and dull. It is long.\n\nThe songs are ugly and loud. It is slow and sad."
    ]
    (follow_up,) = half.follow_ups(source(text))
    both = zip(Analysis(text).sentences, Analysis(follow_up.text).sentences, strict=True)
    changed = [old.text != new.text for old, new in both]
    assert (sum(changed), changed[1]) == (2, False)
    assert every.follow_ups(source("It is long. It is dull.")) == []
