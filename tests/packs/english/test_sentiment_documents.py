"""MR5.1 to MR7.2, and sentence relations on documents."""

import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from audit.errors import AuditError
from audit.relations import Member, Outcome, Plain, Source, Verdict, get_relation
from audit.relations.base import NO_SCORE
from audit.relations.expect import on_documents, rearrange
from audit.relations.registry import configured, with_lines
from audit.tasks import Input, Output
from audit.text import Analysis

DOCUMENT = "Good start. Bad middle.\n\nGreat end. Poor sound."


def source(text: str) -> Source:
    return Source(Input.of(text), Analysis(text), "test")


def by_words(text: str) -> Output:
    """A system that counts: Great 0.9, Good 0.7, Poor 0.8, Bad 0.6; the document is what its first words say."""
    scores = {
        "Great": ("positive", 0.9),
        "Good": ("positive", 0.7),
        "Poor": ("negative", 0.8),
        "Bad": ("negative", 0.6),
    }
    first = re.findall(r"\w+", text)[0]
    return Output(*scores.get(first, ("neutral", 1.0)))


def walked(
    name: str, document: Source, system: Callable[[str], Output] = by_words, **params: object
) -> tuple[list[list[Member]], Verdict | None]:
    """Rounds of members and the verdict of one relation with these parameters on one source."""
    steps = configured(get_relation("sentiment", name), params).steps(document)
    rounds: list[list[Member]] = []
    try:
        members = next(steps)
        while True:
            rounds.append(members)
            members = steps.send([system(member.input.text) for member in members])
    except StopIteration as end:
        return rounds, end.value


def follow_ups(rounds: list[list[Member]]) -> list[str]:
    return [member.input.text for members in rounds for member in members if member.role == "follow_up"]


def test_grouping_by_label() -> None:
    rounds, verdict = walked("MR5.2", source(DOCUMENT))
    assert [member.role for member in rounds[0]] == ["source"] + ["probe"] * 4
    assert follow_ups(rounds) == ["Good start. Great end.\n\nBad middle. Poor sound."]
    assert verdict is not None
    assert verdict.outcome is Outcome.SATISFIED


def test_groups_ordered_by_score() -> None:
    orders = {
        follow_ups(walked("MR5.3", Source(Input.of(DOCUMENT), Analysis(DOCUMENT), str(seed)))[0])[0]
        for seed in range(40)
    }
    assert orders == {
        "Good start. Great end.\n\nBad middle. Poor sound.",
        "Great end. Good start.\n\nBad middle. Poor sound.",
        "Good start. Great end.\n\nPoor sound. Bad middle.",
        "Great end. Good start.\n\nPoor sound. Bad middle.",
    }


@pytest.mark.parametrize("name", ["MR1.4", "MR2.1", "MR3.2", "MR6.1", "MR6.2"])
def test_checks_that_compare_scores_do_not_apply_without(name: str) -> None:
    relation = get_relation("sentiment", name)
    assert isinstance(relation, Plain)
    for label in ("positive", "neutral", "negative"):  # other labels alone must not violate, nor satisfy
        verdict = relation.check([Output("positive"), Output(label)])
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


@pytest.mark.parametrize(
    ("name", "expected", "outcome"),
    [
        ("MR7.1", "Bad middle. Poor sound.", Outcome.SATISFIED),
        ("MR7.2", "Good start.\n\nGreat end.", Outcome.SATISFIED),
    ],
)
def test_removing(name: str, expected: str, outcome: Outcome) -> None:
    rounds, verdict = walked(name, source(DOCUMENT))
    assert [[member.role for member in members] for members in rounds] == [["source"], ["probe"] * 4, ["follow_up"]]
    assert follow_ups(rounds) == [expected]
    assert verdict is not None
    assert verdict.outcome is outcome
    assert get_relation("sentiment", name).carry({"positive"}) is None


def test_our_sentences_are_added_to_what_may_be_a_review() -> None:
    relation = get_relation("sentiment", "MR6.1")
    assert isinstance(relation, Plain)
    assert len(relation.follow_ups(source("It is a dull film."))) == 3
    assert relation.follow_ups(source("The licensee shall pay the fee.")) == []


@pytest.mark.parametrize(
    ("sentences", "reason"),
    [
        (["It broke."], "has 1 different text; at least 2 are needed"),
        (["It broke.", " "], "has something that is no text"),
        (["It broke.", 3], "has something that is no text"),
        ("good.txt", "must be of type int or list"),
        (True, "must be of type int or list"),
    ],
)
def test_wrong_sentences_are_refused(sentences: object, reason: str) -> None:
    with pytest.raises(AuditError, match=reason):
        configured(get_relation("sentiment", "MR6.1"), {"sentences": sentences})


def test_files_of_sentences_are_read_for_who_may_read_files(tmp_path: Path) -> None:
    file = tmp_path / "good.txt"
    file.write_text("It works.\n\n  It is quick.\n", encoding="utf-8")
    params = {"MR6.1": {"sentences": str(file)}, "MR6.2": {"sentences": 5}}
    assert with_lines("sentiment", params) == {
        "MR6.1": {"sentences": ["It works.", "It is quick."]},
        "MR6.2": {"sentences": 5},
    }
    with pytest.raises(AuditError, match="there is no such file"):
        with_lines("sentiment", {"MR6.1": {"sentences": "absent.txt"}})


def test_sentence_relations_on_documents() -> None:
    relation = get_relation("sentiment", "MR4.2")
    if not isinstance(relation, Plain):
        raise TypeError
    text = "It is dull and silly. It is long.\n\nThe songs are loud and ugly. It is sad and slow."
    every, half = on_documents(relation), on_documents(relation, 0.5)
    assert (every.unit, every.name, every.carry, every.check) == ("document", "MR4.2", relation.carry, relation.check)
    assert every.params == {"on": "documents", "share": 1.0}
    assert [follow_up.text for follow_up in every.follow_ups(source(text))] == [
        "It is silly and dull. It is long.\n\nThe songs are ugly and loud. It is slow and sad."
    ]
    (follow_up,) = half.follow_ups(source(text))
    changed = [
        sentence.text != new_sentence.text
        for sentence, new_sentence in zip(Analysis(text).sentences, Analysis(follow_up.text).sentences, strict=True)
    ]
    assert sum(changed) == 2
    assert not changed[1]
    assert every.follow_ups(source("It is long. It is dull.")) == []
