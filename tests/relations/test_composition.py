"""Compositions: the groups they make, what follows from their parts, and what is refused."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.errors import AuditError
from audit.relations import Outcome, Plain, Source, compose, find_relation, get_relation
from audit.relations.base import unchanged
from audit.relations.composition import spread
from audit.relations.expect import (
    Labelled,
    Mapped,
    SimilarText,
    different,
    equivalent,
    opinionated,
    plain_words,
    stronger,
)
from audit.relations.registry import configured
from audit.tasks import Input, Output
from audit.text import Analysis

LABELS = ("positive", "neutral", "negative")


def add(word):
    return lambda text, choices: f"{text.text} {word}"


def part(name, check=equivalent, perturb=None, *, task="sentiment", carry=unchanged, **more):
    return Plain(
        task=task, name=name, family=f"f-{name}", summary=f"{name} changes; {name} matters.", unit="any",
        perturb=perturb or add(name), check=check, carry=carry, **more,
    )  # fmt: skip


def source(*texts, seed="s"):
    item = Input.of(*texts)
    return Source(item, Analysis(item.text, "en"), seed)


def texts(relation, *of, seed="s"):
    return [item.texts for item in relation.follow_ups(source(*of, seed=seed))]


@pytest.mark.parametrize(
    ("name", "text", "made"),
    [
        ("upper-case | lower-case", "it is good.", []),  # comes back
        ("lower-case | upper-case", "It is good.", []),
        ("upper-case | final-mark", "it is good.", ["IT IS GOOD"]),
        ("upper-case | final-mark", "IT IS GOOD.", []),  # the first does not apply
    ],
)
def test_every_part_must_leave_its_mark(name, text, made):
    relation = get_relation("classification/a,b", name)
    assert [follow_up for (follow_up,) in texts(relation, text)] == made


DENIED = Mapped(
    (("entailment", ("contradiction",)), ("neutral", ("neutral",)), ("contradiction", ("entailment", "neutral")))
)
SAME_STAYS = Mapped((("contradiction", ("contradiction",)),))


@pytest.mark.parametrize(
    ("task", "first", "second", "expected"),
    [
        ("sentiment", equivalent, equivalent, equivalent),
        ("sentiment", stronger, stronger, stronger),
        ("sentiment", stronger, equivalent, equivalent),  # the second may lower what the first raised
        ("sentiment", opinionated(stronger), opinionated(stronger), opinionated(stronger)),
        ("sentiment", equivalent, opinionated(stronger), opinionated(equivalent)),
        ("sentiment", equivalent, opinionated(different), opinionated(different)),
        ("inference", equivalent, DENIED, DENIED),
        ("inference", DENIED, Labelled("entailment"), Labelled("entailment")),
        ("summarization", SimilarText(1.0, plain_words), SimilarText(0.7, plain_words), SimilarText(0.7, plain_words)),
    ],
)  # fmt: skip
def test_what_is_expected_follows_from_the_parts(task, first, second, expected):
    assert compose(part("a", first, task=task), part("b", second, task=task)).check == expected


def own_check(outputs):
    return equivalent(outputs)


@pytest.mark.parametrize(
    ("task", "first", "second"),
    [
        ("inference", DENIED, SAME_STAYS),
        ("sentiment", different, opinionated(stronger)),  # the second applies to some labels alone
        ("sentiment", own_check, own_check),
        ("inference", Labelled("entailment"), SAME_STAYS),
        ("summarization", SimilarText(0.5, plain_words), SimilarText(0.5, plain_words)),
    ],
)
def test_expectations_of_which_nothing_follows_are_refused(task, first, second):
    with pytest.raises(AuditError, match="could be checked: a expects: a matters; b expects: b matters; leave one"):
        compose(part("a", first, task=task), part("b", second, task=task))


checks = st.one_of(
    st.sampled_from([equivalent, different, stronger, opinionated(equivalent), opinionated(stronger)]),
    st.sampled_from(LABELS).map(Labelled),
    st.dictionaries(st.sampled_from(LABELS), st.sets(st.sampled_from(LABELS), min_size=1).map(tuple), min_size=1).map(
        lambda labels: Mapped(tuple(sorted(labels.items())))
    ),
)
outputs = st.builds(Output, st.sampled_from(LABELS), st.floats(0, 1))


@settings(max_examples=40)
@given(checks, checks, outputs, outputs, outputs)
def test_where_both_parts_are_satisfied_the_composition_is(first, second, before, between, after):
    try:
        relation = compose(part("a", first), part("b", second))
    except AuditError:
        return
    if first([before, between]).outcome == second([between, after]).outcome == Outcome.SATISFIED:
        assert relation.verdict([before, after], ()).outcome != Outcome.VIOLATED


words = st.lists(st.sampled_from("abcd"), min_size=1, max_size=8).map(" ".join)


@settings(max_examples=40)
@given(words, words, words, st.sampled_from([0.7, 0.8, 0.9]), st.sampled_from([0.6, 0.75, 1.0]))
def test_thresholds_of_similar_texts_add_up_to_one_that_holds(first, second, third, one, other):
    checks = [SimilarText(one, plain_words), SimilarText(other, plain_words)]
    try:
        both = compose(*(part(name, check, task="summarization") for name, check in zip("ab", checks, strict=True)))
    except AuditError:
        return
    a, b, c = (Output(text=text) for text in (first, second, third))
    if checks[0]([a, b]).outcome == checks[1]([b, c]).outcome == Outcome.SATISFIED:
        assert both.verdict([a, c], ()).outcome == Outcome.SATISFIED


def test_a_parameter_is_set_in_every_part_that_has_it_or_in_one():
    both = get_relation("question-answering", "typos|swapped-letters")
    assert both.params == {
        f"{name}.{key}": value
        for name in ("typos", "swapped-letters")
        for key, value in get_relation("question-answering", name).params.items()
    }
    assert configured(both, {"threshold": 0.9}).params["swapped-letters.threshold"] == 0.9
    one = configured(both, {"threshold": 0.9, "typos.threshold": 1.0})
    assert (one.params["typos.threshold"], one.check.threshold) == (1.0, 0.9)
    with pytest.raises(
        AuditError, match=r"typos \| swapped-letters' has no parameter 'more'; its parts have .*typos.share"
    ):
        configured(both, {"more": 1})


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("MR1.1 | MR9.9", "unknown relation 'MR9.9'"),
        ("MR5.1 | MR5.2", "'MR5.2' makes depends on what a system says"),
        ("MR1.1 | MR5.1", r"different units \(MR1.1: sentence, MR5.1: document\)"),
        ("MR6.1 | MR6.2", "part 'MR6.1' makes several follow-ups"),
    ],
)
def test_names_that_mean_no_composition_are_told(name, said):
    with pytest.raises(AuditError, match=said):
        get_relation("sentiment", name)
    assert find_relation("sentiment", name) is None


def test_parts_on_sentences_are_spread_over_documents():
    on_sentences = replace(part("a"), unit="sentence")
    both = spread(on_sentences | part("b"), 1.0)
    assert (both.unit, both.params["a.on"]) == ("document", "documents")
    assert texts(both, "It rains. It snows.") == [("It rains. a It snows. a b",)]
    assert spread(get_relation("sentiment", "MR5.2"), 1.0) is None
