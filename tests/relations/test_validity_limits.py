"""Measures of follow-ups, and limits on them."""

import math
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plugged import registries_kept

from audit.errors import AuditError
from audit.relations import get_relation
from audit.relations.registry import configured
from audit.relations.validity import Limit, broken, fitted_for, learns, limit_of, limited, measure, measure_named
from audit.tasks import Input

QUICK = ("edit-distance", "replaced", "bleu", "perplexity-ratio")
WORDS = st.lists(st.sampled_from(["the", "cat", "Sat", ".", "a"]), max_size=5).map(" ".join)
TEXTS = st.one_of(WORDS, st.text(max_size=8))
CORPUS = [Input((text,), (language,)) for text in ("the cat sat.", "a cat", "dogs", "猫") for language in ("en", "zh")]


def english(*texts: str) -> Input:
    return Input(texts, ("en",) * len(texts))


@settings(max_examples=40, deadline=None)
@given(TEXTS, TEXTS, st.sampled_from(["en", "zh"]))
def test_measures_stay_in_their_range_and_are_best_for_the_same_text(one, other, language):
    fitted = fitted_for(QUICK, lambda: CORPUS)
    a, b = Input((one,), (language,)), Input((other,), (language,))
    for name in QUICK:
        of = measure_named(name)
        value = of.of(a, b, fitted.get(name))
        assert of.least <= value <= of.most
        same = of.of(a, a, fitted.get(name))
        if name == "perplexity-ratio":
            assert same == 1
            assert of.of(b, a, fitted[name]) > 0
        else:
            assert same == (of.least if of.better == "low" else of.most)
        if name in ("edit-distance", "replaced"):
            assert value == of.of(b, a)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("replaced", "a limit is MEASURE<=NUMBER"),
        ("replaced<=much", "the limit must be a number from 0 to 1, which replaced can be"),
        ("replaced<=40", "from 0 to 1, which replaced can be"),
        (
            "replacd<=0.4",
            "did you mean 'replaced'? known are: bleu, edit-distance, embedding, perplexity-ratio, replaced",
        ),
    ],
)
def test_what_is_no_limit_is_refused_with_what_is_allowed(text, said):
    with pytest.raises(AuditError, match=r".") as problem:
        limit_of(text)
    assert said in str(problem.value)
    assert problem.value.parameters == ("valid",)


def test_limits_are_parameters_and_the_last_one_on_a_measure_holds():
    relation = get_relation("sentiment", "MR3.1")
    assert limited(relation, []) is relation
    strict = limited(relation, [Limit("replaced", "<=", 0.4), Limit("edit-distance", ">", 0)])
    assert strict.params == {"valid": ["edit-distance>0", "replaced<=0.4"]}
    other = limited(strict, [Limit("replaced", "<", 0.5)])
    assert other.params["valid"] == ["edit-distance>0", "replaced<0.5"]
    assert pickle.loads(pickle.dumps(other)).limits == other.limits  # noqa: S301
    with pytest.raises(AuditError, match="no parameter 'valid'"):
        configured(strict, {"valid": []})


def test_a_measure_of_somebodys_own():
    with registries_kept():

        @measure("longer", better="low", most=math.inf, version="7")
        def longer(source, follow_up):
            """How many times as long the follow-up is."""
            return len(follow_up.text) / len(source.text)

        limit = Limit("longer", "<=", 2)
        assert (longer.summary, learns(limit)) == ("How many times as long the follow-up is.", False)
        assert broken([limit], english("no"), [english("yes"), english("never")]) == (2.5, "longer 2.5, at most 2")
        assert limited(get_relation("sentiment", "MR3.1"), [limit]).full_version.endswith("; longer 7")
